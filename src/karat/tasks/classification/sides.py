"""Reference and evaluation data of a run configuration, checked apart and against each other."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.problem import Problems
from karat.model.task import Card, Declared, Request
from karat.read.place import Place
from karat.tasks.classification.rows import Side, read_side


def check_sides(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Side]:
    """Both sides, read and checked; `configuration` is the place of the configuration file."""
    sides = {name: read_side(card.name, request, problems) for name, request in requests.items()}
    if "ref" in sides and "eval" in sides:
        declared = requests["ref"].declared
        cross_check(sides["ref"], sides["eval"], declared, configuration)
    return sides


def cross_check(ref: Side, eval_: Side, declared: Declared, configuration: Place) -> None:
    """Report where the two sides, or a side and the configuration, do not fit together."""
    _check_classes(ref, eval_, declared, configuration)
    if not (ref.gold.n and eval_.gold.n):
        return
    _check_labels(ref, eval_)
    _check_metadata(ref, eval_, declared)
    for name in declared.embeddings:
        here, there = eval_.gold.embeddings.get(name), ref.gold.embeddings.get(name)
        if here is not None and there is not None and here != there:
            message = f"length {here} here, {there} in {ref.gold.reader.name}"
            eval_.gold.reader.place().add("embedding-length", message, name)


def _check_classes(ref: Side, eval_: Side, declared: Declared, configuration: Place) -> None:
    """Both sides and the class names must have the same number of classes."""
    if ref.predictions is not None and eval_.predictions is not None:
        here, there = eval_.predictions.classes, ref.predictions.classes
        if here != there:
            place = Place(configuration.problems, eval_.prediction_file or "")
            message = f"{here} classes here, {there} in {ref.prediction_file}"
            place.add("class-count-mismatch", message, "probabilities")
    names = declared.class_names
    side = ref if ref.predictions is not None else eval_
    if names is not None and side.predictions is not None:
        classes = side.predictions.classes
        if len(names) != classes:
            message = (
                f"{len(names)} class names but {classes} probabilities in {side.prediction_file}"
            )
            configuration.add("class-names-length", message, "data_profiling_info.class_names")


def _check_labels(ref: Side, eval_: Side) -> None:
    """Labels on one side only switch the tests off that need them on both."""
    if not (ref.gold.reader.sound and eval_.gold.reader.sound):
        return
    if bool(ref.gold.labelled) != bool(eval_.gold.labelled):
        bare = eval_ if ref.gold.labelled else ref
        message = (
            "labels are present on one side only; performance and label-drift tests are skipped"
        )
        bare.gold.reader.place().add("label-one-side", message, "label", severity="warning")


def _check_metadata(ref: Side, eval_: Side, declared: Declared) -> None:
    """Declared metadata must occur; reported once, where it is missing first."""
    for name in (*declared.numeric, *declared.categorical):
        for side in (ref, eval_):
            if name not in side.gold.metadata:
                message = f"metadata '{name}' is configured but no row has it"
                side.gold.reader.place().add("meta-key-missing", message, f"meta.{name}")
                break
