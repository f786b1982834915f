"""The report as one offline page: markup as values, our own pictures, a few kB of script."""
