"""What must be equal for two runs to give the same numbers."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """Task, options that can change a score, n, content of the inputs, seed and versions.

    `options` holds only what differs from the defaults; `definitions` states choices that papers
    leave open (bins of ECE, what a macro average runs over).
    """

    task: str = ""
    official: str = ""
    options: dict[str, Any] = {}
    definitions: dict[str, str] = {}
    n: int = 0
    inputs: dict[str, str] = {}
    interval: str = ""
    seed: int = 0
    versions: dict[str, str] = {}

    @property
    def text(self) -> str:
        """One line to paste into a paper."""
        parts = [self.task]
        if self.official:
            parts.append(f"official:{self.official}")
        parts += [f"{name}:{value}" for name, value in sorted(self.options.items())]
        parts += [f"{name}:{value}" for name, value in self.definitions.items()]
        parts.append(f"n:{self.n}")
        parts += [f"{role}:{digest[:12]}" for role, digest in self.inputs.items()]
        parts.append(f"ci:{self.interval}|seed:{self.seed}")
        parts += [f"{name}:{version}" for name, version in self.versions.items()]
        return "|".join(parts)

    @property
    def digest(self) -> str:
        """A short hash of all of it."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]
