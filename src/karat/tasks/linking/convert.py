"""From any format of entity linking to any other, by way of mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.source import Source
from karat.tasks.linking.aida import write_aida
from karat.tasks.linking.annotations import Mention
from karat.tasks.linking.coref import write_coref
from karat.tasks.linking.formats import id_mapping, read_side
from karat.tasks.linking.standoff import write_folder
from karat.tasks.linking.tacwrite import write_edl, write_tac
from karat.tasks.linking.tsv import write_table

LINES = {
    "neleval": write_table,
    "tac2015": write_edl,
    "conll-coref": write_coref,
    "aida": write_aida,
}
FOLDERS = {"brat-links": write_folder, "tac2014": write_tac}
TRUE = {"1", "true", "yes", "on"}


def convert(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write the mentions of the inputs in the format that `options["to"]` names."""
    said = dict(options)
    if "tac_year" in said:
        said["tac_year"] = _year(said["tac_year"])
    for name in ("with_kb", "cross_doc"):
        said[name] = str(said.get(name, "")).lower() in TRUE
    try:
        side = read_side([Source.of(one) for one in inputs], said, problems, id_mapping(said))
    except DataError as stopped:
        for problem in stopped.problems:
            problems.take(problem)
        return
    if problems.errors:
        return
    target = said["to"]
    mentions = list(side.annotations.mentions())
    _warn(mentions, target, inputs[0], problems)
    if target in FOLDERS:
        FOLDERS[target](mentions, output)
        return
    with output.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in LINES[target](mentions))


def _year(text: Any) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"tac_year is a year, not {text!r}") from error


def _warn(mentions: Iterable[Mention], target: str, source: Path, problems: Problems) -> None:
    """Say what the target cannot hold."""
    several = sum(len(one.candidates) > 1 for one in mentions)
    if target in ("brat-links", "conll-coref", "aida") and several:
        text = f"{several} mentions have several candidates; {target} keeps the best one"
        problems.add("candidates-dropped", text, file=str(source), severity="warning")
    if target in ("tac2014", "tac2015"):
        bare = sum(not one.candidates for one in mentions)
        if bare:
            text = f"{bare} mentions without entity get a NIL of their own"
            problems.add("nil-made", text, file=str(source), severity="warning")
    if target == "aida":
        ends: dict[str, int] = {}
        lost = 0
        for one in mentions:
            lost += one.start <= ends.get(one.docid, 0)
            ends[one.docid] = max(one.end, ends.get(one.docid, 0))
        if lost:
            text = f"{lost} mentions overlap one before them and are left out"
            problems.add("mention-dropped", text, file=str(source), severity="warning")
