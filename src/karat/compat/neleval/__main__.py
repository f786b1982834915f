"""`python -m karat.compat.neleval`."""

from __future__ import annotations

import sys

from karat.present.process import start_no_threads

if __name__ == "__main__":
    start_no_threads()
    # It imports NumPy.
    from karat.compat.neleval.command import main

    sys.exit(main())
