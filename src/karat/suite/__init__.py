"""Stress tests: what changed between reference and evaluation data, and whether the model suffers.

A test compares two sides and looks at two things: how large the effect is, against published
limits, and whether the data is enough to believe it. Only both together fail a test.
"""
