"""Opening a trace: which file it is, which tables it has, and lazy reading of their columns."""

from wallsplit.trace.trace import Trace

__all__ = ["Trace"]
