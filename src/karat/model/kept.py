"""Evidence inside a run file: what a later run needs to be compared with this one, item by item.

Arrays travel as compressed bytes in base64, so that a run file stays one JSON document. Nothing in
it is code, and what is read back is checked before it is believed.
"""

from __future__ import annotations

import base64
import zlib

import msgspec

VERSION = 2


class Packed(msgspec.Struct, frozen=True):
    """One column: the type of its numbers ("<f8"; "text" for a JSON list), shape and content."""

    kind: str
    shape: list[int]
    data: str

    @classmethod
    def of(cls, kind: str, shape: list[int], content: bytes) -> Packed:
        """The column of these bytes."""
        return cls(kind, shape, base64.b64encode(zlib.compress(content, 6)).decode("ascii"))

    def content(self, most: int) -> bytes:
        """The bytes, ValueError where they are no such column or more than `most`."""
        try:
            inflate = zlib.decompressobj()
            found = inflate.decompress(base64.b64decode(self.data, validate=True), most + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if len(found) > most or not inflate.eof:
            raise ValueError("a column is longer than it says, or cut off")
        return found


class KeptFacet(msgspec.Struct, frozen=True):
    """A dictionary-encoded column."""

    name: str
    levels: Packed
    codes: Packed


class KeptPart(msgspec.Struct, frozen=True, kw_only=True):
    """One evidence: sums over cells (`groups`), or values and influence by name (`names`).

    `design` is what decided the resamples whose values are kept, empty where there are none.
    """

    name: str
    kind: str
    arrays: dict[str, Packed]
    groups: dict[str, int] = {}
    names: list[str] = []
    exact: bool = True
    cluster: KeptFacet | None = None
    design: str = ""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one run. `gold` holds the digests of the gold files.

    `labels` are what wide groups of cells stand for, `left_out` the evidence that could not be
    kept.
    """

    version: int = VERSION
    task: str
    name: str
    gold: list[str]
    options: dict[str, str]
    ids: Packed
    parts: list[KeptPart]
    official: dict[str, float] = {}
    labels: list[str] = []
    left_out: list[str] = []
    digest: str = ""
