"""The guard of a run: a process beside it that ends all of the run if the process that supervises it is killed.

`supervise` starts it as a script, in milliseconds: this file imports no package. Its standard input is a pipe whose
other end the supervisor alone holds: through it come the process id of the program, and `done` when nothing is left to
guard. A pipe that closes without that word was closed by the kernel, after `kill -9` too.
"""
# ruff: noqa: PTH123, PTH208  (pathlib takes as long to import as all the rest to run)

import os
import signal
import sys
import time

TOKEN = "WALLSPLIT_RUN"  # noqa: S105 - an environment variable by which the processes of a run are recognised
DONE = b"done"
ROUNDS = 200  # a process may start another before it is killed; one in uninterruptible sleep dies later
PAUSE_S = 0.02


def guard(token: str) -> None:
    """Wait for the supervisor's end; kill every process of the run if it came before the run's."""
    words = sys.stdin.buffer.read().split()
    if DONE in words:
        return
    roots = {int(word) for word in words}
    for _ in range(ROUNDS):
        alive = members(token, roots)
        if not alive:
            return
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(PAUSE_S)


def members(token: str, roots: set[int]) -> set[int]:
    """Return the living processes with the token in their environment or in a root's session, and their children."""
    mark = f"{TOKEN}={token}".encode()
    parents: dict[int, int] = {}
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
            if state == b"Z":
                continue
            parents[int(name)] = int(parent)
            if int(session) in roots:
                found.add(int(name))
                continue
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.add(int(name))
        except OSError:  # gone, or another user's
            continue
    grown = True
    while grown:
        children = {pid for pid, parent in parents.items() if parent in found} - found
        found |= children
        grown = bool(children)
    return found


if __name__ == "__main__":
    guard(sys.argv[1])
