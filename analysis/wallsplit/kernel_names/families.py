"""What kind of work a kernel does, by its name: "matmul or everything else?" is what most people ask first."""

import re
from functools import lru_cache

from wallsplit.frozen import dataclass
from wallsplit.kernel_names.anatomy import anatomy
from wallsplit.model.communication import communication_library

FAMILIES = (
    "gemm",
    "conv",
    "attention",
    "elementwise",
    "reduction",
    "norm",
    "softmax",
    "copy/layout",
    "optimizer",
    "communication",
    "sort/scan",
    "random",
    "other",
)
"""Every family, in the order of the table of a trace that has them all in equal parts."""


@dataclass(frozen=True)
class Rule:
    """Kernels whose path or operation the pattern finds, ignoring case, are of the family."""

    family: str
    pattern: str
    why: str


RULES = (
    # Names that say outright what runs, and code generators that list every operation they fused.
    Rule(
        "attention",
        r"flash|fmha|attention|attn|\bmha_|_mha\b|sdpa|mla_|BatchDecode|BatchPrefill|paged_kv",
        "FlashAttention, xFormers, cuDNN's SDPA, FlashInfer, vLLM: products and softmax fused",
    ),
    Rule("softmax", r"^triton_\w*softmax", "Inductor's fusions: what it normalises with decides"),
    Rule("norm", r"^triton_(red|per)_\w*norm", "Inductor: a persistent or looped reduction of a normalisation"),
    Rule("reduction", r"^triton_(red|per)_", "Inductor: red reduces in a loop, per within a block"),
    Rule("conv", r"^triton_tem_\w*conv", "Inductor: tem is a template, here of a convolution"),
    Rule("gemm", r"^triton_tem_|^triton_(mm|bmm|addmm)", "Inductor: tem is a template, most are matrix products"),
    Rule("optimizer", r"^triton_for_", "Inductor: for is a foreach kernel, as compiled optimizers make"),
    Rule("elementwise", r"^triton_poi_", "Inductor: poi is pointwise"),
    Rule("gemm", r"^(gemm|cublas|triton_gemm|__cublas)_?\w*fusion|^triton_gemm", "XLA: a product with its epilogue"),
    Rule("softmax", r"^triton_softmax", "XLA: its Triton emitter of softmax and of normalisations"),
    Rule("reduction", r"^(input_|wrapped_)?\w*reduce\w*(fusion)?[_\d]*$", "XLA: fusions are named after their root"),
    Rule(
        "copy/layout",
        r"^(input_|loop_|wrapped_)?(transpose|copy|concatenate|convert|slice|dynamic_slice|pad|gather|"
        r"scatter|broadcast(?!_kernel)|reshape|dynamic_update_slice|bitcast)(_\w+)?(_fusion)?[_\d]*$",
        "XLA: HLO that moves data",
    ),
    Rule(
        "elementwise",
        r"^loop_\w*fusion|^wrapped_|^(add|subtract|multiply|divide|exponential|log|tanh|select|compare|"
        r"maximum|minimum|negate|shift_\w+|and|or|xor|not|power|rsqrt|sqrt|iota|clamp)(_fusion)?[_\d]*$",
        "XLA: HLO that computes element by element",
    ),
    Rule("gemm", r"nvfuser_matmul", "nvFuser names its scheduler"),
    Rule("copy/layout", r"nvfuser_(transpose|no_?op|resize)", "nvFuser names its scheduler"),
    Rule("elementwise", r"nvfuser_pointwise", "nvFuser names its scheduler"),
    Rule("reduction", r"nvfuser_", "nvFuser: its other schedulers reduce, persistent ones normalise too"),
    # What a library's kernel does, the most telling word first.
    Rule(
        "optimizer",
        r"multi_tensor_apply|adam|adagrad|adadelta|rms_?prop|\blamb(?!da)|momentum|sgd(?!emm)|"
        r"ema_step|optimizer|lion_",
        "torch._foreach and Apex update many tensors at once; others name the method",
    ),
    Rule(
        "norm",
        r"(layer|rms|batch|group|instance|l2)_?norm|\bbn_|_bn_|welford|GammaBeta|norm_?(fwd|bwd|forward|"
        r"backward)|LayerNorm|\bln_(fwd|bwd)",
        "PyTorch, Apex, TransformerEngine, cuDNN (bn_fw, bn_bw)",
    ),
    Rule(
        "softmax", r"soft_?max|cross_?entropy|logsumexp", "PyTorch's cunn_SoftMax and softmax_warp, losses over classes"
    ),
    Rule(
        "sort/scan",
        r"sort|scan(?!line)|top_?k|unique|histogram|bincount|cumsum|cumprod|searchsorted|DeviceSelect|"
        r"DevicePartition|DeviceRunLength|DeviceMerge|kth_?value|nonzero|compact|prefix_?sum|bitonic|mode_kernel",
        "CUB, Thrust, PyTorch: order, prefixes and selection",
    ),
    Rule(
        "random",
        r"random|philox|threefry|curand|dropout|bernoulli|(?<!non)uniform|\bnormal\b|normal_kernel|multinomial|"
        r"distribution_|xorwow|\brng|pcg32|exponential_kernel|generate_seed",
        "Random numbers, and dropout's masks",
    ),
    Rule(
        "conv",
        r"conv(?!ert|ex)|fprop|dgrad|wgrad(?!_gemm)|winograd|c?udnn_|scudnn|hcudnn|icudnn|im2col|col2im|"
        r"im2col4d|flip_filter|fft[12]d_|DSE/(vector|regular)_fft|cudnn/gemm/|depthwise|nhwc_?tensor_?op",
        "cuDNN and CUTLASS by their words for the three passes; cuDNN's FFT and Winograd algorithms and their helpers",
    ),
    Rule(
        "reduction",
        r"dot_kernel|reduce_1Block|asum_|nrm2_|iamax|iamin",
        "cuBLAS: norms, sums and dot products of vectors",
    ),
    Rule(
        "gemm",
        r"split_?k_?reduce|ReduceSplitK|gemm|gemv|nvjet|matmul|\bmm_|_mm_|\bmm\b|xmma|cutlass_\d\d_|mlp_fused|mlp_forward|linear_kernel|"
        r"symm|syrk|trsm|trmm|moe_|grouped_mm|dequantize_mul_mat|mul_mat|mmq_|mmvq|marlin|awq_|gptq|bitsandbytes",
        "cuBLAS (nvjet: since CUDA 12.6), CUTLASS, tiny-cuda-nn; quantised products; the sum that ends a split-k one",
    ),
    Rule(
        "copy/layout",
        r"copy|memcpy|memset|fill|transpose|permute|concat|CatArray|\bcat_|gather|"
        r"scatter|(?<!with_)index|(?<!rotary_)embedding|\bpad|_pad\b|padding|nchw_?to|nhwc_?to|convert|\bcast|_cast\b|\bflip|\broll\b|\broll_|slice|"
        r"stack|\btri[ul]|triu_tril|Shuffle|SwapDimension|reshape|pack_|unpack|upsample|interpolate|swizzle|"
        r"quantize|redistribut",
        "Moves, sets, reorders or converts data and computes nothing else",
    ),
    Rule(
        "reduction",
        r"reduc|\bsum\b|_sum\b|\bmean\b|MeanOps|MaxOps|MinOps|arg_?(max|min)|\bnorm\b|NormOps|nll_loss|"
        r"_loss|pool|\bdot\b|mapreduce|count_|all_any|var_mean|std_var",
        "Many values become few; losses and pooling",
    ),
    Rule(
        "elementwise",
        r"elementwise|pointwise|element_wise|EigenMeta|broadcast|functor|unary|binary|gelu|relu|silu|"
        r"swiglu|geglu|swish|sigmoid|tanh|act_and_mul|activation|bias|rotary|rope|cupy_|axpy|scal_kernel|axpby|"
        r"vector_?add|saxpy|\badd\b|\bmul\b|add_one|clamp|where|\bexp\b|\bpow\b|\bscale|amp_|map_kernel|ufunc",
        "Each result from the values at one place",
    ),
)
"""The one table; the first rule that matches decides. Communication comes before it (model/communication.py)."""


@lru_cache(maxsize=8_192)
def family(name: str) -> str:
    """Return the family, one of `FAMILIES`, of a kernel by its name, mangled or not."""
    parts = anatomy(name)
    if communication_library(name) or communication_library(parts.whole):
        return "communication"
    path = "/".join(parts.path)
    operations = " ".join(operation.name for operation in parts.operations)
    subject = f"{path} {operations}" if operations else path
    return next((rule.family for rule in RULES if re.search(rule.pattern, subject, re.IGNORECASE)), "other")
