"""Real captures of planted programs: what an independent reference makes of them, and what their own clocks said."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sampled import every, opened
from shared_traces import SAMPLED, TRACES, needs_shared_traces
from wallsplit.accounts import GPU_ACCOUNTS
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.windows import default_window, windows
from wallsplit.model import Model
from wallsplit.why.samples.sampling import Sampling
from wallsplit.why.samples.shares import wilson
from wallsplit.why.samples.values import HostSamples, to_value

pytestmark = needs_shared_traces

FOLDER = SAMPLED or Path()
EPOCHS = "keras2048"
"""Its reference covers the ranges `epoch` together; here each has a ledger."""
CAPTURES = ("alias", "half1", "loader", "mix", "twothreads", "torch_rtx3070ti_train")
PLANTED = ("alias", "half1", "loader", "mix")
UNSAMPLED = "kernel"
"""A planted kind of work that happens in the kernel, which was not sampled."""


@cache
def capture(name: str) -> tuple[Model, Sampling]:
    return opened(TRACES.get(name, FOLDER / f"{name}.sqlite"))


def said(name: str, window: Window | None = None) -> HostSamples:
    (found,) = every(*capture(name), window)
    assert found is not None
    return found


def reference(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "oracle" / f"{name}.json").read_text())
    return found


def truth(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.truth.json").read_text())
    return found


def differences(expected: object, found: object, at: str = "") -> Iterator[str]:
    """Yield where a value differs from what is expected; what only it has is no difference."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from differences(value, found.get(key, "missing"), f"{at}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{at}/{place}")
    elif isinstance(expected, float) and isinstance(found, int | float):
        if not math.isclose(expected, found, rel_tol=1e-6, abs_tol=1e-12):
            yield f"{at}: {expected}, not {found}"
    elif expected != found:
        yield f"{at}: {expected}, not {found}"


@pytest.mark.parametrize("name", CAPTURES)
def test_counts_shares_and_times_are_those_of_the_reference(name: str) -> None:
    expected = reference(name)
    (ledger,) = expected.pop("ledgers")
    host = ledger["host_samples"]
    del host["warnings"]  # in the reference's own words
    accounts = host.pop("accounts")
    found = said(name)
    assert list(differences(host, json.loads(json.dumps(to_value(found))))) == []
    facts = {key: value for key, value in expected.items() if key not in ("path", "window")}
    assert list(differences(facts, asdict(capture(name)[1].facts))) == []
    # The reference knows the GPU as a whole, and CUDA calls by the class of their names alone.
    on_gpu = sum((Counter(found.accounts.get(account, {})) for account in GPU_ACCOUNTS), Counter())
    assert on_gpu == Counter(accounts.get("gpu", {}))
    assert found.accounts["host"] == accounts["host"]
    assert sum(sum(of.values()) for of in found.accounts.values()) == sum(sum(of.values()) for of in accounts.values())


def test_the_ledgers_of_the_epochs_add_up_to_the_reference_of_all_of_them() -> None:
    (ledger,) = reference(EPOCHS)["ledgers"]
    expected = ledger["host_samples"]
    found = [said(EPOCHS, window) for window in windows(capture(EPOCHS)[0], "nvtx:epoch")]
    assert len(found) == 3
    assert sum(each.host_ns for each in found) == expected["host_ns"]
    assert classes(*found) == {each["class"]: each["count"] for each in expected["main"]["classes"]}
    for key in ("on_cpu_ns", "off_cpu_ns", "off_cpu_in_os_call_ns", "unsampled_ns", "unknown_ns"):
        assert sum(getattr(each.main.scheduling, key) for each in found) == expected["main"]["scheduling"][key]
    for key in ("others_on_cpu_ns", "nobody_on_cpu_ns", "sample_count"):
        assert sum(getattr(each.main.meanwhile, key) for each in found) == expected["main"]["meanwhile"][key]


def classes(*samples: HostSamples) -> Counter[str]:
    return sum((Counter({each.sample_class: each.count for each in s.main.classes}) for s in samples), Counter())


