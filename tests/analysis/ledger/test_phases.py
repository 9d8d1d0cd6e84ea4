"""Names of ranges, and the phases they stand for."""

from pathlib import Path

import pytest

from wallsplit.errors import PhaseRulesError
from wallsplit.ledger.phases import PHASE_NAMES, PHASES, phase_of, phase_rules, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FSDP::pre_forward (blocks.7._x)", "fsdp pre forward blocks # x"),
        ("DataLoader#_SingleProcessIter.__next__", "data loader# single process iter next"),
        ("TSL:XlaCompile", "tsl xla compile"),
        ("HTTPServer2Go", "http server # go"),
        ("größe_12", "gr e #"),
        ("", ""),
        ("::__--", ""),
    ],
)
def test_a_name_becomes_its_lower_case_words(name: str, expected: str) -> None:
    assert words(name) == expected


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("TSL:XlaCompile", "compile"),
        ("CompiledFxGraph", None),  # what was compiled runs
        ("graph_capture", "compile"),
        ("NCCL:ncclAllReduce", "comm"),
        ("grads-all-reduce", "comm"),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data"),
        ("DataParallel.scatter", None),
        ("IteratorGetNext", "data"),
        ("decode_jpeg", "data"),
        ("decode", None),  # a language model's
        ("batch-generator", "data"),
        ("FSDP checkpoint_wrapped_module", None),
        ("save_checkpoint", "checkpoint"),
        ("evaluate", "validation"),
        ("autograd::engine::evaluate_function: AddmmBackward0", "backward"),
        ("test_step", "validation"),
        ("aten::item", "metrics"),
        ("Optimizer.step#SGD.step", "optimizer"),
        ("zero_grad", "optimizer"),
        ("DeepSpeed:bwd", "backward"),
        ("CrossEntropyLoss", "loss"),
        ("FSDP::pre_forward (blocks.7._x)", "forward"),
        ("H2D", "transfer"),
        ("h2d", "transfer"),
        ("warmup", "setup"),
        ("step 7", "step"),
        ("epoch_3", "step"),
        ("transformer block", None),
        ("", None),
    ],
)
def test_a_name_has_the_phase_of_the_first_rule_its_words_match(name: str, phase: str | None) -> None:
    assert phase_of(name) == phase


def test_each_phase_has_one_rule_and_only_mpi_has_none() -> None:
    assert [rule.phase for rule in PHASES] == list(PHASE_NAMES[:-1])
    assert len(set(PHASE_NAMES)) == len(PHASE_NAMES)
    assert all(rule.seen_in for rule in PHASES)


def test_a_hostile_name_costs_no_more_than_its_length() -> None:
    """A pattern that tries each pair of places would not come back from this."""
    for hostile in ("nccl" * 500_000, "decode " * 300_000, "aA1" * 700_000, "# " * 1_000_000):
        assert phase_of(hostile) in {"comm", None}


def rules_of(folder: Path, text: str) -> Path:
    path = folder / "phases.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_users_rules_come_first_in_the_order_of_the_file(tmp_path: Path) -> None:
    rules = phase_rules(rules_of(tmp_path, 'metrics = "gather stats"\ncomm = ["gather", \'ring # hop\']\n'))
    assert phase_of("GatherStats", rules) == "metrics"
    assert phase_of("gather", rules) == "comm"
    assert phase_of("ring_2_hop", rules) == "comm"
    assert phase_of("gathering", rules) is None  # whole words
    assert phase_of("backward", rules) == "backward"


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert phase_rules(rules_of(tmp_path, "")) == PHASES


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('dtaa = "x"', "'dtaa' is no phase; the phases are compile, comm, data"),
        ('mpi = "x"', "'mpi' is no phase"),
        ("data = 3", "data: 3 is no regular expression"),
        ('data = ""', "data: '' is no regular expression"),
        ('data = ["x", ["y"]]', "data: ['y'] is no regular expression"),
        ('[data]\nx = "y"', "data: {'x': 'y'} is no regular expression"),
        ('data = "(x"', "data: '(x' is no regular expression (missing )"),
        ('data = "ShardReader"', "write 'shard reader'"),
        ("data = ", "this is no TOML"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    path = rules_of(tmp_path, text)
    with pytest.raises(PhaseRulesError) as refused:
        phase_rules(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert says in message
    assert "\n" not in message


def test_a_missing_or_binary_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(PhaseRulesError, match="No such file"):
        phase_rules(tmp_path / "none.toml")
    binary = tmp_path / "phases.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PhaseRulesError, match="this is no TOML"):
        phase_rules(binary)
