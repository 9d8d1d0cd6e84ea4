"""Raw nsys rows in, normalised frames out."""

from wallsplit.model.capture import Capture
from wallsplit.model.model import Model, load
from wallsplit.model.names import Names

__all__ = ["Capture", "Model", "Names", "load"]
