"""The training loop in traces/numpy-loop.sqlite: a small MLP in NumPy whose batches are read from a file.

Needs `nvtx`; the recording needs no more than NVTX ranges and OS runtime calls. One BLAS thread, so that what the
operating system is asked for is asked by the loop.
"""

import os
import tempfile
from pathlib import Path

EPOCHS, STEPS = 2, 50
BATCH, INPUTS, HIDDEN, CLASSES = 32, 784, 128, 10
LEARNING_RATE = 0.1


def train(data: Path) -> float:
    """Return the mean loss of the last epoch; `data` holds STEPS batches of float32 images and the labels behind."""
    import numpy as np
    import nvtx

    generator = np.random.default_rng(0)
    weights_1 = generator.normal(0, 0.05, (INPUTS, HIDDEN)).astype(np.float32)
    weights_2 = generator.normal(0, 0.05, (HIDDEN, CLASSES)).astype(np.float32)
    loss = 0.0
    for _ in range(EPOCHS):
        with nvtx.annotate("epoch"), data.open("rb", buffering=0) as file:
            loss = 0.0
            for _ in range(STEPS):
                with nvtx.annotate("step"):
                    with nvtx.annotate("data"):
                        batch = np.frombuffer(file.read(4 * BATCH * (INPUTS + 1)), np.float32)
                        images, labels = batch[:-BATCH].reshape(BATCH, INPUTS), batch[-BATCH:].astype(np.intp)
                    with nvtx.annotate("forward"):
                        hidden = np.maximum(images @ weights_1, 0)
                        scores = hidden @ weights_2
                        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
                        probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
                        loss -= float(np.log(probabilities[np.arange(BATCH), labels]).mean()) / STEPS
                    with nvtx.annotate("backward"):
                        probabilities[np.arange(BATCH), labels] -= 1
                        scores_gradient = probabilities / BATCH
                        hidden_gradient = (scores_gradient @ weights_2.T) * (hidden > 0)
                        gradient_2, gradient_1 = hidden.T @ scores_gradient, images.T @ hidden_gradient
                    with nvtx.annotate("update"):
                        weights_1 -= LEARNING_RATE * gradient_1
                        weights_2 -= LEARNING_RATE * gradient_2
    return loss


def write_batches(data: Path) -> None:
    """Write the batches `train` reads: noise, with a bright pixel that tells the class."""
    import numpy as np

    generator = np.random.default_rng(1)
    with data.open("wb") as file:
        for _ in range(STEPS):
            labels = generator.integers(0, CLASSES, BATCH)
            images = generator.random((BATCH, INPUTS), np.float32)
            images[np.arange(BATCH), labels] += 4
            file.write(images.tobytes() + labels.astype(np.float32).tobytes())


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        write_batches(Path(folder) / "batches")
        train(Path(folder) / "batches")
