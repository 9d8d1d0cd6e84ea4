"""The classes of OS runtime calls, by name: what a thread that is inside one waits for."""

import re

SIGNAL = "signal"
"""Calls that return at once: a thread inside one is not blocked."""
WAIT = "wait"
"""Calls that sleep until another thread, a timer or a descriptor wakes them."""
FILE = "file"
"""All other calls: open, ioctl, close and the like."""


def _rule(name: str, alternatives: str) -> tuple[str, str]:
    """Return the rule of a class: a call belongs to it whose whole name is one of the alternatives."""
    return name, rf"^(?:{alternatives})$"


OS_CLASSES = (
    _rule(
        SIGNAL,
        r"pthread_cond_(?:signal|broadcast)|pthread_mutex_(?:trylock|unlock)|sem_post|pthread_kill|kill|raise"
        r"|sem_trywait|sem_getvalue|pthread_(?:rw|spin)\w*unlock|sched_yield",
    ),
    _rule(
        WAIT,
        r"poll|ppoll|epoll_(?:p?wait2?)|select|pselect6?|sem_(?:timed|clock)?wait"
        r"|pthread_cond_(?:timed|clock)?wait|pthread_(?:timed)?join(?:_np)?|pthread_tryjoin_np"
        r"|pthread_mutex_(?:timed|clock)?lock|pthread_rwlock_\w*lock|pthread_spin_lock|pthread_barrier_wait"
        r"|sleep|usleep|(?:clock_)?nanosleep|futex\w*|wait(?:pid|id|3|4)?|sig(?:timed)?wait(?:info)?|sigsuspend"
        r"|pause|mq_(?:timed)?(?:receive|send)|lockf|flock|io_getevents|aio_suspend",
    ),
    _rule(
        "read",
        r"p?read(?:v2?|64)?|preadv?\w*|recv(?:from|m?msg)?|fread\w*|f?getc|fgets|getline|getdelim|fscanf|scanf"
        r"|accept4?|readdir\w*|getdents\w*|stat\w*|fstat\w*|lstat\w*",
    ),
    _rule(
        "write",
        r"p?write(?:v|64)?|pwritev?\w*|send(?:to|m?msg|file\w*)?|fwrite\w*|fput[cs]|puts|printf|fprintf|vfprintf"
        r"|fflush|fsync|fdatasync|sync|msync",
    ),
    _rule("memory", r"mmap\w*|munmap|mprotect|madvise|mremap|brk|sbrk|mlock\w*|posix_memalign"),
    _rule("process", r"pthread_create|fork|vfork|clone\d?|exec\w+|posix_spawn\w*|system|popen|dlopen|pclose"),
)
"""The first rule that matches decides; a call that none matches is of class `file`."""


def os_class(name: str) -> str:
    """Return the class of an OS runtime call."""
    # Compiled, and kept by `re`, when the first call is asked for: most traces have none.
    return next((kind for kind, pattern in OS_CLASSES if re.match(pattern, name)), FILE)
