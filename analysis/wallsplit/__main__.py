"""`python -m wallsplit`: the command line, where it is installed beside the library."""

import sys
from importlib import import_module
from importlib.util import find_spec

if __name__ == "__main__":
    if find_spec("wallsplit_scripts") is None:
        sys.exit("wallsplit: the command line is not installed here: pip install wallsplit")
    import_module("wallsplit_scripts.main").main()
