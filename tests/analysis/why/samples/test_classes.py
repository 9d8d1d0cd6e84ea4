"""Which class a place in code is of: an example per rule, and what goes before the rules."""

import re
from pathlib import Path

import pytest

from wallsplit.errors import ClassRulesError
from wallsplit.why.samples.class_rules import class_rules
from wallsplit.why.samples.classes import CLASSES, NAMES, Classifier, module_base
from wallsplit.why.samples.rules import RULES

EXAMPLES = (  # an example of each rule, in the order of the rules: module, symbol, class, group
    ("/opt/nsys/libToolsInjection64.so", None, "profiler", "nsys"),
    ("lib.cpython-311-x86_64-linux-gnu.so", "__pyx_pw_4nvtx_4_lib_9DomainHandle", "profiler", "nvtx binding"),
    ("libnvtx3interop.so", "nvtxDomainRangePushEx", "profiler", "nsys"),
    ("[kernel.kallsyms]", "do_syscall_64", "kernel", "kernel"),
    ("libscipy_openblas64_-32a4b2a6.so", "blas_thread_server", "spin", "openblas"),
    ("libomp5.so", "__kmp_hyper_barrier_release", "spin", "openmp"),
    ("libgomp-a34b3233.so.1", None, "spin", "openmp (unnamed)"),
    (
        "libtensorflow_framework.so.2",
        "Eigen::ThreadPoolTempl<tsl::thread::EigenEnvironment>::WaitForWork(Eigen::EventCount::Waiter*)",
        "spin",
        "eigen pool",
    ),
    ("libc.so.6", "sched_yield", "spin", "yield"),
    ("libcuda.so.1.1", None, "cuda", "driver"),
    ("cudart64_12.dll", "cudaLaunchKernel", "cuda", "runtime"),
    ("libcublasLt.so.12", None, "cuda", "libraries"),
    ("libnccl.so.2", "ncclProxyService", "comm", "nccl"),
    ("libucp.so.0", "ucp_worker_progress", "comm", "mpi"),
    ("libscipy_openblas64_-32a4b2a6.so", "sgemm_kernel_SKYLAKEX", "arithmetic", "blas"),
    ("libdnnl.so.3", "dnnl::impl::cpu::x64::brgemm", "arithmetic", "onednn"),
    ("libm.so.6", "__expf_fma", "arithmetic", "libm"),
    ("_imaging.cpython-311-x86_64-linux-gnu.so", "ImagingResample", "data", "images"),
    ("libz.so.1.2.13", None, "data", "compression"),
    ("_json.cpython-311-x86_64-linux-gnu.so", "scan_once_unicode", "data", "files and tables"),
    ("libtensorflow_cc.so.2", "tensorflow::data::MapDatasetOp::Dataset::MakeIterator", "data", "tf input pipeline"),
    ("_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "FLOAT_sqrt", "arithmetic", "numpy"),
    ("_pcg64.cpython-311-x86_64-linux-gnu.so", "pcg64_next64", "arithmetic", "random numbers"),
    ("libtorch_cpu.so", "mkl_vml_kernel_sErfInv_L9HAynn", "arithmetic", "torch kernels"),
    (
        "libtensorflow_cc.so.2",
        "Eigen::internal::gebp_kernel<float, float, long, 4>::operator()",
        "arithmetic",
        "eigen, onednn, xla kernels",
    ),
    ("word2vec_inner.cpython-311-x86_64-linux-gnu.so", None, "arithmetic", "word2vec loops"),
    ("_flapack.cpython-311-x86_64-linux-gnu.so", None, "arithmetic", "scientific libraries"),
    ("_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "PyArray_NewFromDescr", "framework", "numpy"),
    ("libtensorflow_framework.so.2", "tensorflow::OpKernelContext::allocate_output", "framework", "tensorflow"),
    ("libtorch_cpu.so", "at::CPUGeneratorImpl::random()", "framework", "torch"),
    ("libjax_common.so", "xla::HloModule::Clone", "framework", "jax"),
    ("_optree.cpython-311-x86_64-linux-gnu.so", None, "framework", "other frameworks"),
    ("libpython3.11.so.1.0", "gc_collect_main", "python", "garbage collector"),
    ("python3.12", "_PyObject_Malloc", "python", "allocator"),
    ("libpython3.11.so.1.0", "_PyEval_EvalFrameDefault", "python", "interpreter"),
    ("_struct.cpython-311-x86_64-linux-gnu.so", "s_pack", "python", "standard library"),
    ("_cyutility.cpython-311-x86_64-linux-gnu.so", None, "python", "cython modules"),
    ("libc.so.6", "__memcpy_avx512_unaligned_erms", "libc", "memory copy and set"),
    ("libc.so.6", "_int_free", "libc", "allocator"),
    ("libjemalloc.so.2", "je_malloc", "libc", "allocator"),
    ("ld-linux-x86-64.so.2", "_dl_lookup_symbol_x", "libc", "loader"),
    ("libstdc++.so.6", "std::string::append", "libc", "C and C++ library"),
    ("libcrypto.so.3", "SHA256_Update", "other", "cryptography"),
)

SPECIAL = (  # module, symbol, unresolved, kernel mode, class, group
    ("libpython3.11.so.1.0", "_PyEval_EvalFrameDefault", False, True, "kernel", "kernel"),
    (None, None, True, False, "unknown", "no module"),
    ("[Unknown]", "0x7f00", True, False, "unknown", "no module"),
    ("//anon", "0x7f00", True, False, "jit", "code in anonymous memory"),
    ("[anon:jit]", None, True, False, "jit", "code in anonymous memory"),
    ("perf-123.map", "loop", False, False, "jit", "code in anonymous memory"),
    ("/lib/libtorch_cpu.so", "0x7f00", True, False, "unknown", "unnamed in a mixed library"),
    ("/lib/libtorch_cpu.so", "_init", True, False, "framework", "torch"),
    ("/home/me/train", None, True, False, "program", "the program itself"),
    ("/home/me/plugin.so", None, False, False, "program", "the program itself"),
    ("/lib/libmystery.so.3", "work", False, False, "other", "libraries without a rule"),
    ("/lib/libmystery.so.3", "work", True, False, "unknown", "libraries without a rule or symbol"),
    ("C:\\Windows\\System32\\ntdll.dll", "NtWait", False, False, "libc", "C and C++ library"),
)


def test_every_rule_has_an_example_that_it_and_no_rule_before_it_decides() -> None:
    classifier = Classifier()
    for rule, (module, symbol, kind, group) in zip(RULES, EXAMPLES, strict=True):
        assert (rule.sample_class, rule.group) == (kind, group)
        assert classifier.classify(module, symbol, unresolved=symbol is None) == (kind, group), module
        assert re.search(rule.module, module_base(module), re.IGNORECASE), rule
        assert rule.symbol is None or re.search(rule.symbol, symbol or ""), rule


@pytest.mark.parametrize(("module", "symbol", "unresolved", "kernel_mode", "kind", "group"), SPECIAL)
def test_special_cases_go_before_and_after_the_rules(
    module: str | None, symbol: str | None, unresolved: bool, kernel_mode: bool, kind: str, group: str
) -> None:
    classifier = Classifier(programs=("plugin.so",))
    assert classifier.classify(module, symbol, unresolved=unresolved, kernel_mode=kernel_mode) == (kind, group)


def test_every_rule_names_a_class_of_the_table_and_gives_a_reason() -> None:
    assert {rule.sample_class for rule in RULES} <= set(NAMES)
    assert all(rule.reason for rule in RULES)
    assert len(set(NAMES)) == len(CLASSES)


def test_a_hostile_name_takes_no_quadratic_time() -> None:
    symbol = "Eigen::internal::" * 200_000
    assert Classifier().classify("libtensorflow_cc.so", symbol) == ("framework", "tensorflow")


def test_the_users_rules_go_before_the_built_in_ones(tmp_path: Path) -> None:
    file = tmp_path / "classes.toml"
    file.write_text('[[rule]]\nclass = "data"\ngroup = "ours"\nmodule = "^libc"\nsymbol = "memcpy"\n')
    classifier = Classifier(class_rules(file))
    assert classifier.classify("/lib/libc.so.6", "memcpy") == ("data", "ours")
    assert classifier.classify("/lib/libc.so.6", "malloc") == ("libc", "allocator")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rule = ", "this is no TOML"),
        ("rules = []", "rules: unknown key; want tables [[rule]]"),
        ("rule = 3", "rule: is no list of tables"),
        ("rule = [3]", "rule 1: want texts under class, group, module, symbol"),
        ('[[rule]]\nclass = "data"\ngroup = "g"\nmodule = "m"\nfile = "x"', "rule 1: file: unknown key"),
        ('[[rule]]\nclass = "data"\ngroup = "g"', "rule 1: module: missing"),
        ('[[rule]]\nclass = "maths"\ngroup = "g"\nmodule = "m"', "rule 1: maths: unknown class; there are arithmetic,"),
        ('[[rule]]\nclass = "data"\ngroup = "g"\nmodule = "("', "rule 1: module: this is no regular expression"),
    ],
)
def test_a_file_of_rules_that_is_wrong_says_where_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "classes.toml"
    file.write_text(text)
    with pytest.raises(ClassRulesError) as error:
        class_rules(file)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_of_rules_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClassRulesError, match=r"none\.toml: No such file"):
        class_rules(tmp_path / "none.toml")


def test_the_page_lists_every_class_and_every_rule_in_order() -> None:
    page = (Path(__file__).parents[4] / "docs" / "cpu-samples.md").read_text(encoding="utf-8")
    rows = [f"| `{each.name}` | {each.meaning} |" for each in CLASSES]
    rows += [f"| `{rule.sample_class}` | {rule.group} | {rule.reason} |" for rule in RULES]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
