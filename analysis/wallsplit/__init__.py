"""Where every nanosecond of wall time went: a trace in, values out."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wallsplit.analysis import Analysis
    from wallsplit.pipeline import Examined, analyse, analyze
    from wallsplit.pipeline import examine as open  # noqa: A004  as `gzip.open`: the verb of the module

__all__ = ["Analysis", "Examined", "analyse", "analyze", "open"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Return a public name: imported at its first use, so that asking for the version costs nothing."""
    if name == "Analysis":
        from wallsplit.analysis import Analysis

        return Analysis
    if name in __all__:
        from wallsplit import pipeline

        return getattr(pipeline, "examine" if name == "open" else name)
    raise AttributeError(f"module 'wallsplit' has no attribute {name!r}")
