from pathlib import Path

from wallsplit.run.nvml import COLUMNS
from wallsplit_scripts.recording import SUFFIXES

PAGE = (Path(__file__).parents[2] / "docs" / "capturing.md").read_text(encoding="utf-8")


def test_the_page_describes_every_file_a_capture_leaves() -> None:
    assert [f"| `NAME{suffix}` |" for suffix in SUFFIXES if f"| `NAME{suffix}` |" not in PAGE] == []


def test_the_page_describes_every_column_of_the_nvml_samples() -> None:
    assert [column for column in COLUMNS if f"| `{column}` |" not in PAGE] == []
