"""Short labels of kernels: what a person needs to tell one from another; the full name is never far."""

import re
from collections import defaultdict
from collections.abc import Sequence

from wallsplit.kernel_names.anatomy import Anatomy, anatomy, with_types
from wallsplit.text import visible, whole_words

LONGEST = 80
"""Characters of a label."""

_DIFFERENCE = 40
"""Characters that may tell equal labels apart."""

NUMBER_FORMATS = (
    ("bf16", r"bf16|bfloat16|nvjet_t"),
    ("fp8", r"e4m3|e5m2|fp8|float_e\dm\d|nvjet_q"),
    ("tf32", r"tf32|tfloat32|tensorop_s1688(?!\w*f16)"),
    ("f16", r"fp16|f16|half_t|__half|hgemm|h\d{3,5}gemm|hcudnn|nvjet_h"),
    ("i8", r"int8|i8|igemm|imma|i\d{4,5}gemm|icudnn"),
    ("f64", r"dgemm|f64|d\d{3,4}gemm|double|nvjet_d"),
    ("c64", r"(?<![a-z])g?cgemm"),
    ("c128", r"(?<![a-z])g?zgemm"),
    ("f32", r"sgemm|f32|scudnn|ffma|float|nvjet_s"),
)
"""How names of matrix kernels spell the numbers they multiply, as cuBLAS and CUTLASS do; the first match wins."""
_FORMATS = tuple((label, re.compile(pattern)) for label, pattern in NUMBER_FORMATS)

_MATRIX = re.compile(
    r"(maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell|sm\d+|cutlass)_\w*(gemm|cudnn|fprop|dgrad|wgrad)|nvjet_"
)
_CONVOLUTION = re.compile(r"fprop|dgrad|wgrad|cudnn|conv")
_TILE = re.compile(r"(?:tilesize|_)(\d+x\d+)")
_SHAPE = re.compile(r"(?:GemmShape<|tuple<cute::C<)(?:\(int\))?(\d\d+)>?, (?:cute::C<)?(?:\(int\))?(\d\d+)")
_SHORTER = {
    "vectorized_elementwise": "elementwise",
    "unrolled_elementwise": "elementwise",
    "elementwise_kernel_with_index": "elementwise",
    "index_elementwise": "index",
    "_scatter_gather_elementwise": "scatter_gather",
    "distribution_elementwise_grid_stride": "random",
    "EigenMeta": "eigen",
}
"""Templates whose variants differ in how they walk the data, not in what they do to it."""
_LIBRARY = re.compile(r"\b(cudnn|cublas|cub|thrust|cutlass)(?:Lt)?::")
_LIBRARY_PARAMETER = re.compile(r"\b(cudnn|cublas)\w*(?:Params|Struct|_params)\b|(cudnn)::reduced_divisor")
_NCCL = re.compile(r"nccl(?:Dev)?Kernel_(\w+)|nccl([A-Za-z]+?)(Ring|Tree|CollNet)(LL128|LL|Simple)?Kernel_(\w+)")
_NCCL_NUMBERS = {
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "bfloat16": "bf16",
    "int8": "i8",
    "int32": "i32",
    "int64": "i64",
    **{
        kind: kind for kind in ("i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2")
    },
}
_NCCL_WAYS = frozenset({"ring", "tree", "collnet", "direct", "chain", "nvls", "pat"})
_NCCL_REDUCTIONS = frozenset({"prod", "min", "max", "minmax", "premulsum", "sumpostdiv"})
_NAMESPACE = re.compile(r"\w+::")
_WORD = re.compile(r"\w+")
_SHORT_WORD = re.compile(r"[^\W_]+")


def labels(names: Sequence[str]) -> list[str]:
    """Return a label for each of several names: different names get different ones, at most `LONGEST` characters.

    Names of equal labels are told apart by the template that carries the operation, else by the words that differ, else
    by a number in their own order.
    """
    found = {name: label(name) for name in names}
    for refine in (_by_carrier, _by_words):
        for group in _alike(found):
            found |= refine(group, found[group[0]])
    taken = set(found.values())
    for group in _alike(found):
        for name in group[1:]:
            found[name] = _counted(found[name], taken)
            taken.add(found[name])
    return [found[name] for name in names]


def label(name: str) -> str:
    """Return what one kernel runs, in at most `LONGEST` characters: `elementwise · MulFunctor<float>`."""
    parts = anatomy(name)
    text = _communication(parts) or _matrix(parts) or _template(parts, _SHORTER.get(parts.template, parts.template))
    return _one_line(text)


