"""neleval's command line, over the same engine as `karat score`.

    python -m karat.compat.neleval COMMAND ...

Output on stdout is neleval's; errors name file and line. Status is 0, 2 for wrong usage and wrong
data, 1 for what fails while running.
"""
