"""Raw nsys rows in, normalised frames out."""

from wallsplit.model.model import Capture, Model, load
from wallsplit.model.names import Names

__all__ = ["Capture", "Model", "Names", "load"]
