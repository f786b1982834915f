"""How a documented command line ends: with a status, and with words where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable

INTERRUPTED = 130


def ended(work: Callable[[], int], failed: int | Callable[[Exception], int]) -> int:
    """The exit status of the work. What goes wrong is told on stderr, never as a traceback."""
    try:
        status = work()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        from karat.present.process import pipe_closed

        return pipe_closed()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last line: users never meet a traceback
        from karat.present.failures import failure_lines
        from karat.present.style import Style

        print("\n".join(failure_lines(error, Style.of(sys.stderr))), file=sys.stderr)
        return failed(error) if callable(failed) else failed
