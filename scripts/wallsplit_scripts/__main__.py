"""`python -m wallsplit_scripts`."""

from wallsplit_scripts.main import main

main()
