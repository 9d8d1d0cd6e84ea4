"""What explains a ledger, out of the JSON document: the counterpart of `explanation_json.py`."""

from collections.abc import Mapping, Sequence
from typing import Any

from wallsplit import schema
from wallsplit.diagnosis.diagnosis import Diagnosis, FailedCall, Finding, PhaseOfRun
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.ledger.host_parts import HostMeasured
from wallsplit.ledger.ledger import Ledger
from wallsplit.model.device_clock import ClockAhead
from wallsplit.report.frames_from_json import frame
from wallsplit.run.decoding import decode, decode_record
from wallsplit.schema import IdleCauses, StepRows
from wallsplit.why.comm import Comm, RankSkew
from wallsplit.why.contention import Contention
from wallsplit.why.gaps import GapClass, IdleGap, IdleGaps
from wallsplit.why.gpu_metrics import GpuMetricMeans
from wallsplit.why.idle_time import IdleTime
from wallsplit.why.launch import Launch
from wallsplit.why.managed_memory import ManagedMemory
from wallsplit.why.memory import MemoryUse
from wallsplit.why.neighbours import Neighbours
from wallsplit.why.pageable import PageableCopies
from wallsplit.why.samples.values import CpuSampling, from_value
from wallsplit.why.sm import Sm
from wallsplit.why.steps import Steps
from wallsplit.why.sync import Sync

Value = dict[str, Any]


def explanation(value: Value, ledger: Ledger) -> Explanation:
    """Return what explains a ledger, from the fields of its value in the document.

    Raises:
        DecodeError, KeyError, PolarsError: a field is missing or of another type.
    """
    diagnosis = _diagnosis(value["diagnosis"], value["phases_of_run"])
    gaps, samples = value["idle_gaps"], value["host_samples"]
    return Explanation(
        idle=IdleTime(
            idle_ns=value["idle_ns"],
            host_parts=ledger.host_parts or {},
            host_measured=decode(HostMeasured, value["host_measured"], "host_measured"),
            idle_causes=IdleCauses(frame(value["idle_causes"], schema.IDLE_CAUSES)),
            gaps=None if gaps is None else _gaps(gaps),
            causes=diagnosis.causes,
        ),
        steps=_steps(value["steps"]),
        sm=decode(Sm | None, value["sm"], "sm"),
        launch=decode(Launch | None, value["launch"], "launch"),
        sync=decode(Sync | None, value["sync"], "sync"),
        comm=decode(Comm | None, value["comm"], "comm"),
        host_samples=None if samples is None else from_value(samples),
        diagnosis=diagnosis,
        contention=decode(Contention | None, value["launch_contention"], "launch_contention"),
        pageable_copies=decode(PageableCopies | None, value["pageable_copies"], "pageable_copies"),
        managed_memory=decode(ManagedMemory | None, value["managed_memory"], "managed_memory"),
        memory_use=decode(MemoryUse | None, value["memory_use"], "memory_use"),
        gpu_metrics=decode(GpuMetricMeans | None, value["gpu_metrics"], "gpu_metrics"),
    )


def explained(trace: Value, ledgers: Sequence[Ledger]) -> Explained | None:
    """Return what explains the ledgers of a trace, from its value in the document; None where the window names many.

    Raises:
        DecodeError, KeyError, PolarsError: a field is missing or of another type.
    """
    if not ledgers or trace["ledgers"][0]["diagnosis"] is None:
        return None
    return Explained(
        ledgers=tuple(explanation(value, ledger) for value, ledger in zip(trace["ledgers"], ledgers, strict=True)),
        rank_skew=decode(RankSkew | None, trace["rank_skew"], "rank_skew"),
        cpu_sampling=decode(CpuSampling | None, trace["cpu_sampling"], "cpu_sampling"),
        clocks_ahead=decode(tuple[ClockAhead, ...], trace["clocks_ahead"], "clocks_ahead"),
        range_threads=frame(trace["range_threads"], schema.RANGE_THREADS),
    )


def _gaps(value: Value) -> IdleGaps:
    histogram = tuple(
        decode(GapClass, {**lengths, "name": lengths["class"]}, "idle_gaps") for lengths in value["histogram"]
    )
    return IdleGaps(value["count"], value["total_ns"], histogram, tuple(_gap(gap) for gap in value["longest"]))


def _gap(value: Value) -> IdleGap:
    parts = [{**part, "position": value["position"]} for part in value["parts"]]
    return IdleGap(
        start_ns=value["start_ns"],
        end_ns=value["end_ns"],
        position=value["position"],
        cause=value["cause"],
        by_account=decode(Mapping[str, int], value["by_account"], "by_account"),
        parts=IdleCauses(frame(parts, schema.IDLE_CAUSES)),
        range=value["range"],
        neighbours=decode(Neighbours, value, "idle_gaps.longest"),
    )


def _steps(value: Value) -> Steps:
    rows = StepRows(frame(value["rows"], schema.STEP_ROWS))
    steps: Steps = decode_record(Steps, value, "steps", {"rows": rows})
    return steps


def _diagnosis(value: Value, phases: list[Value] | None) -> Diagnosis:
    known = {
        "findings": tuple(_finding(finding) for finding in value["findings"]),
        "phases_of_run": decode(tuple[PhaseOfRun, ...] | None, phases, "phases_of_run"),
    }
    diagnosis: Diagnosis = decode_record(Diagnosis, value, "diagnosis", known)
    return diagnosis


def _finding(value: Value) -> Finding:
    failed = decode(FailedCall, value, "findings") if "code" in value else None
    finding: Finding = decode_record(Finding, value, "findings", {"failed": failed})
    return finding
