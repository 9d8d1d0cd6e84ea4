"""Where every nanosecond of wall time went: a trace in, values out."""

__version__ = "0.1.0"
