"""`python -m karat.compat.neleval`."""

from __future__ import annotations

import sys

from karat.compat.neleval.command import main

if __name__ == "__main__":
    sys.exit(main())
