"""Which format of entities an input is, and what reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.model.task import Card, Request, Source
from karat.read.place import Place
from karat.read.sniff import stem
from karat.tasks.entities import GOLD_TAGS, PREDICTED_TAGS, has_tags
from karat.tasks.entities.caches import read_caches
from karat.tasks.entities.folders import read_folders
from karat.tasks.entities.pair import EntityPairs
from karat.tasks.entities.tagfiles import read_conll, read_tag_records
from karat.tasks.entities.tagged import pair_tags

TAG_SCHOOLS = ("conlleval", "seqeval")
KINDS = {
    "caches": "JSON records of texts and spans",
    "tags": "JSON records of tags",
    "conll": "columns of token tags",
    "brat": "a brat folder",
}


def read(card: Card, request: Request, problems: Problems) -> EntityPairs | None:
    """The pairs of a request, whatever its format."""
    kind = format_of(request)
    _check_options(kind, request.options)
    if _other_kind(kind, request, problems):
        return None
    if kind == "caches":
        return read_caches(card, request, problems)
    if kind == "brat":
        return read_folders(request, "document", problems)
    found = (read_conll if kind == "conll" else read_tag_records)(request, problems)
    return None if found is None else pair_tags(found, "sentence", request, problems)


def _check_options(kind: str, options: Mapping[str, Any]) -> None:
    """Return if every option given has a meaning for files of this kind."""
    like = str(options.get("like") or "")
    if kind in ("caches", "brat") and like.startswith(TAG_SCHOOLS):
        raise UsageError(
            f"--like {like} scores token tags; these are spans of characters",
            help="leave it out: exact spans need no tags. Or take --like nervaluate",
        )
    if str(options.get("level") or "mention") != "mention":
        if kind in ("conll", "tags"):
            raise UsageError("token tags know mentions only", help="leave --level out")
        if like:
            raise UsageError(f"--like {like} scores mentions only", help="leave --level out")
    for name in ("end", "gold_end", "predictions_end"):
        if kind != "caches" and options.get(name) not in (None, "auto"):
            flag = f"--{name.replace('_', '-')}"
            where = "brat's ends are exclusive" if kind == "brat" else "tags have no offsets"
            raise UsageError(f"{flag} is for offsets in JSON; {where}", help=f"leave {flag} out")
    if options.get("tag_names") and kind != "tags":
        raise UsageError("--tag-names is for JSON records of tokens and tags")
    if options.get("min_overlap") is not None:
        _check_overlap(float(options["min_overlap"]), like)


def _check_overlap(least: float, like: str) -> None:
    if like != "nervaluate":
        raise UsageError("--min-overlap belongs to --like nervaluate")
    if not 1.0 <= least <= 100.0:
        raise UsageError(f"--min-overlap lies between 1 and 100, not {least:g}")


def _other_kind(kind: str, request: Request, problems: Problems) -> bool:
    """Whether the predictions are of another kind of files than gold, which is reported."""
    for source in request.predictions:
        other = _kind_of(source)
        if other not in (None, kind):
            message = f"these are {KINDS[other]}, but {request.gold[0].name} is {KINDS[kind]}"
            advice = "bring both into one format with karat convert"
            Place(problems, source.name).add("format-mixed", message, help=advice)
            return True
    return False


def format_of(request: Request) -> str:
    """caches, brat, conll or tags."""
    return _kind_of(request.gold[0]) or "caches"


def _kind_of(source: Source) -> str | None:
    """The same of one input; None where nothing tells."""
    try:
        peek = source.peek()
    except DataError:
        return None
    if peek.shape == "folder":
        return "brat"
    if peek.shape in ("text", "table") and not stem(peek.name).endswith(".json"):
        return "conll"
    if peek.keys & {"entities", "ents", "predicted_entities"}:
        return "caches"
    if has_tags(peek) or ("text" not in peek.keys and peek.keys & {*GOLD_TAGS, *PREDICTED_TAGS}):
        return "tags"
    return None
