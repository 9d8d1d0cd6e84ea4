"""Predictions in words: for a terminal, which wraps them, and the replays' errors as a table for a page."""

from collections.abc import Iterator, Sequence
from statistics import median

from wallsplit import units
from wallsplit.comparison.predict.batches import Batches
from wallsplit.comparison.predict.changes import NEVER
from wallsplit.comparison.predict.prediction import ERROR_LIMIT, NO_KERNEL, UNEXPLAINED_LIMIT, Prediction, percent
from wallsplit.text import for_people

MINUS = "\N{MINUS SIGN}"


def sentences(path: str, predictions: Sequence[Prediction]) -> Iterator[str]:
    """Yield the lines about one trace, those about a process indented."""
    if not predictions:
        yield (
            f"{for_people(path)}: no process of it has both CUDA calls and GPU work, so there is nothing to replay; "
            "record it with nsys profile -t cuda where its kernels run."
        )
    for prediction in predictions:
        gpus = f", GPU {', '.join(map(str, prediction.gpus))}" if prediction.gpus else ""
        whose = f"{for_people(path)}, process {prediction.pid}{gpus}"
        if NO_KERNEL in prediction.refusals:
            yield f"{whose}: nothing is predicted: {NO_KERNEL}."
            continue
        yield f"{whose}: {units.ns(prediction.wall_ns)} recorded."
        off, waiting = signed(prediction.replay_error_ratio), percent(prediction.unexplained_ratio)
        yield (
            f"  Unchanged replay {off} (within {percent(ERROR_LIMIT, 0)} is needed, and proves little); "
            f"unexplained waiting {waiting} (at most {percent(UNEXPLAINED_LIMIT, 0)})."
        )
        for refusal in prediction.refusals:
            yield f"  Nothing is predicted: {refusal}."
        for answer in prediction.answers:
            low, high = answer.low_ns / prediction.wall_ns - 1, answer.high_ns / prediction.wall_ns - 1
            times = f"{units.ns(answer.low_ns)} … {units.ns(answer.high_ns)}"
            change = f"{signed(low)} … {signed(high)}"
            question = answer.question
            yield f"  {question.name:14} {times:>17}  {change:>19}"
            yield f"    {question.meaning}: {question.reading}"


def batch_sentences(batches: Batches) -> Iterator[str]:
    """Yield the lines about batch sizes, none where no two were measured."""
    for line in batches.lines:
        low, *_, high = line.step_ns
        errors = ", ".join(f"{b}: {signed(ratio)}" for b, ratio in line.errors.items())
        yield (
            f"{for_people(line.name)}: a step takes {_ns(line.constant_ns)} + {_ns(line.per_sample_ns)} a sample, "
            f"measured at batch {low} and {high}" + (f"; off in between by {errors}." if errors else ".")
        )
    for crossing in batches.crossings:
        small, large = for_people(crossing.small), for_people(crossing.large)
        if crossing.batch is None:
            yield f"{small} is faster than {large} at every batch size, by these lines."
            continue
        seen = (
            f"measured between {crossing.measured[0]} and {crossing.measured[1]}"
            if crossing.measured
            else "not measured"
        )
        yield f"{large} overtakes {small} at batch {units.count(round(crossing.batch))}, by these lines; {seen}."


def closing() -> str:
    """Return what is never predicted."""
    return f"Never predicted: {'; '.join(NEVER)}."


def errors_page(traces: Sequence[tuple[str, Sequence[Prediction]]]) -> Iterator[str]:
    """Yield the lines of a Markdown table of the replays' errors, and how large they are together."""
    yield "| trace | process | calls | GPU operations | recorded | unchanged replay | unexplained waiting | predicted |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, predictions in traces:
        for prediction in predictions:
            cells = (
                for_people(name, 60).replace("|", "\\|"),
                str(prediction.pid),
                units.count(prediction.calls),
                units.count(prediction.operations),
                units.ns(prediction.wall_ns),
                signed(prediction.replay_error_ratio, 2),
                percent(prediction.unexplained_ratio),
                "no" if prediction.refusals else "yes",
            )
            yield f"| {' | '.join(cells)} |"
    errors = sorted(abs(prediction.replay_error_ratio) for _, predictions in traces for prediction in predictions)
    if errors:
        p90 = errors[max(0, -(-len(errors) * 9 // 10) - 1)]
        yield ""
        yield (
            f"{len(errors)} processes: median error {percent(median(errors), 2)}, 90th percentile {percent(p90, 2)}, "
            f"largest {percent(errors[-1], 2)}."
        )


def signed(ratio: float, decimals: int = 1) -> str:
    """Return a ratio as a change in per cent, with its sign."""
    text = percent(abs(ratio), decimals)
    return text if text == percent(0, decimals) else f"{'+' if ratio > 0 else MINUS}{text}"


def _ns(value: float) -> str:
    return units.ns(value) if value >= 0 else f"{MINUS}{units.ns(-value)}"
