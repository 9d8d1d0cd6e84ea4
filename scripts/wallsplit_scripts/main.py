"""The command line: a Click group whose commands are named here in order, each imported when it is called."""

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
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
    ("profile", "wallsplit_scripts.profile:profile", "Run a program under Nsight Systems; leave trace and manifest."),
    ("sweep", "wallsplit_scripts.sweep:sweep", "Measure the published study on this machine and report it."),
    ("workloads", "wallsplit_scripts.workloads:workloads", "List the built-in workloads and their parameters."),
    ("doctor", "wallsplit_scripts.doctor:doctor", "Tell what is installed here, and what each lack costs."),
)
INTERRUPTED = 130
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
    try:
        code = command.main(
            args=arguments and list(arguments), prog_name=name, standalone_mode=False, help_option_names=HELP_OPTIONS
        )
    except WallsplitError as error:
        say(str(error))
        return 1
    except click.exceptions.Abort:  # Click's name for KeyboardInterrupt
        say("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:  # `wallsplit … | head`
        sys.stderr.close()
        return 1
    return code if isinstance(code, int) else 0


def main() -> NoReturn:
    """Run `wallsplit` and exit."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(run(cli))


def analyze_main() -> NoReturn:
    """Run `analyze`, which is `wallsplit analyze`, and exit."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(run(load("wallsplit_scripts.analyze:analyze"), name="analyze"))


def _terminated(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)  # an exception, so that temporary files are removed


if __name__ == "__main__":
    main()
