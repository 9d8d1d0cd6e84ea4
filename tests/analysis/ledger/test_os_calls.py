"""Classes of OS runtime calls."""

import pytest

from wallsplit.ledger.os_calls import os_class


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pthread_cond_signal", "signal"),
        ("pthread_mutex_trylock", "signal"),
        ("pthread_rwlock_unlock", "signal"),
        ("sem_post", "signal"),
        ("sched_yield", "signal"),
        ("pthread_cond_timedwait", "wait"),
        ("pthread_mutex_lock", "wait"),
        ("poll", "wait"),
        ("epoll_wait", "wait"),
        ("epoll_pwait2", "wait"),
        ("sem_clockwait", "wait"),
        ("waitpid", "wait"),
        ("nanosleep", "wait"),
        ("flock", "wait"),
        ("read", "read"),
        ("pread64", "read"),
        ("recvmsg", "read"),
        ("fopen", "file"),
        ("fstatat", "read"),
        ("writev", "write"),
        ("sendfile64", "write"),
        ("mmap64", "memory"),
        ("posix_spawnp", "process"),
        ("dlopen", "process"),
        ("ioctl", "file"),
        ("open64", "file"),
        ("polling", "file"),  # whole names only
        ("", "file"),
    ],
)
def test_a_call_is_of_the_class_its_whole_name_says(name: str, expected: str) -> None:
    assert os_class(name) == expected
