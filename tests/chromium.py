"""A headless Chromium for the browser tests, if this machine has one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

PLACES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser of WALLSPLIT_CHROMIUM or of the PATH; skip the test where there is none.

    With WALLSPLIT_REQUIRE_TOOLS=1 the test fails instead of being skipped.
    """
    path = os.environ.get("WALLSPLIT_CHROMIUM") or next(filter(None, map(shutil.which, PLACES)), None)
    if path is None:
        _missing("no Chromium on the PATH; WALLSPLIT_CHROMIUM names one")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        except Error as error:
            _missing(f"{path} does not start: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


def _missing(reason: str) -> NoReturn:
    if os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
