"""The samples of every ledger as one typed table."""

from collections.abc import Iterable, Iterator

import polars as pl

from wallsplit.schema import HOST_SAMPLES, conform
from wallsplit.why.samples.values import HostSamples, Summary

Key = tuple[int, int | None, int | None]
"""Process, device, start of the window."""


def host_samples_table(ledgers: Iterable[tuple[Key, HostSamples]]) -> pl.DataFrame:
    """Return a row per ledger, scope, range and class (schema.HOST_SAMPLES)."""
    rows = [row for key, samples in ledgers for row in _rows(key, samples)]
    return conform(pl.DataFrame(rows, HOST_SAMPLES, orient="row"), HOST_SAMPLES, "host_samples")


def _rows(key: Key, samples: HostSamples) -> Iterator[tuple[object, ...]]:
    scopes: list[tuple[str, str | None, Summary | None]] = [
        ("main", None, samples.main),
        ("other_driving", None, samples.other_driving),
        ("not_driving", None, samples.not_driving),
        ("meanwhile", None, samples.main.meanwhile),
        *(("main", phase.range, phase.main) for phase in samples.phases),
    ]
    for scope, name, summary in scopes:
        for each in summary.classes if summary else ():
            figures = (each.count, each.share, each.low, each.high, each.cpu_ns, each.design_effect)
            yield (*key, scope, name, each.sample_class, *figures, bool(summary and summary.enough))
