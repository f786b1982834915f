"""Evidence kept in a run file, so that a later run can be compared with it item by item.

Additive evidence is kept whole. Of ordered events only the values, each item's influence and, for
metrics whose interval needs them, the resampled values are kept, which is what a difference needs;
what is too wide for that is named as left out.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from karat.errors import DataError, KaratError
from karat.model.evidence import Columns, Counts, Evidence, Layout, Table
from karat.model.kept import VERSION, Kept, KeptFacet, KeptPart, Packed
from karat.model.metric import Events
from karat.model.pairs import Facet, FloatArray
from karat.model.problem import Problem
from karat.model.task import Labelled, Request
from karat.run.aligning import Contestant, Influences
from karat.run.signing import changed_options
from karat.stats.resample import design, resampled_events, wanted
from karat.stats.spread import Sample

if TYPE_CHECKING:
    from karat.run.pipeline import Measured

COMPRESSIONS = (".gz", ".zst")
MOST_COLUMNS = 32
MOST_BYTES = 1 << 32
NUMBERS = ("<f8", "<i8", "<i4")


def keep(measured: Measured, bootstrap: int, seed: int) -> Kept:
    """The evidence of a run, for its Report; resamples as many as its own intervals took."""
    parts, left_out = [], []
    for one in measured.evidence:
        if isinstance(one, Counts):
            parts.append(_counts(one))
            continue
        part, lost = _events(measured, one, bootstrap, seed)
        left_out += lost
        if part is not None:
            parts.append(part)
    task, pairs = measured.task, measured.pairs
    labels = task.labels(pairs) if isinstance(task, Labelled) else ()
    kept = Kept(
        task=measured.card.name,
        name=run_name(measured.request),
        gold=[one.digest() for one in measured.request.gold],
        options=choices(measured),
        ids=_text(list(pairs.ids)),
        parts=parts,
        official={k: float(v) for k, v in measured.official.items() if math.isfinite(v)},
        labels=list(labels),
        left_out=left_out,
    )
    return msgspec.structs.replace(kept, digest=_digest(kept))


def restore(kept: Kept) -> Contestant:
    """The kept run, ready to be compared. A KaratError says what is wrong with it."""
    if kept.version != VERSION:
        raise KaratError(
            f"the kept evidence has version {kept.version}, this karat reads version {VERSION}",
            help="score it again with this version of karat and --keep-evidence",
        )
    if kept.digest != _digest(kept):
        raise KaratError("the kept evidence was changed or cut off", help="score it again")
    try:
        return Contestant(
            kept.name,
            _texts(kept.ids),
            [_restored(part) for part in kept.parts],
            (),
            kept.official,
            tuple(kept.labels),
        )
    except (ValueError, KeyError, IndexError, msgspec.MsgspecError) as error:
        raise KaratError(f"the kept evidence cannot be read: {error}") from error


def check_same(kept: Kept, measured: Measured, file: str) -> None:
    """Return if the kept run scored the same gold in the same way; else DataError says what not."""
    problems = []
    if kept.task != measured.card.name:
        text = f"is a run of {kept.task}, not of {measured.card.name}"
        problems.append(Problem("baseline-task", "error", text, file))
    elif kept.gold != [one.digest() for one in measured.request.gold]:
        names = ", ".join(one.name for one in measured.request.gold)
        text = f"was scored against another gold: its content is not that of {names}"
        advice = "score the baseline against this gold again, with --keep-evidence"
        problems.append(Problem("baseline-gold", "error", text, file, help=advice))
    else:
        here = choices(measured)
        for name in sorted(kept.options.keys() | here.keys()):
            mine, theirs = here.get(name, "the default"), kept.options.get(name, "the default")
            if mine != theirs:
                text = f"was scored with {name} = {theirs}, this run has {mine}"
                problems.append(Problem("baseline-options", "error", text, file, key=name))
    if problems:
        raise DataError(problems)


def run_name(request: Request) -> str:
    """What a run is called: its first prediction file, without folder and extension."""
    names = [one.name for one in (*request.predictions, *request.gold)]
    return plain_name(names[0]) if names else "run"


def plain_name(name: str) -> str:
    """A file's name without folder, extension and compression."""
    path = PurePath(name)
    if path.suffix in COMPRESSIONS:
        path = path.with_suffix("")
    return path.stem or name


def choices(measured: Measured) -> dict[str, str]:
    """The options that must be equal for two runs to be compared, as text."""
    request: Request = measured.request
    changed = changed_options(measured.card, request)
    # Paths are compared by what the options do to the gold, not by where a file lies.
    paths = {option.name for option in measured.card.options if option.kind == "path"}
    apart = {"by", "cluster", *paths}
    return {name: str(value) for name, value in changed.items() if name not in apart}


def _counts(evidence: Counts) -> KeptPart:
    """Additive evidence, whole."""
    table = evidence.table
    arrays: dict[str, Packed] = {"rows": _array(np.array([table.rows], dtype=np.int64))}
    if isinstance(table, Columns):
        arrays["matrix"] = _array(table.matrix)
    else:
        arrays |= {
            "row": _array(table.row),
            "cell": _array(table.cell),
            "value": _array(table.value),
        }
    if evidence.codes is not None:
        arrays["codes"] = _array(evidence.codes)
    if evidence.weights is not None:
        arrays["weights"] = _array(evidence.weights)
    return KeptPart(
        name=evidence.name,
        kind="columns" if isinstance(table, Columns) else "table",
        arrays=arrays,
        groups=dict(evidence.layout.groups),
        exact=evidence.exact,
        cluster=_facet(evidence.cluster),
    )


