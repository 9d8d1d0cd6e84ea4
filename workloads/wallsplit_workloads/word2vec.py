"""R1's pattern from production: Gensim's word2vec, CPU threads without locks over random rows, memory-bound."""

from time import perf_counter_ns
from typing import Any

from wallsplit.run.manifest import Data, Epoch, Steps
from wallsplit_workloads import workload
from wallsplit_workloads.data import zipf_corpus
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.training import progress_line
from wallsplit_workloads.workload import Parameter, Result, RunContext, Workload

SENTENCE_WORDS = 20


def run(context: RunContext) -> Result:
    """Train skip-gram vectors with negative sampling; a step is a job of `batch` words, inside Gensim's threads."""
    batch, steps = context.integer("batch"), context.optional_integer("steps")
    tokens = min(context.integer("tokens"), steps * batch if steps else context.integer("tokens"))
    with context.marks("data"):
        corpus = zipf_corpus(tokens, context.integer("vocabulary"), SENTENCE_WORDS, context.integer("seed"))
    workers, clock, jobs = context.integer("workers"), marking_callback(context), list[None]()
    start = perf_counter_ns()
    model = marked_model(context, jobs)(
        corpus,
        vector_size=100,
        window=5,
        negative=5,
        sg=1,
        min_count=1,
        seed=context.integer("seed"),
        workers=workers,
        batch_words=batch,
        epochs=context.integer("epochs"),
        callbacks=[clock],
    )
    train_wall_ns = perf_counter_ns() - start
    return Result(
        steps=Steps(len(jobs) // context.integer("epochs")),
        data=Data("zipf", f"generated, exponent 1, {len(model.wv):,} words occur", tokens, 0),
        threads={**native_threads(), "word2vec_workers": workers},
        epochs=tuple(clock.epochs),
        results={"train_wall_ns": train_wall_ns, "words_per_second": tokens * len(clock.epochs) * 1e9 / train_wall_ns},
    )


def marked_model(context: RunContext, jobs: list[None]) -> Any:
    """Return Gensim's Word2Vec, to be made like itself, whose threads mark each job as a step and add it to `jobs`."""
    from gensim.models import Word2Vec

    class Marked(Word2Vec):
        def _do_train_job(self, *job: Any) -> Any:
            jobs.append(None)
            with context.marks("step"):
                return super()._do_train_job(*job)

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
