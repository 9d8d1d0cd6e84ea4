import itertools
import threading

from fake_nvml import FakeNvml, NVMLError
from processes import wait_until
from wallsplit.run.nvml import NvmlSample
from wallsplit_scripts import nvml
from wallsplit_scripts.nvml import Sampler


def test_a_reading_has_a_sample_per_gpu_with_null_for_what_it_does_not_tell() -> None:
    assert nvml.read(FakeNvml(), [0, 1], utc_ns=7) == [
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
