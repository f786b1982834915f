"""`python -m karat` is the `karat` command."""

from __future__ import annotations

import sys

from karat.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
