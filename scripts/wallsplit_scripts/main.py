"""The command line: a Click group whose commands are named here in order, each imported when it is called."""

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

import wallsplit
from wallsplit.errors import WallsplitError
from wallsplit_scripts.messages import say

# name, module:attribute, first line of its help. Importing a command for its help alone would cost most of a second.
COMMANDS = (
    ("analyze", "wallsplit_scripts.analyze:analyze", "Say where the wall time of traces went, to the nanosecond."),
    ("compare", "wallsplit_scripts.compare:compare", "Say what changed between traces, and whether it is noise."),
    ("check", "wallsplit_scripts.check:check", "Say whether traces keep their budgets; the exit code tells."),
    ("predict", "wallsplit_scripts.predict:predict", "Say what a run would take if one thing were different."),
    ("export", "wallsplit_scripts.export:export", "Write a trace as a timeline for Perfetto or Chrome, ledger on top."),
    ("scrub", "wallsplit_scripts.scrub:scrub", "Write a trace anew without what is private, to hand on."),
    ("profile", "wallsplit_scripts.profile:profile", "Run a program under Nsight Systems; leave trace and manifest."),
    ("sweep", "wallsplit_scripts.sweep:sweep", "Measure the published study on this machine and report it."),
    ("workloads", "wallsplit_scripts.workloads:workloads", "List the built-in workloads and their parameters."),
    ("doctor", "wallsplit_scripts.doctor:doctor", "Tell what is installed here, and what each lack costs."),
)
INTERRUPTED = 130
_SELDOM = 200_000
"""Objects made between two looks for cycles: there are few, a look takes 0.02 s, and a small trace makes 90,000."""
_OUTPUT_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF)
HELP_OPTIONS = ["-h", "--help"]  # of every command, alone or in the group: Click keeps those of its first call


class _Commands(click.Group):
    """The commands of COMMANDS, in that order."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, _, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for name, place, _ in COMMANDS:
            if name == cmd_name:
                return load(place)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            import difflib  # for those who err

            for near in difflib.get_close_matches(name, self.list_commands(ctx), n=1):
                ctx.fail(f"No such command {name!r}. Did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, _, summary in COMMANDS])


@click.group(cls=_Commands)
@click.version_option(wallsplit.__version__, prog_name="wallsplit")
def cli() -> None:
    """Where every nanosecond of a training run's wall time went, from an Nsight Systems trace."""


def load(place: str) -> click.Command:
    """Return the command at `module:attribute`."""
    module, _, attribute = place.partition(":")
    command = getattr(import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def run(command: click.Command, arguments: Sequence[str] | None = None, name: str = "wallsplit") -> int:
    """Return the exit code of the command; what a user can act on becomes one line on stderr and exit code 1."""
    stdout, stderr = sys.stdout, sys.stderr
    try:
        code = command.main(
            args=arguments and list(arguments), prog_name=name, standalone_mode=False, help_option_names=HELP_OPTIONS
        )
        sys.stdout.flush()
    except WallsplitError as error:
        say(str(error))
        return 1
    except click.exceptions.Abort:  # Click's name for KeyboardInterrupt
        say("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
            raise
        return _output_lost(error)
    except SystemExit as left:
        if left.code != 1:
            raise
        sys.stdout, sys.stderr = stdout, stderr  # Click put others there
        # So Click and Rich leave, in silence, where they met a pipe that nobody reads; nobody else leaves with 1.
        return _output_lost(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))
    return code if isinstance(code, int) else 0


def _output_lost(error: OSError) -> int:
    """Say in one line that stdout takes no more, and keep Python from trying again when it exits."""
    with suppress(OSError, ValueError):  # a stand-in without a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    say(f"the output cannot be written ({error.strerror})")
    return 1


def main() -> NoReturn:
    """Run `wallsplit` and exit."""
    _prepare()
    _leave(run(cli))


def analyze_main() -> NoReturn:
    """Run `analyze`, which is `wallsplit analyze`, and exit."""
    _prepare()
    _leave(run(load("wallsplit_scripts.analyze:analyze"), name="analyze"))


def _prepare() -> None:
    """Have signals that end a process end it in order, closed streams lead nowhere, and no terminal 0 columns."""
    gc.set_threshold(_SELDOM)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _terminated)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # wallsplit >&-
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for as long as we live
    if os.environ.get("COLUMNS", "1").strip("0") == "":  # Rich takes it at its word; elsewhere it means "not known"
        del os.environ["COLUMNS"]


def _leave(code: int) -> NoReturn:
    """Exit, and have Python not look for cycles in all that is left: that is 0.05 to 0.1 s with Polars imported."""
    gc.freeze()
    sys.exit(code)


def _terminated(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)  # an exception, so that temporary files are removed


if __name__ == "__main__":
    main()
