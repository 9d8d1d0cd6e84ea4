"""R1's pattern from production: Gensim's word2vec, CPU threads without locks over random rows of memory."""

from time import perf_counter_ns
from typing import Any

import numpy as np

from wallsplit.run.manifest import Arithmetic, Data, Epoch, Steps
from wallsplit_workloads import skip_gram, workload
from wallsplit_workloads.data import sentences, zipf_words
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.training import progress_line
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload

SENTENCE_WORDS = 20
SIZE, WINDOW, NEGATIVE = 100, 5, 5
CACHED_ROWS = 32  # 12.8 kB, within any first-level cache
PROBED_WORDS = 200_000  # enough for a rate of memory, in hundredths of a second


def run(context: RunContext) -> Result:
    """Train skip-gram vectors with negative sampling; a step is a job of `batch` words, inside Gensim's threads."""
    batch, steps = context.integer("batch"), context.optional_integer("steps")
    tokens = min(context.integer("tokens"), steps * batch if steps else context.integer("tokens"))
    with context.marks("data"):
        numbers = zipf_words(tokens, context.integer("vocabulary"), context.integer("seed"))
        corpus = sentences(numbers, SENTENCE_WORDS)
    workers, clock, kept = context.integer("workers"), marking_callback(context), list[int]()
    start = perf_counter_ns()
    model = marked_model(context, kept)(
        corpus,
        vector_size=SIZE,
        window=WINDOW,
        negative=NEGATIVE,
        sg=1,
        min_count=1,
        seed=context.integer("seed"),
        workers=workers,
        batch_words=batch,
        epochs=context.integer("epochs"),
        callbacks=[clock],
    )
    train_wall_ns = perf_counter_ns() - start
    pairs = pairs_per_epoch(sum(kept) / len(clock.epochs), len(corpus))
    rows = 2 * numbers[:PROBED_WORDS] + np.arange(min(tokens, PROBED_WORDS)) % 2  # of either matrix in turn
    return Result(
        steps=Steps(len(kept) // context.integer("epochs")),
        data=Data("zipf", f"generated, exponent 1, {len(model.wv):,} words occur", tokens, 0),
        arithmetic=Arithmetic(
            skip_gram.FORMULA, flops_per_epoch=round(pairs * skip_gram.flops_per_pair(SIZE, NEGATIVE))
        ),
        threads={**native_threads(), "word2vec_workers": workers},
        epochs=tuple(clock.epochs),
        results={
            "train_wall_ns": train_wall_ns,
            "words_per_second": tokens * len(clock.epochs) * 1e9 / train_wall_ns,
            "pairs_per_epoch": round(pairs),
            "bytes_touched_per_epoch": round(pairs * skip_gram.bytes_per_pair(SIZE, NEGATIVE)),
            "row_bytes_per_second": skip_gram.row_bytes_per_second(rows, 2 * context.integer("vocabulary"), SIZE),
            "cached_row_bytes_per_second": skip_gram.row_bytes_per_second(rows % CACHED_ROWS, CACHED_ROWS, SIZE),
        },
    )


def pairs_per_epoch(kept: float, count: int) -> float:
    """Return the pairs expected of an epoch in which subsampling kept so many words of so many sentences."""
    return count * skip_gram.pairs_per_sentence(kept / count, WINDOW)


def marked_model(context: RunContext, kept: list[int]) -> Any:
    """Return Gensim's Word2Vec whose threads mark each job they train as a step; to be made like Word2Vec itself.

    Of each job the words that were trained on are appended to `kept`: most of the frequent ones are left out.
    """
    from gensim.models import Word2Vec

    class Marked(Word2Vec):
        def _do_train_job(self, *job: Any) -> Any:
            with context.marks("step"):
                trained, given = super()._do_train_job(*job)
                kept.append(trained)
                return trained, given

    return Marked


def marking_callback(context: RunContext) -> Any:
    """Return a Gensim callback that marks epochs; has `epochs` afterwards."""
    from gensim.models.callbacks import CallbackAny2Vec

    class Marking(CallbackAny2Vec):
        def __init__(self) -> None:
            self.epochs: list[Epoch] = []
            self._start = 0

        def on_epoch_begin(self, model: Any) -> None:
            self._start = perf_counter_ns()
            context.marks.push("epoch")

        def on_epoch_end(self, model: Any) -> None:
            context.marks.pop()
            self.epochs.append(Epoch(perf_counter_ns() - self._start))
            context.progress(progress_line(len(self.epochs) - 1, self.epochs[-1]))

    return Marking()


WORKLOAD = Workload(
    "word2vec",
    "Gensim word2vec on a generated Zipf corpus",
    run,
    (
        Parameter("batch", int, 10_000, "words per job of a worker", minimum=1),
        workload.epochs(1),
        workload.STEPS,
        workload.SEED,
        Parameter("tokens", int, 1_000_000, "words in the corpus", minimum=100, maximum=10**9),
        Parameter("vocabulary", int, 20_000, "different words to draw from", minimum=2, maximum=10**7),
        Parameter("workers", int, 1, "training threads", minimum=1, maximum=256),
    ),
    extra="word2vec",
)