def _events(
    measured: Measured, evidence: Evidence, bootstrap: int, seed: int
) -> tuple[KeptPart | None, list[str]]:
    """What is kept of the event metrics that read this evidence, and what is left out."""
    weights: FloatArray | None = getattr(evidence, "weights", None)
    if not evidence.n or (weights is not None and bool((weights == 0).any())):
        return None, [evidence.name]
    values: dict[str, float] = {}
    arrays: dict[str, Packed] = {}
    lost: list[str] = []
    sample, drawn = Sample(evidence), ""
    for metric in measured.metrics:
        if not isinstance(metric, Events) or metric.reads != evidence.name:
            continue
        with np.errstate(all="ignore"):
            scored = metric.score(evidence, None, not metric.no_interval)
        main = metric.facts.get("main") or metric.names[:MOST_COLUMNS]
        columns: Sequence[FloatArray | None] = scored.influence or [None] * len(metric.names)
        draws: FloatArray | None = None
        times = wanted(metric, sample, bootstrap)
        if times and sample.drawn > 1 and not metric.no_interval:
            drawn = design(sample, times, seed)
            draws = resampled_events(metric, sample, times, seed, f"bootstrap/{evidence.name}")
        for at, name in enumerate(metric.names):
            values[name] = float(scored.values[at])
            column = columns[at]
            if column is not None and (len(metric.names) <= MOST_COLUMNS or name in main):
                arrays[f"influence/{name}"] = _array(np.asarray(column, dtype=np.float64))
                if draws is not None:
                    arrays[f"draws/{name}"] = _array(draws[:, at])
            elif column is not None:
                lost.append(name)
    arrays["values"] = _array(np.array(list(values.values()), dtype=np.float64))
    arrays["n"] = _array(np.array([evidence.n], dtype=np.int64))
    part = KeptPart(
        name=evidence.name, kind="events", arrays=arrays, names=list(values), design=drawn
    )
    return part, lost


def _restored(part: KeptPart) -> Evidence:
    """The evidence of one part."""
    arrays = {name: _numbers(packed) for name, packed in part.arrays.items()}
    if part.kind == "events":
        values = dict(zip(part.names, arrays["values"].tolist(), strict=True))
        n = int(arrays["n"][0])
        columns, draws = _below("influence/", arrays), _below("draws/", arrays)
        if any(column.shape != (n,) for column in columns.values()):
            raise ValueError(f"the columns of {part.name} have different lengths")
        if len({column.shape for column in draws.values()}) > 1:
            raise ValueError(f"the draws of {part.name} have different lengths")
        return Influences(part.name, n, None, values, columns, design=part.design, draws=draws)
    layout = Layout(dict(part.groups))
    table: Table | Columns
    if part.kind == "columns":
        table = Columns(layout, arrays["matrix"])
        if table.matrix.ndim != 2 or table.matrix.shape[1] != layout.width:
            raise ValueError(f"the columns of {part.name} are not as wide as its cells")
    else:
        table = Table(
            int(arrays["rows"][0]), layout, arrays["row"], arrays["cell"], arrays["value"]
        )
        _check_within(table.row, table.rows, part.name)
        _check_within(table.cell, layout.width, part.name)
    codes = arrays.get("codes")
    if codes is not None:
        _check_within(codes, table.rows, part.name)
    cluster = None
    if part.cluster is not None:
        cluster = Facet(
            part.cluster.name, _numbers(part.cluster.codes), tuple(_texts(part.cluster.levels))
        )
        _check_within(cluster.codes, len(cluster.levels), part.name, least=-1)
    weights = arrays.get("weights")
    return Counts(part.name, table, codes, cluster, weights, part.exact)


def _below(start: str, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The arrays whose names begin like this, by the rest of their names."""
    return {key.removeprefix(start): one for key, one in arrays.items() if key.startswith(start)}


def _check_within(codes: npt.NDArray[Any], size: int, name: str, least: int = 0) -> None:
    if len(codes) and not (least <= int(codes.min()) and int(codes.max()) < size):
        raise ValueError(f"{name} names rows or cells that are not there")


def _facet(facet: Facet | None) -> KeptFacet | None:
    if facet is None:
        return None
    return KeptFacet(facet.name, _text(list(facet.levels)), _array(facet.codes))


def _array(array: npt.NDArray[Any]) -> Packed:
    kind = {"f": "<f8", "i": f"<i{min(array.dtype.itemsize, 8)}"}[array.dtype.kind]
    kind = kind if kind in NUMBERS else "<i8"
    plain = np.ascontiguousarray(array, dtype=kind)
    return Packed.of(kind, list(plain.shape), plain.tobytes())


def _numbers(packed: Packed) -> npt.NDArray[Any]:
    if packed.kind not in NUMBERS or min(packed.shape, default=0) < 0:
        raise ValueError(f"a column has the unknown type {packed.kind!r}")
    size = int(np.prod(packed.shape, dtype=object)) * np.dtype(packed.kind).itemsize
    if size > MOST_BYTES:
        raise ValueError("a column is too large")
    return np.frombuffer(packed.content(size), dtype=packed.kind).reshape(packed.shape).copy()


def _text(texts: list[str]) -> Packed:
    content = msgspec.json.encode(texts)
    return Packed.of("text", [len(texts), len(content)], content)


def _texts(packed: Packed) -> list[str]:
    if packed.kind != "text":
        raise ValueError("a list of names was expected")
    return msgspec.json.decode(packed.content(packed.shape[1]), type=list[str])


def _digest(kept: Kept) -> str:
    """The hash of everything but the hash itself."""
    plain = msgspec.structs.replace(kept, digest="")
    return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()
