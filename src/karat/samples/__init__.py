"""Small data sets written for karat, one folder a task. Made by `tools/make_samples.py`."""