@pytest.mark.parametrize("name", CAPTURES)
def test_the_document_has_the_form_that_was_agreed(name: str) -> None:
    schema = json.loads((FOLDER / "host_samples.schema.json").read_text())
    Draft202012Validator(schema).validate(json.loads(json.dumps(to_value(said(name)), allow_nan=False)))


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_share_of_each_kind_of_work_lies_in_the_interval_of_its_samples(name: str) -> None:
    """The program's clock is the CPU time of the thread, kind by kind; each kind has a range of its own."""
    kinds = {kind: told["thread_cpu_ns"] for kind, told in truth(name)["kinds"].items() if kind != UNSAMPLED}
    seen = {phase.range: phase.main.sample_count for phase in said(name).phases if phase.range in kinds}
    for kind, cpu_ns in kinds.items():
        low, high = wilson(seen[kind] / sum(seen.values()), sum(seen.values()))
        assert low <= cpu_ns / sum(kinds.values()) <= high, kind


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("half1", "matmul", "arithmetic"),
        ("half1", "python", "python"),
        ("alias", "matmul", "arithmetic"),
        ("mix", "ufunc", "arithmetic"),
        ("mix", "memcpy", "libc"),
        ("mix", "decode", "data"),
        ("loader", "jpeg", "data"),
        ("loader", "png", "data"),
        ("loader", "torchmm", "arithmetic"),
        ("loader", "torchsmall", "framework"),
        ("loader", "sort", "arithmetic"),
    ],
)
def test_most_of_a_planted_kind_of_work_is_of_the_class_it_was_planted_for(name: str, kind: str, expected: str) -> None:
    (phase,) = [phase for phase in said(name).phases if phase.range == kind]
    assert phase.main.classes[0].sample_class == expected


def test_time_in_a_kernel_that_was_not_sampled_is_on_a_cpu_and_in_no_sample() -> None:
    (phase,) = [phase for phase in said("mix").phases if phase.range == UNSAMPLED]
    cpu_ns = truth("mix")["kinds"][UNSAMPLED]["thread_cpu_ns"]
    assert phase.on_cpu_ns == pytest.approx(cpu_ns, rel=0.01)
    assert (phase.main.cpu_ns or 0) < 0.5 * cpu_ns


def test_what_workers_did_is_found_while_the_main_thread_was_off_the_cpu() -> None:
    clocks, found = truth("twothreads"), said("twothreads").main
    assert found.meanwhile is not None
    arithmetic, data = found.meanwhile.classes[:2]
    worker = clocks["worker_cpu_ns"]
    share = worker["product"] / (worker["product"] + worker["unzip"])
    assert (arithmetic.sample_class, data.sample_class) == ("arithmetic", "data")
    seen = arithmetic.count + data.count
    low, high = wilson(arithmetic.count / seen, seen)
    assert low <= share <= high
    assert found.cpu_ns == pytest.approx(clocks["main_python_cpu_ns"], rel=0.02)


@needs_shared_traces
@given(st.data())
def test_splitting_a_window_splits_times_and_counts_exactly(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(("mix", "twothreads", "torch_rtx3070ti_train")))
    whole = default_window(capture(name)[0])
    assert whole is not None
    cut = data.draw(st.integers(whole.start_ns + 1, whole.end_ns - 1))
    parts = [said(name, Window("part", a, b)) for a, b in ((whole.start_ns, cut), (cut, whole.end_ns))]
    expected = said(name, whole)
    assert sum(part.host_ns for part in parts) == expected.host_ns
    assert classes(*parts) == classes(expected)
    on_cpu_ns = [part.main.scheduling.on_cpu_ns for part in (*parts, expected) if part.main.scheduling]
    assert on_cpu_ns[0] + on_cpu_ns[1] == on_cpu_ns[2]


@pytest.mark.parametrize("name", (*CAPTURES, EPOCHS))
def test_the_wall_adds_up_to_the_host_instants_within_a_nanosecond_a_class(name: str) -> None:
    found = said(name)
    assert found.wall is not None
    wall = found.wall
    parts = (*wall.main.values(), wall.unsampled_ns, *wall.meanwhile.values(), wall.nobody_on_cpu_ns, wall.unknown_ns)
    assert sum(parts) == pytest.approx(found.host_ns, abs=len(parts))
