"""Phases of a run by its NVTX ranges' names: a table, and the user's rules in front (docs/idle-time.md)."""

import re
from pathlib import Path

from wallsplit.errors import PhaseRulesError
from wallsplit.frozen import dataclass

MPI = "mpi"
"""The phase of MPI calls: no name decides it."""


@dataclass(frozen=True)
class PhaseRule:
    """Range names whose `words` hold the pattern belong to the phase."""

    phase: str
    pattern: re.Pattern[str]
    seen_in: str = ""
    """Where names like these come from."""


PhaseRules = tuple[PhaseRule, ...]
"""The first rule that matches decides."""


def _rule(phase: str, alternatives: str, seen_in: str = "") -> PhaseRule:
    """Return the rule of a pattern that matches whole words only; `#` is no letter, so no word goes on behind it."""
    return PhaseRule(phase, re.compile(rf"(?<![a-z])(?:{alternatives})(?![a-z])"), seen_in)


PHASES = (
    _rule(
        "compile",
        r"compil(?:e|es|ing|ation|er)|nvrtc|autotun\w*|dynamo|inductor|graph capture|capture graph|tracing|lowering",
        'XLA\'s TSL:XlaCompile, nvFuser, torch.compile, capturing CUDA graphs; not "compiled": that runs',
    ),
    _rule(
        "comm",
        r"nccl\w*|mpi|all ?reduce|all ?gather\w*|reduce ?scatter\w*|all ?to ?all\w*|broadcast|barrier|halo"
        r"|grads all reduce|p2p|send|recv",
        "the domains of NCCL and MPI, FSDP, DeepSpeed, Megatron's grads-all-reduce",
    ),
    _rule(
        "data",
        r"data ?loader|data(?! parallel)|dataset|load (?:batch|data)|next batch|get batch|batch generator|fetch"
        r"|prefetch\w*|reader|collate|augment\w*|decod\w* (?:image|jpeg|png|webp|video|audio|frame)s?"
        r"|(?:image|jpeg|png|webp|video|audio|frame)s? decod\w*|tokeniz\w*|iterator get next|input pipeline"
        r"|train dataloader next|ingest",
        "PyTorch's enumerate(DataLoader), Lightning, TensorFlow's IteratorGetNext, Megatron's batch-generator; "
        "not a language model's decode",
    ),
    _rule(
        "checkpoint",
        r"checkpoint(?! wrapped)|save (?:model|state|checkpoint)|load state dict",
        "saving and restoring the model; not FSDP's checkpoint-wrapped modules",
    ),
    _rule(
        "validation",
        r"valid(?:ation|ate)?|val|eval(?:uate(?! function)|uation)?|test (?:step|epoch|loop|batch)",
        "Lightning, Megatron's evaluate; not autograd's \"evaluate function\"",
    ),
    _rule(
        "metrics",
        r"metrics?|log(?:ging|ger)?|item|is nonzero|local scalar dense|accuracy|callback|progress|print|tensorboard"
        r"|report",
        "PyTorch's aten::item, callbacks, loggers",
    ),
    _rule(
        "optimizer",
        r"optimi[sz]er|zero grad|update|weight update|apply gradients|clip grad\w*|resource apply\w*|sgd|adamw?",
        "PyTorch's Optimizer.step#SGD.step, TensorFlow's ResourceApply…",
    ),
    _rule(
        "backward",
        r"backward|bwd|gradients?|autograd|bprop",
        "PyTorch's autograd::engine::…, DeepSpeed",
    ),
    _rule("loss", r"loss|criterion|cross entropy", "training loops' own names"),
    _rule("forward", r"forward|fwd|inference|predict|fprop", "training loops' own names, FSDP, DeepSpeed"),
    _rule(
        "transfer",
        r"h2d|d2h|hto?d|dto?h|h # d|memcpy|memory copy|to device|transfer",
        "training loops' own names",
    ),
    _rule(
        "setup",
        r"init(?:iali[sz]e|iali[sz]ation)?|setup|warm ?up|load model|build|allocation|deallocation",
        "training loops' own names",
    ),
    _rule(
        "step",
        r"steps?|iter(?:ation)?|batch|minibatch|epoch|train(?:ing)?|replay",
        "outer ranges: what no finer one claims",
    ),
)
"""The first rule that matches decides."""

PHASE_NAMES = (*(rule.phase for rule in PHASES), MPI)

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGITS = re.compile(r"\d+")
_NO_LETTERS = re.compile(r"[^a-zA-Z#]+")
_CAPITAL = re.compile(r"(?<!\\)[A-Z]")


def words(name: str) -> str:
    """Return a name as lower-case words: camelCase split, numbers as `#`, all else that is no letter as a space.

    `FSDP::pre_forward (blocks.7._x)` → `fsdp pre forward blocks # x`.
    """
    split = _DIGITS.sub(" # ", _HUMP.sub(" ", name))
    return " ".join(_NO_LETTERS.sub(" ", split).lower().split())


def phase_of(name: str, rules: tuple[PhaseRule, ...] = PHASES) -> str | None:
    """Return the phase of a range's name, `DOMAIN:` in front where it has one; None where no rule matches."""
    text = words(name)
    return next((rule.phase for rule in rules if rule.pattern.search(text)), None)


def phase_rules(path: Path) -> tuple[PhaseRule, ...]:
    """Return the rules of a TOML file, in its order, with the table's behind them.

    Each key is a phase, its value a regular expression, or a list of them, that whole words of a name match:
    `data = ["shard reader", "unpack"]`.

    Raises:
        PhaseRulesError: the file cannot be read, or has a key that is no phase, or a value that is no such expression.
    """
    import tomllib  # few have a file of their own

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PhaseRulesError(f"{path}: {error.strerror or 'cannot be read'}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PhaseRulesError(f"{path}: this is no TOML ({' '.join(str(error).split())})") from error
    own = [_own(path, phase, value) for phase, value in table.items()]
    return (*(rule for rules in own for rule in rules), *PHASES)


def _own(path: Path, phase: str, value: object) -> list[PhaseRule]:
    known = PHASE_NAMES[:-1]
    if phase not in known:
        raise PhaseRulesError(f"{path}: {phase!r} is no phase; the phases are {', '.join(known)}")
    patterns = value if isinstance(value, list) else [value]
    return [_checked(path, phase, pattern) for pattern in patterns]


def _checked(path: Path, phase: str, pattern: object) -> PhaseRule:
    if not isinstance(pattern, str) or not pattern.strip():
        raise PhaseRulesError(
            f'{path}: {phase}: {pattern!r} is no regular expression; write {phase} = ["shard reader"]'
        )
    if _CAPITAL.search(pattern):
        raise PhaseRulesError(
            f"{path}: {phase}: {pattern!r} has capital letters, but names are matched as lower-case words; "
            f"write {words(pattern)!r}"
        )
    try:
        return _rule(phase, pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PhaseRulesError(f"{path}: {phase}: {pattern!r} is no regular expression ({error})") from error
