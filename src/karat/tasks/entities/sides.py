"""Reference and evaluation data of a run configuration, checked apart and against each other."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.problem import Problems
from karat.model.task import Card, Declared, Request
from karat.read.place import Place
from karat.tasks.entities.caches import Side, read_side


def check_sides(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Side]:
    """Both sides, read and checked; the configuration itself says nothing that could clash."""
    del card, configuration
    sides = {name: read_side(request, problems) for name, request in requests.items()}
    if "ref" in sides and "eval" in sides:
        cross_check(sides["ref"], sides["eval"], requests["ref"].declared)
    return sides


def cross_check(ref: Side, eval_: Side, declared: Declared) -> None:
    """Report where the two sides do not fit together."""
    files = (ref.gold, eval_.gold)
    if not all(file.written.n for file in files):
        return
    labelled = [bool(file.written.labelled.any()) for file in files]
    if labelled[0] != labelled[1] and all(file.written.reader.sound for file in files):
        bare = files[labelled[0]].written
        message = (
            "labels are present on one side only; performance and label-drift tests are skipped"
        )
        bare.reader.place().add("label-one-side", message, bare.key, severity="warning")
    for name in (*declared.numeric, *declared.categorical):
        missing = next((file for file in files if name not in file.metadata), None)
        if missing is not None:
            message = f"metadata '{name}' is configured but no row has it"
            missing.written.reader.place().add("meta-key-missing", message, f"meta.{name}")
    for name in declared.embeddings:
        there, here = (file.embeddings.get(name) for file in files)
        if here is not None and there is not None and here != there:
            message = f"length {here} here, {there} in {ref.gold.written.reader.name}"
            eval_.gold.written.reader.place().add("embedding-length", message, name)
