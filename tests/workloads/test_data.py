"""Promises about the samples: which set it is stands in the record, and a bad file is one sentence."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Data, Steps
from wallsplit_workloads import data
from workload_runs import small_set

MNIST_LABELS = np.array([5, 0, 4, 1, 9, 2, 1, 3, 1, 4] * 10, np.uint8)
IMAGES = np.arange(100 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(100, 28, 28)


def idx(array: NDArray[np.uint8]) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


@pytest.fixture
def idx_folder(tmp_path: Path) -> Path:
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(IMAGES)))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(MNIST_LABELS))
    return tmp_path


def test_the_last_fifth_is_for_validation_and_pixels_are_scaled(idx_folder: Path) -> None:
    split = data.mnist(idx_folder, batch=16)
    assert (len(split.x_train), len(split.x_validation)) == (80, 20)
    assert np.array_equal(split.x_validation[0], IMAGES[80].reshape(-1) / np.float32(255))
    assert np.array_equal(split.y_train, MNIST_LABELS[:80])
    assert split.x_train.dtype == np.float32
    assert split.steps(16) == Steps(5, 2)


def test_mnist_is_told_from_fashion_mnist_by_its_labels(idx_folder: Path) -> None:
    assert data.mnist(idx_folder, batch=1).record.source == "mnist"
    fashion = np.array([9, 0, 0, 3, 0, 2, 7, 2, 5, 5] * 10, np.uint8)
    (idx_folder / "train-labels-idx1-ubyte").write_bytes(idx(fashion))
    assert data.mnist(idx_folder, batch=1).record.source == "fashion-mnist"


def test_the_record_names_no_folder(idx_folder: Path) -> None:
    assert str(idx_folder.parent) not in str(data.mnist(idx_folder, batch=1).record)


def test_full_size_epochs_are_1500_and_375_steps_at_batch_32() -> None:
    full = data.Split(
        np.broadcast_to(np.float32(0), (48_000, 784)),
        np.zeros(48_000, np.int64),
        np.broadcast_to(np.float32(0), (12_000, 784)),
        np.zeros(12_000, np.int64),
        Data("synthetic"),
    )
    assert full.steps(32) == Steps(1_500, 375)


def test_limited_steps_keep_the_proportion_of_validation(idx_folder: Path) -> None:
    split = data.mnist(idx_folder, batch=4, steps=8)
    assert split.steps(4) == Steps(8, 2)
    assert data.mnist(idx_folder, batch=4, steps=1).steps(4) == Steps(1, 1)
    assert data.mnist(idx_folder, batch=4, steps=10**9).steps(4) == Steps(20, 5)


def test_a_batch_larger_than_the_set_is_refused(idx_folder: Path) -> None:
    with pytest.raises(WallsplitError, match="batch=81: more than the 80 training samples of mnist"):
        data.mnist(idx_folder, batch=81)


def test_an_npz_is_read_too(tmp_path: Path) -> None:
    assert len(data.mnist(small_set(tmp_path, 200), batch=1).x_train) == 160


def test_without_any_files_a_set_is_generated_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setattr(data, "DEBIAN_FASHION_MNIST", tmp_path / "absent")
    monkeypatch.setattr(data, "synthetic", lambda: _generated(100))
    assert data.mnist(None, batch=1).record.source == "synthetic"


def test_the_keras_cache_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "datasets").mkdir()
    small_set(tmp_path / "datasets", 50)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    split = data.mnist(None, batch=1)
    assert split.record.detail == "mnist.npz in the Keras cache"
    assert len(split.x_train) == 40


def test_the_generated_set_is_always_the_same_and_can_be_learnt() -> None:
    images, labels = data.synthetic(2_000)
    assert np.array_equal(images, data.synthetic(2_000)[0])
    means = np.stack([images[:1_000][labels[:1_000] == k].mean(axis=0) for k in range(10)])
    centred = images[1_000:].astype(np.float32) - 127.5
    right = (centred @ (means - 127.5).T).argmax(axis=1) == labels[1_000:]
    assert right.mean() > 0.8


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train-images-idx3-ubyte", b"", "not an IDX file of bytes, or cut short"),
        ("train-images-idx3-ubyte", idx(IMAGES)[:-1], "not an IDX file of bytes, or cut short"),
        ("train-images-idx3-ubyte", b"\0\0\x08\x03" + b"\xff" * 12, "not an IDX file of bytes, or cut short"),
        ("train-images-idx3-ubyte", idx(MNIST_LABELS), "not of MNIST's shape"),
        ("train-labels-idx1-ubyte", idx(MNIST_LABELS[:5]), "not of MNIST's shape"),
        ("train-labels-idx1-ubyte", idx(MNIST_LABELS + 1), "labels are not 0 to 9"),
    ],
)
def test_a_broken_idx_file_is_named(idx_folder: Path, name: str, content: bytes, message: str) -> None:
    (idx_folder / name).write_bytes(content)
    with pytest.raises(WallsplitError, match=message):
        data.mnist(idx_folder, batch=1)


def test_an_empty_folder_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(WallsplitError, match=r"neither train-images-idx3-ubyte nor train-images-idx3-ubyte\.gz"):
        data.mnist(tmp_path, batch=1)


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04 cut"])
def test_a_file_that_is_no_npz_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mnist.npz"
    path.write_bytes(content)
    with pytest.raises(WallsplitError, match=r"mnist\.npz: no mnist\.npz with x_train and y_train") as caught:
        data.mnist(path, batch=1)
    assert "\n" not in str(caught.value)


def test_an_absent_path_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WallsplitError, match="absent"):
        data.mnist(tmp_path / "absent", batch=1)


def test_an_npz_of_pickles_is_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "mnist.npz", x_train=np.array([{}], object), y_train=np.zeros(1))
    with pytest.raises(WallsplitError, match=r"no mnist\.npz with x_train"):
        data.mnist(tmp_path / "mnist.npz", batch=1)


def test_zipf_words_come_with_frequency_one_over_rank() -> None:
    corpus = data.sentences(data.zipf_words(20_000, vocabulary=50, seed=0), 20)
    assert {len(sentence) for sentence in corpus} == {20}
    counts = Counter(word for sentence in corpus for word in sentence)
    assert counts["w0"] / counts["w1"] == pytest.approx(2, rel=0.1)
    assert counts["w0"] / counts["w9"] == pytest.approx(10, rel=0.2)


def _generated(samples: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    return np.zeros((samples, 784), np.uint8), np.zeros(samples, np.uint8)
