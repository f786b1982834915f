"""Reference and evaluation data of a run, checked against each other and the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.model.task import Declared, Request
from karat.read.declared import DeclaredWatch
from karat.read.place import Place
from karat.read.records import Records


@dataclass(frozen=True, slots=True)
class Vectors:
    """The probability vectors of a side: how long they are, and the file and key they stand in."""

    classes: int
    file: str
    key: str


@dataclass(frozen=True, slots=True)
class Half:
    """One side as far as the other one has to match it; `key` is where its labels stand."""

    data: Records[Any]
    key: str
    labelled: bool
    watch: DeclaredWatch
    vectors: Vectors | None = None


def cross_check(
    halves: Mapping[str, Half], requests: Mapping[str, Request], configuration: Place
) -> None:
    """Report where the two sides, or a side and the configuration, do not fit together.

    A side that stands alone fits.
    """
    if not {"ref", "eval"} <= halves.keys():
        return
    ref, eval_, declared = halves["ref"], halves["eval"], requests["ref"].declared
    _check_classes(ref.vectors, eval_.vectors, declared, configuration)
    if not (ref.data.count and eval_.data.count):
        return
    _check_labels(ref, eval_)
    _check_metadata(ref, eval_, declared)
    for name, here in eval_.watch.sizes.items():
        there = ref.watch.sizes.get(name, here)
        if here != there:
            message = f"length {here} here, {there} in {ref.data.name}"
            eval_.data.place().add("embedding-length", message, name)


def _check_classes(
    ref: Vectors | None, eval_: Vectors | None, declared: Declared, configuration: Place
) -> None:
    """Both sides and the class names must have the same number of classes."""
    if ref is not None and eval_ is not None and ref.classes != eval_.classes:
        message = f"{eval_.classes} classes here, {ref.classes} in {ref.file}"
        place = Place(configuration.problems, eval_.file)
        place.add("class-count-mismatch", message, eval_.key)
    names, side = declared.class_names, ref or eval_
    if names is not None and side is not None and len(names) != side.classes:
        message = f"{len(names)} class names but {side.classes} probabilities in {side.file}"
        configuration.add("class-names-length", message, "data_profiling_info.class_names")


def _check_labels(ref: Half, eval_: Half) -> None:
    """Labels on one side only switch the tests off that need them on both."""
    if ref.labelled != eval_.labelled and ref.data.sound and eval_.data.sound:
        bare = eval_ if ref.labelled else ref
        message = (
            "labels are present on one side only; performance and label-drift tests are skipped"
        )
        bare.data.place().add("label-one-side", message, bare.key, severity="warning")


def _check_metadata(ref: Half, eval_: Half, declared: Declared) -> None:
    """Declared metadata must occur; reported once, where it is missing first."""
    for name in (*declared.numeric, *declared.categorical):
        for side in (ref, eval_):
            if name not in side.watch.metadata:
                message = f"metadata '{name}' is configured but no row has it"
                side.data.place().add("meta-key-missing", message, f"meta.{name}")
                break
