"""From any format of entity linking to any other, by way of mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.source import Source
from karat.tasks.linking.aida import write_aida
from karat.tasks.linking.annotations import Mention
from karat.tasks.linking.carry import carried
from karat.tasks.linking.coref import Ids, write_coref
from karat.tasks.linking.formats import id_mapping, read_side
from karat.tasks.linking.standoff import write_folder
from karat.tasks.linking.tacwrite import write_edl, write_tac
from karat.tasks.linking.tsv import write_table

LINES: dict[str, Callable[[Iterable[Mention]], Iterator[str]]] = {
    "neleval": write_table,
    "tac2015": write_edl,
    "aida": write_aida,
}
FOLDERS = {"brat-links": write_folder, "tac2014": write_tac}
COREF = "conll-coref"
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
        problems.join(stopped.problems)
        return
    if problems.errors:
        return
    target = said["to"]
    mentions = carried(list(side.annotations.mentions()), target, str(inputs[0]), problems)
    if target in FOLDERS:
        FOLDERS[target](mentions, output)
        return
    lines = _coref(mentions, said, problems) if target == COREF else LINES[target](mentions)
    with output.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _coref(
    mentions: Sequence[Mention], said: Mapping[str, Any], problems: Problems
) -> Iterator[str]:
    """Lines of coreference columns; says which ids their clusters cannot keep."""
    ids = Ids(said["with_kb"], said["cross_doc"])
    pairs = {(c.eid, one.docid) for one in mentions for c in one.candidates[:1]}
    lost = {eid for eid, docid in pairs if ids.key(eid, docid) is None}
    if lost:
        problems.add(
            "ids-dropped",
            f"{len(lost)} ids become numbers, since clusters are NILs of a document",
            severity="warning",
            help="--option with_kb=1 keeps ids, --option cross_doc=1 those of all documents",
        )
    return write_coref(mentions, ids)


def _year(text: Any) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"tac_year is a year, not {text!r}") from error
