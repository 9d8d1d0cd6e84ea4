from typing import Literal

import pytest

from wallsplit.run.load import cores_had, in_words, shared_cores
from wallsplit.run.manifest import Generator, Load, RunManifest


def run(cpu_time_ns: int | None, wall_ns: int | None = 100, device: Literal["cpu", "gpu"] = "cpu") -> RunManifest:
    return RunManifest(Generator("w", "0"), device=device, wall_ns=wall_ns, load=Load(cpu_time_ns))


def test_a_run_that_computed_for_less_than_half_of_its_wall_shared_the_machine() -> None:
    assert [shared_cores(run(ns)) for ns in (28, 49, 50, 190)] == [0.28, 0.49, None, None]
    assert in_words(0.28) == "the machine was busy: this run had 28 % of a core, so its times say little"


@pytest.mark.parametrize("unknown", [run(None), run(28, None), RunManifest(Generator("w", "0"), device="cpu")])
def test_what_was_not_measured_is_no_accusation(unknown: RunManifest) -> None:
    assert cores_had(unknown) is None
    assert shared_cores(unknown) is None


def test_a_run_on_a_gpu_may_wait_for_it() -> None:
    assert shared_cores(run(1, device="gpu")) is None
    assert cores_had(run(1, device="gpu")) == 0.01
