"""Where the samples come from: real files that are already there, else a generated set. Nothing is downloaded."""

import gzip
import os
import zipfile
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Data, Steps

SAMPLES, PIXELS, CLASSES = 60_000, 784, 10
VALIDATION_RATIO = 0.2  # the last 20 %, as Keras' validation_split takes them
DEBIAN_FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")

_IDX_NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
_FIRST_LABELS: dict[tuple[int, ...], str] = {  # both sets use the same file names; their labels tell them apart
    (5, 0, 4, 1, 9, 2, 1, 3, 1, 4): "mnist",
    (9, 0, 0, 3, 0, 2, 7, 2, 5, 5): "fashion-mnist",
}


@dataclass(frozen=True)
class Split:
    """Samples (n, 784) float32 in 0-1 and labels (n,) int64, for training and for validation."""

    x_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    x_validation: NDArray[np.float32]
    y_validation: NDArray[np.int64]
    record: Data
    whole: tuple[int, int] | None = None
    """Training and validation samples of the set, where a number of samples was asked for; else None."""

    def steps(self, batch: int) -> Steps:
        """Return the steps of an epoch at this batch; the last one may be smaller."""
        return Steps(ceil(len(self.x_train) / batch), ceil(len(self.x_validation) / batch))


def mnist(path: Path | None, batch: int, steps: int | None = None, samples: int | None = None) -> Split:
    """Return MNIST or a set of its shape: 48,000 samples to train on, 12,000 to validate.

    `steps` limits the training samples to so many batches, `samples` to so many, and validation in proportion.

    Looks at `path` if given; else for mnist.npz in Keras' cache; else for Debian's dataset-fashion-mnist; else
    generates the set.

    Raises:
        WallsplitError: `path` holds no such set, or the batch is larger than the set.
    """
    images, labels, record = _load(path)
    train = len(images) - int(len(images) * VALIDATION_RATIO)
    if batch > train:
        raise WallsplitError(f"batch={batch}: more than the {train:,} training samples of {record.source}")
    validation = len(images) - train
    whole = None if samples is None else (train, validation)
    if steps is not None:
        train = min(train, steps * batch)
        validation = min(validation, ceil(steps * VALIDATION_RATIO / (1 - VALIDATION_RATIO)) * batch)
    if samples is not None:
        train = min(train, samples)
        validation = min(validation, ceil(train * VALIDATION_RATIO / (1 - VALIDATION_RATIO)))
    pixels = np.concatenate([images[:train], images[-validation:]]).reshape(-1, PIXELS).astype(np.float32)
    scaled = pixels / np.float32(255)
    kept = np.concatenate([labels[:train], labels[-validation:]]).astype(np.int64)
    record = replace(record, train_samples=train, validation_samples=validation)
    return Split(scaled[:train], kept[:train], scaled[train:], kept[train:], record, whole)


def synthetic(samples: int = SAMPLES, seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return images (n, 784) and labels (n,): a quarter of the pixels show the class's prototype, the rest is noise."""
    generator = np.random.default_rng(seed)
    prototypes = generator.integers(0, 256, (CLASSES, PIXELS), dtype=np.uint8)
    labels = generator.integers(0, CLASSES, samples, dtype=np.uint8)
    images = generator.integers(0, 256, (samples, PIXELS), dtype=np.uint8)
    shown = generator.integers(0, 4, (samples, PIXELS), dtype=np.uint8) == 0
    np.copyto(images, prototypes[labels], where=shown)
    return images, labels


def zipf_words(tokens: int, vocabulary: int, seed: int) -> NDArray[np.int64]:
    """Return words (tokens,) as their numbers, word k drawn with probability ∝ 1 ÷ (k + 1), as in natural text."""
    weights = 1 / np.arange(1, vocabulary + 1)
    return np.random.default_rng(seed).choice(vocabulary, tokens, p=weights / weights.sum())


def sentences(numbers: NDArray[np.int64], words: int) -> list[list[str]]:
    """Return the numbers as words w0, w1 …, so many to a sentence."""
    spelled = np.array([f"w{k}" for k in range(numbers.max() + 1)], dtype=object)[numbers].tolist()
    return [spelled[start : start + words] for start in range(0, len(spelled), words)]


def _load(path: Path | None) -> tuple[NDArray[Any], NDArray[Any], Data]:
    if path is not None:
        images, labels = _idx_folder(path) if path.is_dir() else _npz(path)
        return images, labels, Data(_which(labels), f"{path.name}, given by the user")
    cached = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "datasets" / "mnist.npz"
    if cached.is_file():
        images, labels = _npz(cached)
        return images, labels, Data(_which(labels), "mnist.npz in the Keras cache")
    if DEBIAN_FASHION_MNIST.is_dir():
        images, labels = _idx_folder(DEBIAN_FASHION_MNIST)
        return images, labels, Data(_which(labels), "Debian's dataset-fashion-mnist")
    images, labels = synthetic()
    return images, labels, Data("synthetic", "MNIST-shaped, generated: no mnist.npz or Fashion-MNIST on this machine")


def _which(labels: NDArray[Any]) -> str:
    return _FIRST_LABELS.get(tuple(int(label) for label in labels[:10]), "unknown set of MNIST's shape")


def _npz(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _checked(path, arrays["x_train"], arrays["y_train"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        message = f"{path}: no mnist.npz with x_train and y_train ({error}); give such a file or a folder of IDX files"
        raise WallsplitError(" ".join(message.split())) from error


def _idx_folder(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    images, labels = (_idx(path, name) for name in _IDX_NAMES)
    return _checked(path, images, labels)


def _idx(folder: Path, name: str) -> NDArray[Any]:
    """Return the array of an IDX file, gzipped or not: two zeros, type (8: bytes), rank, big-endian sizes, data."""
    plain, packed = folder / name, folder / f"{name}.gz"
    try:
        content = plain.read_bytes() if plain.is_file() else gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise WallsplitError(f"{folder}: neither {name} nor {name}.gz can be read there") from error
    rank = content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0
    sizes = np.frombuffer(content, ">u4", rank, 4) if len(content) >= 4 + 4 * rank else np.zeros(0)
    if not rank or not len(sizes) or len(content) != 4 + 4 * rank + int(np.prod(sizes.astype(object))):
        raise WallsplitError(f"{folder / name}: not an IDX file of bytes, or cut short")
    return np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(sizes.astype(int))


def _checked(path: Path, images: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    fits = images.ndim == 3 and images.shape[1:] == (28, 28) and images.dtype == np.uint8
    if not fits or labels.shape != images.shape[:1] or len(images) < CLASSES:
        shapes = f"images {images.shape} {images.dtype}, labels {labels.shape}"
        raise WallsplitError(f"{path}: not of MNIST's shape, (n, 28, 28) bytes and n labels: {shapes}")
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= CLASSES:
        raise WallsplitError(f"{path}: labels are not 0 to {CLASSES - 1}")
    return images, labels
