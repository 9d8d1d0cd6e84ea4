"""What a kernel's name says: which template, on which types, with which operation inside."""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from wallsplit.frozen import dataclass
from wallsplit.kernel_names.demangling import demangled
from wallsplit.kernel_names.signature import Part, Signature

DEEPEST = 12
"""Template arguments within template arguments that are searched for an operation."""

_NUMBERS = (
    r"(?:(?:un)?signed )?(?:char|short|int|long(?: long|(?= double) double)?)|u?int\d+_t|bool|float|double|half|__half"
    r"|__nv_bfloat16|(?:BFloat|b?float|bfloat|Half|half|tfloat)\d*(?:_t)?|(?:Float8|float)_?e\dm\d\w*"
    r"|(?:float|double|half|int|__half|__nv_bfloat16)[234]|complex<\w+>"
)
_NUMBER = re.compile(rf"(?:const )?(?:\w+::)*({_NUMBERS})(?: const)?")
_ENTRY_POINTS = frozenset(
    {"Kernel", "Kernel2", "kernel", "device_kernel", "_kernel_agent", "run_kernel", "kernel_agent"}
    | {"enable_sm90", "enable_sm90_or_later", "enable_sm80_to_sm89", "enable_sm100f_only"}
)
"""Templates that only call their first argument, or that bear the name of what they are in."""
_OPERATION = re.compile(
    r"\w*[Ff]unctor\w*|\w+(Ops?|_op|_func|_kernel_impl|_kernel_cuda|Epilogue|Distribution)|Copy|Sqrt|Exp|Reciprocal\w*"
    r"|plus|minus|multiplies|divides|negate|modulus|logical_\w+"
)
"""Names of functors: PyTorch's, Eigen's, TensorFlow's and those of the standard library."""
_SUFFIX = re.compile(
    r"(?<=\w\w)(?:_kernel_cuda|_kernel_impl|_kernel|_cuda_kernel|_cuda_out|_cuda|Kernel|KernelLaunch|CUDAKernelImpl)$"
)
_CLONE = re.compile(r"( \[clone [^\]]*\])+$")


@dataclass(frozen=True)
class Operation:
    """What a template does to the data: `MulFunctor<float>`, and what carries it there, outermost first."""

    name: str
    types: tuple[str, ...]
    carriers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return with_types(self.name, self.types)


@dataclass(frozen=True)
class Anatomy:
    """The parts of a kernel's name that people go by."""

    whole: str
    """The name, demangled."""
    path: tuple[str, ...]
    """Namespaces and template, without their arguments; of an entry point, the path of what it calls."""
    types: tuple[str, ...]
    """The distinct number types among the template arguments."""
    arguments: tuple[str, ...]
    """The template arguments, as they are written."""

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """What the template does to the data, where an argument says so; not for a library's own building blocks."""
        return () if self.path[0] == "cutlass" else tuple(_operations(self.arguments, DEEPEST))

    @property
    def template(self) -> str:
        """The template's own name, without the word kernel."""
        return without_kernel(self.path[-1])


@lru_cache(maxsize=8_192)
def anatomy(name: str) -> Anatomy:
    """Return what a name says, mangled or not; any text has one."""
    whole = _CLONE.sub("", demangled(name) or name)
    path = Signature.of(whole).path
    path = tuple(part for part in path if not part.is_lambda) or path
    called = _called(path)
    names = tuple(part.name for part in called)
    arguments = called[-1].arguments or path[-1].arguments
    return Anatomy(whole, names, number_types(arguments), arguments)


def with_types(name: str, types: tuple[str, ...]) -> str:
    """Return the name with its types in angle brackets, if there are any."""
    return f"{name}<{', '.join(types)}>" if types else name


def without_kernel(name: str) -> str:
    """Return the name of a template or a function without the word kernel at its end."""
    return _SUFFIX.sub("", name)


def number_type(text: str) -> str | None:
    """Return the number type that a template argument is, without namespaces; None for any other argument."""
    found = _NUMBER.fullmatch(text)
    return found[1] if found else None


def number_types(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct number types among template arguments, in their order, at most three."""
    return tuple(dict.fromkeys(found for text in arguments if (found := number_type(text))))[:3]


def _called(path: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the path of what an entry point runs: its first argument, else the namespace it is in."""
    for _ in range(DEEPEST):
        if path[-1].name not in _ENTRY_POINTS:
            return path
        first = path[-1].arguments[:1]
        if not first or number_type(first[0]):
            return path[:-1] or path
        path = Signature.of(first[0]).path
    return path


def _operations(arguments: tuple[str, ...], deepest: int) -> Iterator[Operation]:
    """Yield the operations among template arguments, each the innermost of its argument."""
    for text in arguments if deepest else ():
        if number_type(text) is None and (operation := _operation(Signature.of(text).path, deepest)):
            yield operation


def _operation(path: tuple[Part, ...], deepest: int) -> Operation | None:
    """Return the operation that an argument is: a functor, or the function that a lambda was written in."""
    named = [part for part in path if not (part.is_lambda or part.name.startswith("operator"))]
    if not named:
        return None
    is_function = len(named) < len(path)
    is_functor = named[-1].name == "functor" and len(named) > 1  # Thrust's are called after the struct around them
    own = named[-2] if is_functor else named[-1]
    if inner := next(_operations(own.arguments, deepest - 1), None):
        return Operation(inner.name, inner.types, (own.name, *inner.carriers))
    if not (is_function or is_functor or _OPERATION.fullmatch(own.name)):
        return None
    takes = next((part.takes for part in reversed(path) if part.is_lambda), ())
    return Operation(without_kernel(own.name), number_types(own.arguments) or number_types(takes))
