"""Adapters that log a Report to trackers of experiments; each needs its tracker installed."""
