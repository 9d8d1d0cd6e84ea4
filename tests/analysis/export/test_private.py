"""What in a text is private by its form, and what is not."""

import pytest

from wallsplit.export.private import instances, is_telling, names_stated, values, without


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("load /home/alice/data/x.bin", "load .../x.bin"),
        (r"open C:\Users\alice\run.py", "open .../run.py"),
        ("lambda at /home/alice/src/k.cu:35:10", "lambda at .../k.cu:35:10"),
        ("read /proc/sys/kernel/x", "read /proc/sys/kernel/x"),
        ("to alice.b@corp.example now", "to user@example.org now"),
        ("peer 10.11.12.13 lost", "peer 192.0.2.1 lost"),
        ("nsys version 2024.6.2.225", "nsys version 2024.6.2.225"),
        ("GPU-1a2b3c4d-1111-2222-3333-1a2b3c4d5e6f", "GPU-00000000-0000-0000-0000-000000000000"),
        ("nic 0a:1b:2c:3d:4e:5f", "nic 00:00:00:00:00:00"),
        ("SECRET_KEY=abc123 rest", "SECRET_KEY=… rest"),
        ("BLOCK_SIZE=128", "BLOCK_SIZE=128"),
        ("fetch https://corp.example/a?b=c now", "fetch … now"),
    ],
)
def test_private_forms_are_replaced(text: str, left: str) -> None:
    assert without(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, float*)",
        "model/layer1/attention/MatMul",
        "batch 7/10",
        "aten::mm, seq = 3, op_id = 77",
        "Epoch 3: step 12.5",
        "ampere_sgemm_128x64_tn",
    ],
)
def test_names_of_kernels_operations_and_steps_are_left_as_they_are(text: str) -> None:
    assert without(text) == text
    assert instances(text) == set()


def test_an_environment_states_users_hosts_and_telling_values() -> None:
    environment = "USER=alice\0HOME=/home/alice\0HOSTNAME=box7.corp.example\0API_TOKEN=abcdef\0TERM=xterm\0N=123456"
    assert names_stated([environment]) == {"alice", "box7.corp.example", "box7"}
    assert values(environment) == {"/home/alice", "box7.corp.example", "abcdef"}


def test_a_quoted_value_is_taken_without_its_quotes() -> None:
    assert values('DB="postgres://u:p@h/db"') == {"postgres://u:p@h/db"}


@pytest.mark.parametrize(("value", "telling"), [("forward", False), ("2024.6.2", False), ("a-b-c-d", True)])
def test_numbers_and_short_words_tell_nothing_by_themselves(value: str, telling: bool) -> None:
    assert is_telling(value) is telling
