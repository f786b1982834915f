"""The report inside its page: written there, and found again in any page."""

from __future__ import annotations

import base64
import re
import zlib
from typing import Any

import msgspec

from karat.errors import KaratError
from karat.model.report import Report
from karat.present.html.markup import Safe, element
from karat.present.html.suite import shortened

PLAIN, PACKED = "application/json", "application/zlib;base64"
DATA = re.compile(
    rb'<script type="(application/[a-z0-9;]+)" data-karat="report">(.*?)</script>', re.DOTALL
)
MOST_PLAIN = 100_000
"""A longer document is packed: comparisons of very many scores repeat their words for each."""

MOST_UNPACKED = 256_000_000
"""Where unpacking stops: a page may come from anyone."""


def embedded(report: Report) -> Safe:
    """The element that holds the report's JSON; `<` can end nothing in it.

    What is at its default is left out. Kept evidence and cases beyond those shown stay out, too:
    the `.json` has them, and they may be many.
    """
    shown = msgspec.structs.replace(shortened(report), evidence=None)
    plain, kind = msgspec.json.encode(lean(shown)), PLAIN
    if len(plain) > MOST_PLAIN:
        plain, kind = base64.b64encode(zlib.compress(plain, 9)), PACKED
    code = plain.decode().replace("<", "\\u003c")
    return element("script", Safe(code), type=kind, data_karat="report")


def reports_in(content: bytes) -> list[Report]:
    """The reports that a page holds, none where it is no page of karat."""
    return [
        Report.from_json(_unpacked(found) if kind.decode() == PACKED else found)
        for kind, found in DATA.findall(content)
    ]


def _unpacked(packed: bytes) -> bytes:
    """The document behind a packed one, as far as the bound; what is cut there is no JSON."""
    try:
        return zlib.decompressobj().decompress(base64.b64decode(packed), MOST_UNPACKED)
    except (ValueError, zlib.error) as error:
        raise KaratError(
            "the report inside this page is damaged", help="write the page again"
        ) from error


def lean(value: Any) -> Any:
    """The value as plain data, fields at their default left out."""
    if isinstance(value, msgspec.Struct):
        return {
            one.encode_name: lean(getattr(value, one.name))
            for one in msgspec.structs.fields(value)
            if not _is_default(one, getattr(value, one.name))
        }
    if isinstance(value, list):
        return [lean(one) for one in value]
    if isinstance(value, dict):
        return {key: lean(one) for key, one in value.items()}
    return value


def _is_default(one: msgspec.structs.FieldInfo, value: Any) -> bool:
    if one.default is not msgspec.NODEFAULT:
        return type(value) is type(one.default) and bool(value == one.default)
    made = one.default_factory
    return made is not msgspec.NODEFAULT and bool(value == made())
