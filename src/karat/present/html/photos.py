"""Images from a folder that the user named, as data that a page can hold."""

from __future__ import annotations

import base64
from pathlib import Path

LARGEST = 400_000
"""Bytes of one image: a page is meant to be mailed."""

_BEGINNINGS = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF8": "image/gif",
}


def photo(folder: Path | None, name: str) -> str | None:
    """The image of that name as a `data:` address; None where it cannot be shown.

    The name comes from data, so it must not lead out of the folder, and only what begins like an
    image is read as one.
    """
    if folder is None or "\0" in name:
        return None
    home, path = folder.resolve(), (folder / name).resolve()
    if home not in path.parents or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    content = path.read_bytes()
    kind = next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), None)
    return None if kind is None else f"data:{kind};base64,{base64.b64encode(content).decode()}"
