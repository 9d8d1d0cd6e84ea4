"""Mangled names are read as the Itanium C++ ABI writes them, and spelled as nsys spells the others."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_traces import TRACES, needs_shared_traces
from wallsplit.kernel_names.demangling import demangled
from wallsplit.kernel_names.mangled_text import LONGEST


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z6kernelv", "kernel()"),
        ("_Z7add_onePKfPfi", "add_one(const float *, float *, int)"),
        ("_ZN2ns5inner6kernelIfEEvPT_", "void ns::inner::kernel<float>(T1 *)"),
        ("_ZN12_GLOBAL__N_13fooIiLb1EEEvT_", "void <unnamed>::foo<int, (bool)1>(T1)"),
        ("_Z1fILin3EEvv", "void f<(int)-3>()"),
        ("_Z1fIJfdEEvDpT_", "void f<float, double>(T1...)"),
        ("_Z1fPFviE", "f(void (*)(int))"),
        ("_Z1fRA8_Kd", "f(const double (&)[8])"),
        ("_Z1fSt5arrayIPcLm2EE", "f(std::array<char *, (unsigned long)2>)"),
        ("_ZZ4mainENKUlfE0_clEf", "main::[lambda(float) (instance 2)]::operator ()(float) const"),
        ("_ZN6cudapy3addB2v1E5ArrayIfES1_", "cudapy::add[abi:v1](Array<float>, Array<float>)"),
        ("_Z6kernelv.cold", "kernel()"),
        ("_Z1fDF16_DF16b", "f(_Float16, __bf16)"),
    ],
)
def test_a_mangled_name_is_read(mangled: str, name: str) -> None:
    assert demangled(mangled) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kernel",
        "_Z",
        "_Z9short",
        "_Z1fS5_",
        "_Z1fT",
        "_ZN1a1b",
        "_Z1fIXsr1a1bEEvv",
        "_Z99999999f",
        "_Z1fv trailing",
    ],
)
def test_what_is_not_understood_is_left_alone(text: str) -> None:
    assert demangled(text) is None


@given(st.lists(st.sampled_from([*"NIESTPKRZLXJDFAMUl0129_fivBt", "1a", "3foo", "St", "Ul", "S_", "S0_", "T_"])))
def test_no_name_breaks_the_reader(pieces: list[str]) -> None:
    name = demangled("_Z" + "".join(pieces))
    assert name is None or len(name) <= LONGEST


def test_a_name_that_would_be_written_out_without_end_is_left_alone() -> None:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    last = ["i", *(f"S{digits[2 * step + 1]}_" for step in range(17))]  # what the step before stands for
    doubling = "_Z1fI" + "".join(f"1aI{each}{each}E" for each in last) + "EvT_"
    assert demangled(doubling[: doubling.index("S7_")] + "iiEEvT_") is not None
    assert demangled(doubling) is None
    assert demangled("_Z1f" + "P" * 10_000 + "i") is None
    assert demangled("_Z" + "N1aI" * 3_000) is None


@needs_shared_traces
@pytest.mark.parametrize("trace", sorted(TRACES))
def test_every_mangled_name_of_a_real_trace_is_read_as_nsys_reads_it(trace: str) -> None:
    for mangled, name in mangled_names(TRACES[trace]):
        assert demangled(mangled) == name


def mangled_names(path: Path) -> list[tuple[str, str]]:
    """Return the mangled names of a trace's kernels, and what nsys makes of them."""
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(CUPTI_ACTIVITY_KIND_KERNEL)")]
        query = (
            "SELECT DISTINCT m.value, d.value FROM CUPTI_ACTIVITY_KIND_KERNEL k "
            "JOIN StringIds m ON m.id = k.mangledName JOIN StringIds d ON d.id = k.demangledName "
            "WHERE m.value GLOB '_Z*'"
        )
        found = db.execute(query).fetchall() if "mangledName" in columns else []
    db.close()
    return found
