"""The one sentence."""

import re
from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from analyses import cpu_ledger, ledger
from wallsplit.accounts import ACCOUNTS
from wallsplit.ledger.ledger import Window
from wallsplit.words.headline import account_percents, headline, of_gpus, shares

SECOND = 1_000_000_000
WINDOW = Window("cuda", 0, SECOND)


def test_it_names_the_parts_that_took_time_and_leaves_out_the_others() -> None:
    one = ledger(gpu_kernel=1734, gpu_memset=65, cuda_launch=300, cuda_sync=199, host=1063)
    assert headline([one], Window("cuda", 0, 3_360_651_881)) == (
        "3.361 s of wall time: GPU computing 51.6 %, GPU copying 1.9 %, CUDA calls with the GPU idle 14.9 %, "
        "host code with the GPU idle 31.6 %"
    )


def test_graphs_recorded_as_a_whole_are_computing() -> None:
    assert "GPU computing 99.9 %" in headline([ledger(gpu_graph=999, host=1)], WINDOW)


def test_a_part_that_rounds_to_zero_is_left_out() -> None:
    assert headline([ledger(gpu_kernel=99_999, host=1)], WINDOW) == "1.000 s of wall time: GPU computing 100.0 %"


def test_several_gpus_give_their_mean() -> None:
    two = [ledger(0, gpu_kernel=80, host=20), ledger(1, gpu_kernel=60, host=40)]
    assert headline(two, WINDOW) == (
        "1.000 s of wall time on 2 GPUs: GPU computing 70.0 %, host code with the GPU idle 30.0 %"
    )


def test_a_shared_gpu_is_told_of_by_the_process_that_used_it_most() -> None:
    two = [
        ledger(0, pid=1, gpu_kernel=30, gpu_other=60, host=10),
        ledger(0, pid=2, gpu_kernel=60, gpu_other=30, host=10),
    ]
    assert headline(two, WINDOW) == (
        "1.000 s of wall time on 1 GPU that 2 processes share, as process 2 sees it: GPU computing 60.0 %, "
        "GPU working for another process 30.0 %, host code with the GPU idle 10.0 %"
    )


def test_of_processes_that_used_a_gpu_equally_the_lower_id_speaks() -> None:
    two = [ledger(0, pid=7, gpu_kernel=50, host=50), ledger(0, pid=5, gpu_memcpy=50, host=50)]
    assert [one.pid for one in of_gpus(two)] == [5]


def test_stray_contexts_do_not_dilute_the_mean() -> None:
    """Four ranks, and each left a small copy on GPU 0."""
    ranks = [ledger(gpu, pid=gpu, gpu_kernel=80, host=20) for gpu in range(4)]
    strays = [ledger(0, pid=pid, gpu_memcpy=1, gpu_other=80, host=19) for pid in (1, 2, 3)]
    assert headline([*ranks, *strays], WINDOW) == (
        "1.000 s of wall time on 4 GPUs, each as the process sees it that used it most: GPU computing 80.0 %, "
        "host code with the GPU idle 20.0 %"
    )


def test_device_0_of_two_processes_may_be_two_gpus() -> None:
    two = [replace(ledger(0, pid=pid, gpu_kernel=pid, host=10 - pid), gpu=pid) for pid in (1, 9)]
    assert headline(two, WINDOW).startswith("1.000 s of wall time on 2 GPUs: GPU computing 50.0 %")


def test_unrecorded_work_of_another_process_makes_idle_time_an_upper_bound() -> None:
    two = [
        ledger(0, pid=1, gpu_kernel=60, gpu_other=10, host=30),
        ledger(0, pid=2, complete=False, gpu_kernel=10, gpu_other=60, host=30),
    ]
    assert headline(two, WINDOW).endswith(
        "GPU computing 60.0 %, GPU working for another process at least 10.0 %, "
        "host code with the GPU idle at most 30.0 %"
    )


def test_processes_without_gpu_work_do_not_count_where_others_have_some() -> None:
    two = [ledger(0, gpu_kernel=80, host=20), ledger(None, pid=2, cuda_launch=50, host=50)]
    assert headline(two, WINDOW) == "1.000 s of wall time: GPU computing 80.0 %, host code with the GPU idle 20.0 %"


def test_unrecorded_gpu_work_makes_bounds() -> None:
    assert headline([ledger(complete=False, gpu_kernel=3, cuda_launch=2, host=5)], WINDOW) == (
        "1.000 s of wall time: GPU computing at least 30.0 %, CUDA calls with the GPU idle at most 20.0 %, "
        "host code with the GPU idle at most 50.0 %"
    )


def test_without_gpu_rows_nothing_is_claimed_about_the_gpu() -> None:
    assert headline([ledger(None, complete=False, cuda_launch=1, host=3)], WINDOW) == (
        "1.000 s of wall time: CUDA calls 25.0 %, host code 75.0 %; what the GPU did was not recorded"
    )


def test_a_program_that_launched_nothing_is_not_called_unrecorded() -> None:
    assert headline([ledger(None, cuda_setup=98, host=2)], WINDOW) == (
        "1.000 s of wall time: CUDA set-up, once 98.0 %, host code 2.0 %; the program launched nothing"
    )


def test_a_program_whose_launches_all_failed_says_so() -> None:
    assert headline([ledger(None, cuda_launch=1, host=3)], WINDOW).endswith("; every launch failed")


def test_copies_without_gpu_work_were_not_recorded() -> None:
    assert headline([ledger(None, cuda_memcpy=1, host=3)], WINDOW).endswith("; what the GPU did was not recorded")


def test_a_cpu_run_says_what_was_measured() -> None:
    assert headline([cpu_ledger(SECOND)], Window("nvtx", 0, SECOND)) == (
        "1.000 s of wall time in host code, between the first and the last NVTX range; no CUDA activity was recorded"
    )


def test_a_cpu_run_with_phases_names_them() -> None:
    one = replace(cpu_ledger(SECOND), host_parts={"host.data": 3, "host.step": 7})
    assert "data 30.0 %, step 70.0 %" in headline([one], Window("capture", 0, SECOND))


def test_many_ranges_are_added_up() -> None:
    ranges = [
        replace(ledger(gpu_kernel=5, host=5), window=Window("nvtx:step", start, start + SECOND))
        for start in (0, 2 * SECOND)
    ]
    assert headline(ranges, Window("nvtx:step", 0, 3 * SECOND)).startswith("2.000 s of wall time in 2 ranges: ")


def test_nothing_recorded_is_said() -> None:
    assert headline([], None).startswith("No wall time to account for")
    assert headline([], WINDOW).startswith("1.000 s of wall time, in which no CUDA, NVTX or OS runtime activity")


times = st.fixed_dictionaries({account: st.integers(0, 10**12) for account in ACCOUNTS})


@given(times)
def test_the_printed_parts_add_up_to_100(accounts: dict[str, int]) -> None:
    one = replace(ledger(), accounts=dict(accounts), wall_ns=sum(accounts.values()))
    printed = [Decimal(number) for number in re.findall(r"([\d.]+) %", headline([one], WINDOW))]
    assert sum(printed) == (100 if any(accounts.values()) else 0)


@given(times)
def test_printed_accounts_add_up_to_their_part_of_the_headline(accounts: dict[str, int]) -> None:
    one = replace(ledger(), accounts=dict(accounts), wall_ns=sum(accounts.values()))
    percents = account_percents(one)
    assert list(percents) == list(ACCOUNTS)
    for share in shares([one]):
        assert sum(percents[account] for account in share.part.accounts) == share.percent