def _template(parts: Anatomy, template: str, carrier: str | None = None) -> str:
    """Return a template with what it does to the data, else with its number types, and the library it is of."""
    operations = list(dict.fromkeys(map(str, parts.operations)))[:2]
    if not operations:
        text = with_types(template, parts.types)
    elif parts.operations[0].name == template:
        text = " · ".join(operations)
    else:
        text = " · ".join((template, *operations))
    if carrier:
        text += f" in {carrier}"
    library = _LIBRARY.search("::".join((*parts.path, ""))) or _LIBRARY_PARAMETER.search(parts.whole)
    return f"{text} ({library[1] or library[2]})" if library else text


def _matrix(parts: Anatomy) -> str | None:
    """Return a matrix product or convolution of a library with its numbers and tile: `gemm bf16 128x64 (cublas)`."""
    name = parts.path[-1]
    tile = _TILE.search(name)
    if _MATRIX.match(name):
        source, size = name, tile and tile[1]
    elif "cutlass" in parts.whole and re.search("gemm|conv", "/".join(parts.path), re.IGNORECASE):
        source, shape = parts.whole, _SHAPE.search(parts.whole)
        size = shape and f"{shape[1]}x{shape[2]}"
    else:
        return None
    convolution = _CONVOLUTION.search("/".join(parts.path))
    library = "cutlass" if "cutlass" in parts.whole else "cudnn" if convolution else "cublas"
    kind = "gemm" if convolution is None else "conv"
    way = convolution[0] if convolution and convolution[0].endswith("grad") else None
    numbers = next((numbers for numbers, pattern in _FORMATS if pattern.search(source)), None)
    return " ".join(word for word in (kind, way, numbers, size, f"({library})") if word)


def _communication(parts: Anatomy) -> str | None:
    """Return an operation of NCCL with its numbers and algorithm: `ncclAllReduce f32 ring`."""
    match = _NCCL.match(parts.path[-1])
    if match is None:
        return None
    operation, *words = (match[1] or "_".join(filter(None, match.groups()[1:]))).split("_")
    numbers = [_NCCL_NUMBERS[word] for word in words if word in _NCCL_NUMBERS]
    lower = [word.lower() for word in words]
    reduction = [word for word in lower if word in _NCCL_REDUCTIONS]
    return " ".join([f"nccl{operation}", *reduction, *numbers, *(word for word in lower if word in _NCCL_WAYS)])


def _alike(found: dict[str, str]) -> list[list[str]]:
    """Return the names that share a label, a list for each such label, in the names' own order."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(found):
        groups[found[name]].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _by_carrier(group: Sequence[str], shared: str) -> dict[str, str]:
    """Return labels with the whole template's name and, where they differ in it, with what carries the operation."""
    every = [anatomy(name) for name in group]
    if not all(parts.operations for parts in every):
        return {}
    carriers = [next(reversed(parts.operations[0].carriers), None) for parts in every]
    if len(set(carriers)) == 1:
        carriers = [None for _ in carriers]
    rows = zip(group, every, carriers, strict=True)
    return {name: _one_line(_template(parts, parts.template, carrier)) for name, parts, carrier in rows}


def _by_words(group: Sequence[str], shared: str) -> dict[str, str]:
    """Return the shared label followed by the words of each name that not all have; as it was where these are many."""
    texts = [_NAMESPACE.sub("", anatomy(name).whole) for name in group]
    words = [(_WORD if any("<" in text for text in texts) else _SHORT_WORD).findall(text) for text in texts]
    if len({len(row) for row in words}) == 1:
        differing = [at for at, column in enumerate(zip(*words, strict=True)) if len(set(column)) > 1]
        rows = [[row[at] for at in differing] for row in words]
    else:
        shared_words = set(words[0]).intersection(*words[1:])
        rows = [[word for word in row if word not in shared_words] for row in words]
    marks = [visible(" ".join(dict.fromkeys(row))) for row in rows]
    if max(map(len, marks)) > _DIFFERENCE:
        return {}
    return {
        name: f"{_cut(shared, LONGEST - len(mark) - 3)} [{mark}]" if mark else shared
        for name, mark in zip(group, marks, strict=True)
    }


def _counted(shared: str, taken: set[str]) -> str:
    marks = (f" ({number})" for number in range(2, len(taken) + 3))
    return next(text for mark in marks if (text := _cut(shared, LONGEST - len(mark)) + mark) not in taken)


def _one_line(text: str) -> str:
    return _cut(" ".join(visible(text).split()) or "(no name)", LONGEST)


def _cut(text: str, limit: int) -> str:
    """Return the text up to the last whole word that leaves room for an ellipsis."""
    return text if len(text) <= limit else f"{whole_words(text, limit - 1).rstrip(' ·_,<([')}…"
