"""What a run would take if one thing were different: its trace replayed as a simulation (docs/predict.md)."""
