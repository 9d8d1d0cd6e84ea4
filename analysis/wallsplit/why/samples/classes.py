"""What kinds of work a sampled CPU does, and which kind a place in code is."""

import re
from collections.abc import Sequence

from wallsplit.frozen import dataclass
from wallsplit.why.samples.rules import RULES, Rule


@dataclass(frozen=True)
class SampleClass:
    """One kind of work; `named` is False where it may be any kind, arithmetic included."""

    name: str
    meaning: str
    named: bool = True


CLASSES = (
    SampleClass("arithmetic", "BLAS, oneDNN, Eigen, XLA and torch kernels, NumPy loops, libm, random numbers"),
    SampleClass("jit", "code generated at run time, which of whose it is is not recorded", named=False),
    SampleClass("framework", "TensorFlow, PyTorch, JAX or NumPy around their kernels: dispatch, tracing, compiling"),
    SampleClass("python", "the interpreter, its allocator and garbage collector, the standard library"),
    SampleClass("program", "the program's own code", named=False),
    SampleClass("data", "image, compression, table and file libraries, TensorFlow's input pipeline"),
    SampleClass("libc", "C and C++ library: allocating, copying and filling memory, loading code"),
    SampleClass("kernel", "system calls and page faults"),
    SampleClass("cuda", "NVIDIA's driver and host libraries, outside the calls that were recorded"),
    SampleClass("comm", "MPI, UCX, NCCL's host side; progress and waiting are not told apart"),
    SampleClass("spin", "threads that turn while they wait: neither arithmetic nor overhead work"),
    SampleClass("profiler", "nsys, CUPTI and NVTX: what measuring cost, and no part of the program"),
    SampleClass("other", "libraries without a rule", named=False),
    SampleClass("unknown", "nothing is known", named=False),
)
"""In the order of their codes."""

NAMES = tuple(each.name for each in CLASSES)
CODES = {name: code for code, name in enumerate(NAMES)}
UNNAMED = tuple(CODES[each.name] for each in CLASSES if not each.named)
"""Codes of the classes that may hide arithmetic."""
VAGUE = tuple(CODES[name] for name in ("libc", "jit", "kernel", "other", "unknown"))
"""Codes of the classes that say little without their callers."""

MIXED = re.compile(
    r"^lib(tensorflow(_cc|_framework)?|torch(_cpu)?|jax_common|onnxruntime|xla\w*)\b|^_multiarray_umath|^xla_extension"
    r"|^_pywrap_tensorflow",
    re.IGNORECASE,
)
"""Libraries that hold both arithmetic and framework: a frame without a name in them says neither."""
LINKAGE = "_init"
"""The name nsys gives to calls through the linkage table: small, and the library's own."""
GENERATED = re.compile(
    r"^(//anon|\[anon|anon_inode|\[heap|\[JIT|perf-\d+\.map|memfd|\[stack|/memfd|JIT)", re.IGNORECASE
)
NO_MODULE = re.compile(r"^(\[?unknown\]?|\[broken.*|)$", re.IGNORECASE)
ADDRESS = re.compile(r"^0x[0-9a-f]+$", re.IGNORECASE)
LIBRARY = re.compile(r"\.(so|dll|pyd|dylib)\b")

SEARCHED = 10_000
"""Characters of a symbol that rules look at: real ones are shorter, and some patterns take quadratic time."""


def module_base(module: str) -> str:
    """Return the file name at the end of a module's path."""
    return module[max(module.rfind("/"), module.rfind("\\")) + 1 :]


class Classifier:
    """Tells the class and group of places in code; remembers which rules a module can meet."""

    def __init__(self, rules: Sequence[Rule] = (), programs: Sequence[str] = ()) -> None:
        """Put `rules` before the built-in ones; `programs` are base names of the profiled executables."""
        self._rules = [
            (re.compile(r.module, re.IGNORECASE), re.compile(r.symbol) if r.symbol else None, (r.sample_class, r.group))
            for r in (*rules, *RULES)
        ]
        self._programs = frozenset(programs)
        self._of_module: dict[str, list[tuple[re.Pattern[str] | None, tuple[str, str]]]] = {}

    def classify(
        self, module: str | None, symbol: str | None, *, unresolved: bool = False, kernel_mode: bool = False
    ) -> tuple[str, str]:
        """Return (class, group) of a place in code: special cases first, then the first rule that matches."""
        if kernel_mode:
            return "kernel", "kernel"
        if module is None or NO_MODULE.match(module):
            return "unknown", "no module"
        if module.strip("/") and GENERATED.match(module):
            return "jit", "code in anonymous memory"
        base = module_base(module)
        name = symbol if symbol and not unresolved and not ADDRESS.match(symbol) else None
        if name is None and symbol != LINKAGE and MIXED.search(base):
            return "unknown", "unnamed in a mixed library"
        searched = name[:SEARCHED] if name else None
        for pattern, answer in self._rules_of(base):
            if pattern is None or (searched is not None and pattern.search(searched)):
                return answer
        if base in self._programs or not LIBRARY.search(base):
            return "program", "the program itself"
        if name is not None:
            return "other", "libraries without a rule"
        return "unknown", "libraries without a rule or symbol"

    def _rules_of(self, base: str) -> list[tuple[re.Pattern[str] | None, tuple[str, str]]]:
        rules = self._of_module.get(base)
        if rules is None:
            searched = base[:SEARCHED]
            rules = [(symbol, answer) for module, symbol, answer in self._rules if module.search(searched)]
            self._of_module[base] = rules
        return rules
