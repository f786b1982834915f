"""Entities from one format into another, with the offsets they had.

Everything passes through `Text`: a text, its tokens where the source has any, and spans with
exclusive ends. Columns and tag records carry the offsets of their tokens, so that they lead back
to the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import UsageError
from karat.model.problem import Problems
from karat.tasks.entities.chunks import SCHEMES
from karat.tasks.entities.incoming import READERS
from karat.tasks.entities.outgoing import WRITERS

CHOICES = {
    "end": ("auto", "exclusive", "inclusive"),
    "write_end": ("exclusive", "inclusive"),
    "role": ("gold", "predictions"),
    "scheme": tuple(SCHEMES),
}
"""Options with a closed list of values; `column` and `tag_names` are the others."""


def convert(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write the inputs in another format; options: end, write_end, role, scheme, column."""
    _check_options(options)
    texts = READERS[str(options["from"])](inputs, options, problems)
    if not problems.errors:
        WRITERS[str(options["to"])](texts, output, options, problems)


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name == "column" and not str(value).removeprefix("-").isdecimal():
            raise UsageError(
                f"column is a number, not {value!r}",
                help="0 is the first column and -1 the last",
            )
        if name in ("from", "to", "column", "tag_names"):
            continue
        if name not in CHOICES:
            known = f"there are {', '.join(CHOICES)}, column, tag_names"
            raise UsageError(f"entities have no option {name!r} for converting", help=known)
        if value not in CHOICES[name]:
            raise UsageError(
                f"{name} cannot be {value!r}", help=f"choose from {', '.join(CHOICES[name])}"
            )
