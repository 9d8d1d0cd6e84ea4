"""Pages that repeat the code agree with it, and links between pages lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "traces" / "README.md", ROOT / "reports" / "README.md"]
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def test_the_command_line_reference_is_what_help_prints() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_cli_reference.py"))
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == script["reference"](), "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []
