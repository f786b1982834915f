"""Runs: from inputs to a Report. Only here do readers, tasks and statistics meet."""
