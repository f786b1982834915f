"""The history of runs: one SQLite file, one transaction a run.

Writers take turns: the file is in write-ahead mode and each waits for the other, so that two at
once lose nothing. Readers never block.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from karat.errors import UsageError
from karat.model.history import Logged
from karat.model.report import Report, Score
from karat.run.keeping import plain_name
from karat.stats.multiple import holm
from karat.stats.quantiles import normal_p, normal_quantile

VERSION = 1
PATIENCE = 60.0
"""Seconds that a writer waits for its turn."""

_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    task TEXT NOT NULL,
    name TEXT NOT NULL,
    item TEXT NOT NULL,
    n INTEGER NOT NULL,
    data TEXT NOT NULL,
    predictions TEXT NOT NULL,
    options TEXT NOT NULL,
    signature TEXT NOT NULL,
    scores BLOB NOT NULL,
    report BLOB NOT NULL
)
"""
_SELECT = """
SELECT id, at, task, name, item, n, data, predictions, options, signature, scores
FROM runs ORDER BY id
"""
_INSERT = """
INSERT INTO runs (at, task, name, item, n, data, predictions, options, signature, scores, report)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_FIELDS = Logged.__struct_fields__[:11]
T = TypeVar("T")


def append(report: Report, path: str | Path, at: datetime | None = None) -> int:
    """The number of the run, which is on disk when this returns."""
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    signature = report.signature
    golds = [value for role, value in signature.inputs.items() if role.startswith("gold")]
    others = [value for role, value in signature.inputs.items() if not role.startswith("gold")]
    names = [one.name for one in report.inputs if one.role != "gold"]
    names = names or [one.name for one in report.inputs]
    plain = msgspec.structs.replace(report, evidence=None)
    row = (
        moment.isoformat(timespec="seconds"),
        report.task,
        plain_name(names[0]) if names else report.task,
        report.item,
        report.n,
        _digest(golds),
        _digest(others),
        _digest([report.task, signature.official, repr(sorted(signature.options.items()))]),
        signature.text,
        msgspec.json.encode(report.scores),
        msgspec.json.encode(plain),
    )
    with _opened(path, write=True) as base:
        added = base.execute(_INSERT, row)
        return int(added.lastrowid or 0)


def runs(path: str | Path, task: str | None = None, data: str | None = None) -> list[Logged]:
    """The runs in the order in which they were added, with the changes between them marked.

    `data` is the beginning of a digest of gold.
    """
    with _opened(path, write=False) as base:
        rows = base.execute(_SELECT).fetchall()
    found = [
        Logged(**dict(zip(_FIELDS, row, strict=True)) | {"scores": _scores(row[-1])})
        for row in rows
    ]
    chosen = [
        one
        for one in found
        if (task is None or one.task == task) and one.data.startswith(data or "")
    ]
    return marked(chosen)


def report(path: str | Path, number: int) -> Report:
    """The whole Report of one run."""
    with _opened(path, write=False) as base:
        row = base.execute("SELECT report FROM runs WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise UsageError(f"{path} has no run {number}")
    return Report.from_json(row[0])


def marked(found: Sequence[Logged], alpha: float = 0.05) -> list[Logged]:
    """The runs with the scores that surely changed since the run before on the same data.

    Runs keep no items, so the two are taken as independent: a paired test would see smaller
    changes. Holm's method is over all the steps of one score.
    """
    steps: dict[tuple[str, ...], list[tuple[int, str, float | None]]] = {}
    last: dict[tuple[str, str, str], int] = {}
    for at, run in enumerate(found):
        line = (run.task, run.data, run.options)
        before = last.get(line)
        last[line] = at
        if before is None or found[before].predictions == run.predictions:
            continue
        olds = {score.name: score for score in found[before].scores}
        for score in run.scores:
            if score.name in olds:
                kind, p = _step(olds[score.name], score)
                steps.setdefault((*line, score.name), []).append((at, kind, p))
    changes: list[dict[str, str]] = [{} for _ in found]
    for (*_, name), taken in steps.items():
        for (at, kind, _), p in zip(taken, holm([step[2] for step in taken]), strict=True):
            if p is not None and p < alpha:
                changes[at][name] = kind
    return [
        msgspec.structs.replace(run, changes=change)
        for run, change in zip(found, changes, strict=True)
    ]


def _step(old: Score, new: Score) -> tuple[str, float | None]:
    """(better, worse or different; p) of a step from one run to the next."""
    errors = [error for one in (old, new) if (error := _error(one)) is not None]
    if old.value is None or new.value is None or len(errors) < 2:
        return "", None
    change, se = new.value - old.value, math.hypot(*errors)
    if se <= 0:
        return "", None
    kind = "different"
    if new.better in ("higher", "lower"):
        kind = "better" if (change > 0) == (new.better == "higher") else "worse"
    return kind, normal_p(change / se)


def _error(score: Score) -> float | None:
    """The standard error; all right or all wrong has none, and its interval speaks instead."""
    if score.se or score.low is None or score.high is None:
        return score.se
    return (score.high - score.low) / (2 * normal_quantile(0.975))


@contextmanager
def _opened(path: str | Path, *, write: bool) -> Iterator[sqlite3.Connection]:
    """The data base inside one transaction; what goes wrong with the file is a UsageError."""
    path = Path(path)
    if not write and not path.is_file():
        raise UsageError(f"there is no history {path}", help="'karat score --log' begins one")
    try:
        base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    except sqlite3.Error as error:
        raise UsageError(f"{path}: {error}") from error
    try:
        if write:
            _patient(lambda: _prepare(base))
        version = base.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise UsageError(f"{path} was written by a newer karat (version {version})")
        base.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            yield base
            base.execute("COMMIT")
        except BaseException:
            base.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise UsageError(f"{path} cannot serve as history: {error}") from error
    finally:
        base.close()


def _prepare(base: sqlite3.Connection) -> None:
    """The table there and write-ahead mode on. The mode is a property of the file, set once."""
    if base.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")
    base.execute("BEGIN IMMEDIATE")
    names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if names and "runs" not in names:
        base.execute("ROLLBACK")
        raise sqlite3.DatabaseError("it is a data base of something else")
    base.execute(_TABLE)
    if base.execute("PRAGMA user_version").fetchone()[0] == 0:
        base.execute(f"PRAGMA user_version = {VERSION}")
    base.execute("COMMIT")


def _patient(act: Callable[[], T]) -> T:
    """What `act` returns. Changing the mode does not wait for its turn by itself, so we do."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _scores(content: bytes) -> list[Score]:
    return msgspec.json.decode(content, type=list[Score])


def _digest(parts: Sequence[str]) -> str:
    """The one digest of a single input; of several, the digest of their digests."""
    if len(parts) == 1:
        return parts[0]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
