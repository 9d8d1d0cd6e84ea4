"""axe-core, which looks for what keeps people from reading a page, if this machine has it (npm install axe-core)."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Page) -> list[str]:
    """Return what axe-core finds wrong with a page: the rule, and the elements that break it.

    Skips the test where axe-core is missing; with WALLSPLIT_REQUIRE_TOOLS=1 it fails instead.
    """
    path = Path(os.environ.get("WALLSPLIT_AXE") or INSTALLED)
    if not path.is_file():
        reason = f"no axe-core at {path}; npm install axe-core, or WALLSPLIT_AXE names the file"
        if os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    page.evaluate(path.read_text(encoding="utf-8"))
    run = f"axe.run(document, {{ runOnly: {RULES!r} }})"
    found: dict[str, Any] = page.evaluate(run)
    return [
        f"{rule['id']}: {rule['help']}: {', '.join(node['html'][:160] for node in rule['nodes'][:3])}"
        for rule in found["violations"]
    ]
