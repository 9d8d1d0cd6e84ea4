import ast

import pytest

import wallsplit
from wallsplit_workloads import WORKLOADS, program
from wallsplit_workloads.workload import find


def trees(name: str) -> dict[str, str]:
    return program._trees(f"wallsplit_workloads.{name}", {})


def test_a_workload_is_its_module_and_what_that_imports_of_the_package() -> None:
    modules = {name.removeprefix("wallsplit_workloads.") for name in trees("mnist_numpy")}
    assert {"mnist_numpy", "mlp", "data", "training", "marks", "workload"} <= modules
    assert not modules & {"mnist_keras_cpu", "running", "settings", "usage", "program", "wallsplit_workloads"}


def test_comments_and_docstrings_are_no_other_program_and_a_number_is() -> None:
    plain, told, other = (
        program._dumped(ast.parse(text))
        for text in (
            "def f():\n    return 1",
            '"""M."""\ndef f():\n    """F."""\n    return 1  # why',
            "def f(): return 2",
        )
    )
    assert plain == told
    assert plain != other


def test_workloads_of_one_program_have_one_version_and_others_another() -> None:
    versions = {name: program.version(find(WORKLOADS, name)) for name in ("iris-cpu", "iris-gpu", "numpy", "jax-cpu")}
    assert versions["iris-cpu"] == versions["iris-gpu"]
    assert len(set(versions.values())) == 3


def test_where_no_sources_are_the_distributions_version_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_trees", lambda module, known: {})
    program._version.cache_clear()
    try:
        assert program.version(WORKLOADS[0]) == wallsplit.__version__
    finally:
        program._version.cache_clear()
