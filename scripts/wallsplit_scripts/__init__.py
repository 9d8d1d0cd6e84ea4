"""The command line: capture on Linux, analysis anywhere."""
