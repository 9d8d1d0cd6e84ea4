"""Predictions as plain values: docs/predict.schema.json is their contract."""

from collections.abc import Sequence
from typing import Any

from wallsplit import __version__
from wallsplit.comparison.predict.batches import Batches
from wallsplit.comparison.predict.changes import NEVER
from wallsplit.comparison.predict.prediction import ERROR_LIMIT, UNEXPLAINED_LIMIT, Prediction
from wallsplit.text import visible


def document(traces: Sequence[tuple[str, Sequence[Prediction]]], batches: Batches) -> dict[str, Any]:
    """Return the document of traces, by path, and of what their batch sizes say."""
    return {
        "schema_version": 1,
        "generator": {"name": "wallsplit", "version": __version__},
        "limits": {"replay_error_ratio": ERROR_LIMIT, "unexplained_ratio": UNEXPLAINED_LIMIT},
        "never_predicted": list(NEVER),
        "traces": [
            {"path": visible(path), "processes": [_process(prediction) for prediction in predictions]}
            for path, predictions in traces
        ],
        "batches": {
            "lines": [
                {
                    "name": visible(line.name),
                    "constant_ns": line.constant_ns,
                    "per_sample_ns": line.per_sample_ns,
                    "measured": [{"batch": b, "step_ns": ns} for b, ns in line.step_ns.items()],
                    "errors": [{"batch": b, "error_ratio": ratio} for b, ratio in line.errors.items()],
                }
                for line in batches.lines
            ],
            "crossings": [
                {
                    "small": visible(crossing.small),
                    "large": visible(crossing.large),
                    "batch": crossing.batch,
                    "measured": crossing.measured and list(crossing.measured),
                }
                for crossing in batches.crossings
            ],
        },
    }


def _process(prediction: Prediction) -> dict[str, Any]:
    return {
        "pid": prediction.pid,
        "gpus": list(prediction.gpus),
        "calls": prediction.calls,
        "operations": prediction.operations,
        "wall_ns": prediction.wall_ns,
        "replay_error_ratio": prediction.replay_error_ratio,
        "unexplained_ratio": prediction.unexplained_ratio,
        "launch_coverage": prediction.launch_coverage,
        "api_coverage": prediction.api_coverage,
        "queue": prediction.queue,
        "refusals": list(prediction.refusals),
        "answers": [
            {
                "name": answer.question.name,
                "meaning": answer.question.meaning,
                "reading": answer.question.reading,
                "low_ns": answer.low_ns,
                "high_ns": answer.high_ns,
            }
            for answer in prediction.answers
        ],
    }
