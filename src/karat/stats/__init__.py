"""Uncertainty: weights over items and what follows from them. Knows the nouns, and no task."""
