import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.errors import ManifestError
from wallsplit.run.nvml import (
    COLUMNS,
    MOST,
    NvmlSample,
    energies_joules,
    energy_joules,
    from_csv,
    mean_gpu_ratio,
    summary,
    to_csv,
)

SECOND = 10**9


def power(utc_ns: int, milliwatts: int | None, device: int = 0) -> NvmlSample:
    return NvmlSample(utc_ns, device, None, None, None, milliwatts)


def test_samples_are_written_with_a_header_and_empty_cells_for_the_unknown() -> None:
    samples = (NvmlSample(5, 0, 90, 10, 2**30, 250_000), NvmlSample(6, 1, None, None, None, None))
    assert to_csv(samples) == f"{','.join(COLUMNS)}\n5,0,90,10,1073741824,250000\n6,1,,,,\n"


utc_ns, device, *measured = (st.integers(0, most) for most in MOST.values())
samples = st.builds(NvmlSample, utc_ns, device, *(st.none() | each for each in measured))


@given(st.lists(samples))
def test_samples_survive_writing_and_reading(written: list[NvmlSample]) -> None:
    assert from_csv(to_csv(written)) == tuple(written)


HEADER = ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", HEADER + "1,2\n", HEADER + "x,0,,,,\n", HEADER + "1" * 200_000])
def test_a_file_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(ManifestError, match="no NVML samples"):
        from_csv(text)


@pytest.mark.parametrize("cell", ["-1", "101", "1" + "0" * 4_000, "１２", " 7", "1_0", "1e1", "nan", "+5"])
def test_a_percentage_that_is_none_is_refused_in_one_short_line(cell: str) -> None:
    with pytest.raises(ManifestError, match=r"gpu_percent is '.*, not a whole number from 0 to 100\)") as error:
        from_csv(f"{HEADER}5,0,{cell},1,1,1\n")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "row", ["-5,0,,,,", "5,-1,,,,", "5,0,,-1,,", "5,0,,,-1,", "5,0,,,,-3", f"{2**63},0,,,,", "5,0,,,,1000000001"]
)
def test_values_that_no_gpu_tells_are_refused(row: str) -> None:
    with pytest.raises(ManifestError, match="not a whole number from 0 to"):
        from_csv(f"{HEADER}{row}\n")


def test_constant_power_over_ten_seconds_is_power_times_time() -> None:
    samples = [power(second * SECOND, 200_000) for second in range(11)]
    assert energy_joules(samples, 0, 10 * SECOND) == pytest.approx(2000)


def test_power_is_interpolated_at_the_ends_of_the_window() -> None:
    ramp = [power(0, 0), power(10 * SECOND, 100_000)]  # 10 W more every second
    assert energy_joules(ramp, 2 * SECOND, 4 * SECOND) == pytest.approx((20 + 40) / 2 * 2)


def test_the_energies_of_adjacent_windows_add_up() -> None:
    samples = [power(t * SECOND, p * 1000) for t, p in enumerate((100, 300, 50, 250, 250))]
    first, second = energy_joules(samples, 0, SECOND * 5 // 2), energy_joules(samples, SECOND * 5 // 2, 4 * SECOND)
    assert first is not None
    assert second is not None
    assert first + second == pytest.approx(energy_joules(samples, 0, 4 * SECOND))


def test_the_energies_of_two_gpus_add_up() -> None:
    samples = [power(t, 100_000, device) for t in (0, SECOND) for device in (0, 1)]
    assert energy_joules(samples, 0, SECOND) == pytest.approx(200)


@pytest.mark.parametrize(("start", "end"), [(-1, SECOND), (0, SECOND + 1), (5, 5)])
def test_a_window_the_samples_do_not_span_has_no_energy(start: int, end: int) -> None:
    assert energy_joules([power(0, 100_000), power(SECOND, 100_000)], start, end) is None


readings = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 900)), min_size=2, max_size=9, unique_by=lambda x: x[0]
)


@given(readings, st.integers(0, 20), st.integers(0, 20))
def test_energy_is_the_area_under_the_readings(points: list[tuple[int, int]], start: int, end: int) -> None:
    curve = sorted(points)
    found = energy_joules(
        [power(second * SECOND, watts * 1_000) for second, watts in curve], start * SECOND, end * SECOND
    )
    if not curve[0][0] <= start < end <= curve[-1][0]:
        assert found is None
        return
    times, watts = zip(*curve, strict=True)
    fine = np.arange(start, end + 0.25, 0.5)  # every reading is at a whole second: the rule is exact between them
    readings = np.interp(fine, times, watts)
    assert found == pytest.approx(float((readings[1:] + readings[:-1]) / 2 @ np.diff(fine)))


def test_many_windows_have_the_energies_that_each_has_alone() -> None:
    samples = [power(t * SECOND, (t * 7919) % 300_000) for t in range(50)]
    windows = [(t * SECOND + 3, (t + 5) * SECOND + 7) for t in range(-2, 50)]
    assert energies_joules(samples, windows) == [energy_joules(samples, *window) for window in windows]


def test_a_gpu_that_does_not_tell_its_power_has_no_energy() -> None:
    assert energy_joules([power(0, None), power(SECOND, None)], 0, SECOND) is None


def test_utilisation_is_the_mean_of_the_samples_in_the_window() -> None:
    samples = [NvmlSample(t, 0, percent, None, None, None) for t, percent in enumerate((0, 90, 100, None, 7))]
    assert mean_gpu_ratio(samples, 1, 4) == pytest.approx(0.95)
    assert mean_gpu_ratio(samples, 3, 4) is None


def test_a_summary_counts_the_samples_of_its_window_and_averages_over_epochs() -> None:
    samples = [NvmlSample(t * SECOND, 0, 10 * t, None, None, 100_000) for t in range(11)]
    found = summary(samples, (2 * SECOND, 6 * SECOND), [(0, 2 * SECOND), (2 * SECOND, 6 * SECOND)])
    assert (found.sample_count, found.device_count) == (4, 1)
    assert found.gpu_ratio == pytest.approx((20 + 30 + 40 + 50) / 4 / 100)
    assert found.energy_joules == pytest.approx(400)
    assert found.epoch_count == 2
    assert found.epoch_energy_joules == pytest.approx((200 + 400) / 2)


def test_a_summary_of_nothing_claims_nothing() -> None:
    found = summary([], (0, SECOND), [(0, SECOND)])
    assert (found.sample_count, found.gpu_ratio, found.energy_joules, found.epoch_energy_joules) == (
        0,
        None,
        None,
        None,
    )
