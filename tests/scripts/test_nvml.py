import itertools
import threading

import pytest

from fake_nvml import FakeNvml, NVMLError
from processes import wait_until
from wallsplit.run.nvml import NvmlSample
from wallsplit_scripts import nvml
from wallsplit_scripts.nvml import Sampler
from wallsplit_workloads import devices


def test_a_reading_has_a_sample_per_gpu_with_null_for_what_it_does_not_tell() -> None:
    assert nvml.read(FakeNvml(), {0: 0, 1: 1}, utc_ns=7) == [
        NvmlSample(7, 0, 90, 10, 2**30, 100_000),
        NvmlSample(7, 1, 91, 10, 2**30, None),
    ]


def test_sampling_begins_with_the_block_and_ends_with_it() -> None:
    clock = itertools.count(0, 100)
    third = threading.Event()
    readings = itertools.count(1)

    def on_reading() -> None:
        if next(readings) == 3:
            third.set()

    library = FakeNvml(on_reading)
    with Sampler(library, period_s=0.001, clock=lambda: next(clock)) as sampler:
        wait_until(third.is_set)
    taken = len(sampler.samples)
    assert [sample.utc_ns for sample in sampler.samples[:6]] == [0, 0, 100, 100, 200, 200]
    assert taken % 2 == 0
    assert "nvml" not in {thread.name for thread in threading.enumerate()}


def test_however_short_the_block_two_readings_span_it() -> None:
    with Sampler(FakeNvml(), period_s=3600) as sampler:
        pass
    assert [sample.device for sample in sampler.samples] == [0, 1, 0, 1]


def test_without_nvml_there_are_no_samples() -> None:
    with Sampler(None) as sampler:
        pass
    assert sampler.samples == []


def test_a_gpu_that_is_lost_ends_the_sampling_and_nothing_else() -> None:
    class Lost(FakeNvml):
        def nvmlDeviceGetCount(self) -> int:
            raise NVMLError("GPU is lost")

    with Sampler(Lost()) as sampler:
        pass
    assert sampler.samples == []


@pytest.mark.parametrize(
    ("visible", "sampled"),
    [(None, [0, 1]), ("1", [1]), ("1,0", [1, 0]), ("GPU-1aaa", [1]), ("0,7,1", [0]), ("", []), ("MIG-x", [])],
)
def test_the_gpus_sampled_are_those_the_program_sees(visible: str | None, sampled: list[int]) -> None:
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    with Sampler(FakeNvml(), period_s=3600, environment=environment) as sampler:
        pass
    assert [sample.device for sample in sampler.samples] == 2 * sampled
    with Sampler(FakeNvml(), period_s=3600, environment=environment, first=True) as sampler:
        pass
    assert [sample.device for sample in sampler.samples] == 2 * sampled[:1]


def test_numbers_of_gpus_mean_the_same_to_cuda_as_to_nvml_unless_told_otherwise() -> None:
    assert devices.in_nvml_order({"A": "b"}) == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "A": "b"}
    assert devices.in_nvml_order({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}) == {"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}


def test_the_peak_of_memory_is_the_largest_sample() -> None:
    samples = [NvmlSample(t, 0, None, None, used, None) for t, used in enumerate((5, 9, None, 2))]
    assert nvml.peak_memory_bytes(samples) == {"nvml": 9}
    assert nvml.peak_memory_bytes([]) == {}
