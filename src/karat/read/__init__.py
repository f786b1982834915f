"""From bytes and rows in memory to checked, typed records."""
