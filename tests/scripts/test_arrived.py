from pathlib import Path

import pytest

from fake_nsys import write_export
from wallsplit.errors import CaptureError
from wallsplit_scripts import arrived

RANGES = (("epoch", 100, 900), ("step", 110, 120), ("step", 130, 140), ("cublasSgemm", 111, 112), ("step", 150, None))


def test_finished_ranges_are_counted_by_name_or_all(tmp_path: Path) -> None:
    write_export(tmp_path / "x.sqlite", RANGES)
    assert arrived.nvtx_ranges(tmp_path / "x.sqlite", ("epoch", "step")) == 3
    assert arrived.nvtx_ranges(tmp_path / "x.sqlite") == 4


def test_an_export_without_the_table_holds_no_ranges(tmp_path: Path) -> None:
    write_export(tmp_path / "x.sqlite")
    assert arrived.nvtx_ranges(tmp_path / "x.sqlite", ("step",)) == 0


def test_epochs_are_placed_in_utc(tmp_path: Path) -> None:
    write_export(tmp_path / "x.sqlite", RANGES, utc_ns=10**18)
    assert arrived.epochs_utc(tmp_path / "x.sqlite") == [(10**18 + 100, 10**18 + 900)]


def test_a_path_with_signs_of_an_address_is_opened(tmp_path: Path) -> None:
    write_export(tmp_path / "50% #1?.sqlite", RANGES)
    assert arrived.capture_ns(tmp_path / "50% #1?.sqlite") == 5000


def test_a_damaged_export_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_bytes(b"SQLite format 3\0" + b"\1" * 100)
    with pytest.raises(CaptureError, match="cannot be read"):
        arrived.nvtx_ranges(tmp_path / "x.sqlite")


@pytest.mark.parametrize(
    ("nvtx", "nsys", "clash"),
    [
        ("0.2.10", (2023, 4, 4), False),
        ("0.2.11", (2023, 4, 4), False),
        ("0.2.12", (2023, 4, 4), True),
        ("0.2.17", (2023, 4, 4), True),
        ("0.2.17", (2025, 1, 3), False),
    ],
)
def test_which_nvtx_and_nsys_clash(nvtx: str, nsys: tuple[int, ...], clash: bool) -> None:
    said = arrived.why_no_ranges(nvtx, nsys)
    assert (said is not None) == clash
    assert not clash or f"nvtx {nvtx} and nsys 2023.4.4 clash" in str(said)


def test_without_nvtx_the_remedy_is_to_install_it() -> None:
    assert arrived.why_no_ranges(None, (2025, 1)) == "the Python package nvtx is missing: pip install 'nvtx<0.2.12'"
