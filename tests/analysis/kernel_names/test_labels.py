"""Labels tell a person what runs, and one kernel from another, whatever a trace calls them."""

import csv
import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_traces import TRACES, needs_shared_traces
from wallsplit.kernel_names.labels import LONGEST, label, labels
from wallsplit.text import visible

_ROWS = (Path(__file__).parent / "real_kernels.tsv").read_text(encoding="utf-8").splitlines()
REAL = [*csv.DictReader(_ROWS, delimiter="\t", quoting=csv.QUOTE_NONE)]
"""Names as libraries, code generators and profilers of 2017 to 2025 write them, with what people should read."""
PIECES = st.sampled_from(
    [
        *(
            "void ",
            "at::native::",
            "::",
            ",",
            "<",
            ">",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            " const",
            "operator()",
            "operator<",
        ),
        *(
            "[lambda(float) (instance 1)]",
            "<unnamed>::",
            "float",
            "(int)4",
            "MulFunctor",
            "GemmShape",
            "_kernel",
            "\x1b[",
        ),
        *(
            "_Z",
            "N",
            "I",
            "E",
            "S_",
            "Ul",
            "nccl",
            "Kernel_",
            "AllReduce_",
            "ampere_sgemm_128x64_tn",
            "cutlass::Kernel",
        ),
    ]
)
NAMES = st.text() | st.lists(PIECES, max_size=30).map("".join) | st.sampled_from([row["name"] for row in REAL])


@pytest.mark.parametrize("row", REAL, ids=lambda row: row["label"])
def test_a_real_kernel_is_called_what_people_call_it(row: dict[str, str]) -> None:
    assert label(row["name"]) == row["label"]


@given(st.lists(NAMES, unique=True, max_size=12))
def test_different_names_have_different_labels_of_bounded_length(names: list[str]) -> None:
    found = labels(names)
    assert len(set(found)) == len(names) == len(found)
    assert all(0 < len(each) <= LONGEST for each in found)


@given(st.lists(NAMES, max_size=12))
def test_labels_do_not_depend_on_the_order_of_the_names_and_equal_names_share_one(names: list[str]) -> None:
    by_name = dict(zip(names, labels(names), strict=True))
    assert labels(names[::-1]) == [by_name[name] for name in names[::-1]]


@given(NAMES)
def test_a_label_is_one_visible_line(name: str) -> None:
    found = label(name)
    assert visible(found) == found
    assert " ".join(found.split()) == found


@given(st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=20, max_size=40))
def test_a_label_is_never_cut_within_a_word(words: list[str]) -> None:
    found = label("_".join(words))
    assert set(re.split("[_…]", found)) <= {*words, ""}


def test_kernels_of_one_label_say_what_tells_them_apart() -> None:
    plain = (
        "void at::native::vectorized_elementwise_kernel<(int)4, at::native::{}, std::array<char *, (unsigned long)2>>()"
    )
    operands = "float, float, float, at::native::binary_internal::MulFunctor<float>"
    names = [plain.format(f"{adapter}<{operands}>") for adapter in ("AUnaryFunctor", "BUnaryFunctor")]
    assert labels(names) == [
        "vectorized_elementwise · MulFunctor<float> in AUnaryFunctor",
        "vectorized_elementwise · MulFunctor<float> in BUnaryFunctor",
    ]
    assert labels(["ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_nn", "ampere_sgemm_64x64_nn"]) == [
        "gemm f32 128x64 (cublas) [tn]",
        "gemm f32 128x64 (cublas) [nn]",
        "gemm f32 64x64 (cublas)",
    ]
    assert labels(["ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllReduce_Sum_f32_RING_LL128"]) == [
        "ncclAllReduce f32 ring [LL]",
        "ncclAllReduce f32 ring [LL128]",
    ]
    assert labels(["a::f<int>", "b::f<int>"]) == ["f<int>", "f<int> (2)"]


@pytest.mark.parametrize("bracket", ["<", "(", "[", "f<", "f(", "a::", ">", "operator<", "_ZP", "x<y<"])
def test_a_name_made_of_many_brackets_is_only_a_long_name(bracket: str) -> None:
    assert len(label(bracket * 50_000)) <= LONGEST


@needs_shared_traces
@pytest.mark.parametrize("name", sorted(TRACES))
def test_no_two_kernels_of_a_real_trace_share_a_label(name: str) -> None:
    names = kernel_names(TRACES[name])
    assert len(set(labels(names))) == len(names)


def kernel_names(path: Path) -> list[str]:
    """Return the distinct demangled names of the kernels of a trace."""
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'").fetchone():
            return []
        ids = "SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL"
        found = [value for (value,) in db.execute(f"SELECT DISTINCT value FROM StringIds WHERE id IN ({ids})")]
    db.close()
    return found
