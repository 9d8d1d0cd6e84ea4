"""The manifest beside a trace, as it may be handed on with the scrubbed trace."""

import json
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from wallsplit.export.renaming import Renaming
from wallsplit.run.decoding import Json
from wallsplit.run.manifest import NvmlFile, RunManifest, parse, to_value
from wallsplit.trace.shareable import TextKind


def shared_manifest(found: RunManifest, digest: str, samples: str | None, renaming: Renaming) -> RunManifest:
    """Return the manifest for a scrubbed export of SHA-256 `digest`, without secrets, its marks named as in the export.

    `samples` is the name of the file with NVML samples, None where none goes with it. The commit of the user's program
    and the digest of the report, which is not handed on, are left out.
    """
    capture = found.capture and replace(found.capture, report_sha256=None, export_sha256=None)
    kept = replace(found, capture=capture, marks={}, git_commit=None, nvml=None)
    cleaned = parse(json.dumps(_cleaned(to_value(kept), renaming)))
    return replace(
        cleaned,
        capture=cleaned.capture and replace(cleaned.capture, export_sha256=digest),
        marks=dict(zip(_renamed("range", found.marks, renaming), found.marks.values(), strict=True)),
        nvml=NvmlFile(samples) if samples else None,
    )


def _cleaned(value: Json, renaming: Renaming) -> Json:
    match value:
        case str():
            return _renamed("message", [value], renaming)[0]
        case list():
            return [_cleaned(item, renaming) for item in value]
        case dict():
            keys = _renamed("message", value, renaming)
            return dict(zip(keys, (_cleaned(item, renaming) for item in value.values()), strict=True))
        case _:
            return value


def _renamed(kind: TextKind, texts: Iterable[str], renaming: Renaming) -> list[str]:
    return renaming.renamed(kind, pl.Series(list(texts), dtype=pl.String)).to_list()
