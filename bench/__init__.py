"""Measurements of speed and memory: one file per question, run by `python -m bench`."""
