"""Options that several commands have: the values they take."""

import click

COUNT = click.IntRange(1, 1_000_000)
"""Of rows, repeats, jobs: more is a slip of the finger, and beyond 64 bits nothing can be done with it."""


def window(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the window's text, which says something."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty; leave it away for the default, or name one, like 1.2s:3s.", ctx, param)
    return value
