"""What explains a ledger, as it stands in the JSON document (docs/report.schema.json)."""

from dataclasses import asdict
from typing import Any

from wallsplit.diagnosis.diagnosis import Diagnosis, Finding
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.why.gaps import IdleGap, IdleGaps
from wallsplit.why.samples.values import to_value
from wallsplit.why.steps import Steps

KEYS = (
    "idle_ns",
    "host_measured",
    "idle_causes",
    "idle_gaps",
    "steps",
    "phases_of_run",
    "sm",
    "launch",
    "sync",
    "comm",
    "host_samples",
    "diagnosis",
    "launch_contention",
    "pageable_copies",
    "managed_memory",
    "memory_use",
    "gpu_metrics",
)
"""What a ledger gains; each is null where a window names many ranges."""


def explanation(why: Explanation | None) -> dict[str, Any]:
    """Return the fields that explain a ledger, null each where nothing was explained."""
    if why is None:
        return dict.fromkeys(KEYS)
    phases = why.diagnosis.phases_of_run
    values = (
        why.idle.idle_ns,
        asdict(why.idle.host_measured),
        why.idle.idle_causes.to_dicts(),
        _gaps(why.idle.gaps) if why.idle.gaps else None,
        _steps(why.steps),
        [asdict(phase) for phase in phases] if phases else None,
        _fields(why.sm),
        _fields(why.launch),
        _fields(why.sync),
        _fields(why.comm),
        to_value(why.host_samples) if why.host_samples else None,
        _diagnosis(why.diagnosis),
        _fields(why.contention),
        _fields(why.pageable_copies),
        _fields(why.managed_memory),
        _fields(why.memory_use),
        _fields(why.gpu_metrics),
    )
    return dict(zip(KEYS, values, strict=True))


def explained_trace(explained: Explained | None) -> dict[str, Any]:
    """Return what several ledgers together tell, as fields of the trace."""
    if explained is None:
        return {"rank_skew": None, "clocks_ahead": None, "range_threads": None}
    return {
        "rank_skew": _fields(explained.rank_skew),
        "clocks_ahead": [asdict(clock) for clock in explained.clocks_ahead],
        "range_threads": explained.range_threads.to_dicts(),
    }


def _fields(value: Any) -> dict[str, Any] | None:
    return None if value is None else asdict(value)


def _gaps(gaps: IdleGaps) -> dict[str, Any]:
    return {
        "count": gaps.count,
        "total_ns": gaps.total_ns,
        "histogram": [
            {"class": c.name, "count": c.count, "total_ns": c.total_ns, "by_account": c.by_account}
            for c in gaps.histogram
        ],
        "longest": [_gap(gap) for gap in gaps.longest],
    }


def _gap(gap: IdleGap) -> dict[str, Any]:
    call = gap.neighbours.next_call
    return {
        "start_ns": gap.start_ns,
        "end_ns": gap.end_ns,
        "length_ns": gap.length_ns,
        "position": gap.position,
        "cause": gap.cause,
        "by_account": gap.by_account,
        "parts": [{key: value for key, value in part.items() if key != "position"} for part in gap.parts.to_dicts()],
        "range": gap.range,
        "previous": gap.neighbours.previous,
        "next": gap.neighbours.next,
        "next_call": asdict(call) if call else None,
    }


def _steps(steps: Steps) -> dict[str, Any]:
    apart = ("rows", "accounts", "kinds", "slowest")
    fields = {name: value for name, value in vars(steps).items() if name not in apart}
    return {
        **fields,
        "kinds": None if steps.kinds is None else [asdict(kind) for kind in steps.kinds],
        "slowest": None if steps.slowest is None else [asdict(step) for step in steps.slowest],
        "rows": steps.rows.to_dicts(),
    }


def _diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    scope = diagnosis.scope
    return {
        "framework": diagnosis.framework,
        "scope": asdict(scope) if scope else None,
        "causes": diagnosis.causes,
        "primary": diagnosis.primary,
        "in_scope": diagnosis.in_scope,
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "evidence": diagnosis.evidence,
        "failed": _fields(diagnosis.failed),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    """Return a finding with the evidence that its cause has, and no other."""
    shares = {
        "cause": finding.cause,
        "share_ratio": finding.share_ratio,
        "prize_upper_ns": finding.prize_upper_ns,
        "prize_upper_ratio": finding.prize_upper_ratio,
    }
    evidence: dict[str, Any] = {}
    if finding.parts is not None:
        evidence |= {
            "parts": finding.parts,
            "longest_call": asdict(finding.longest_call) if finding.longest_call else None,
        }
    if finding.failed is not None:
        evidence |= asdict(finding.failed)
    if finding.operations is not None:
        evidence |= {"operations": finding.operations}
    if finding.long_calls is not None:
        evidence |= {"long_calls": asdict(finding.long_calls)}
    return {**shares, **evidence}
