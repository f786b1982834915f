"""What a task is: a card that costs nothing to read, and the object that does the work.

A task is one folder in `karat/tasks/`. Its `__init__.py` holds `CARDS`, a tuple of `Card`s, and
imports nothing heavy, so that listing, help and detection stay instant. `Card.load()` imports the
module that holds the `Task`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import msgspec

from karat.model.problem import Problem, Problems

if TYPE_CHECKING:
    from karat.model.evidence import Evidence
    from karat.model.metric import Metric
    from karat.model.pairs import Pairs
    from karat.model.report import Curve, Example, Table

Kind = Literal["text", "int", "float", "flag", "path"]


class Option(msgspec.Struct, frozen=True):
    """One option of a task: it becomes a flag of `karat score` and a keyword of `karat.score`.

    `signature` says that it can change a score, so that it belongs into the signature whenever it
    differs from its default. `gold` says that the option names a gold file, given instead of GOLD.
    `short` is a letter for a short flag.
    """

    name: str
    help: str
    default: Any = None
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    many: bool = False
    signature: bool = True
    gold: bool = False
    writes: str = ""
    short: str = ""


class Peek(msgspec.Struct, frozen=True):
    """The first look at an input: its name, what kind of file it is and what its first records say.

    `shape` is "lines" (JSONL), "list" or "object" (JSON), "xml", "table" (tab-separated), "text",
    "pickle", "binary" or "folder". `first` holds the keys of the first few records of lines or list
    with their first values (the first record where none is an object), the object's own keys for
    an object (values may be cut off and are then missing), the cells of the first line of a table.
    `head` is the first 64 kB of the content, decompressed.
    """

    name: str
    shape: str
    head: bytes
    first: Any = None

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the first records, empty where none is an object."""
        return frozenset(self.first) if isinstance(self.first, Mapping) else frozenset()


class Source(Protocol):
    """An input: a file, standard input, a folder or rows in memory. `read.source` makes them."""

    @property
    def name(self) -> str: ...
    @property
    def rows(self) -> Sequence[Any] | None: ...

    records: int | None

    def peek(self) -> Peek: ...
    def data(self) -> bytes: ...
    def blocks(self) -> Iterator[bytes]: ...
    def digest(self) -> str: ...
    def check(self, extensions: Sequence[str] = ()) -> list[Problem]: ...


class Declared(msgspec.Struct, frozen=True):
    """What a run configuration says about the data, for the checks that need it."""

    class_names: tuple[str, ...] | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    embeddings: tuple[str, ...] = ()


class Request(msgspec.Struct, frozen=True):
    """What to read: the two sides, the task's options, and the fields wanted from the records.

    `by`, `cluster` and `weights` name fields (`meta.channel`) or computed ones of the task.
    `purpose` is "check" where nothing will be scored: then predictions may be missing.
    """

    gold: tuple[Source, ...]
    predictions: tuple[Source, ...] = ()
    options: Mapping[str, Any] = {}
    by: tuple[str, ...] = ()
    cluster: str | None = None
    weights: str | None = None
    declared: Declared = Declared()
    purpose: Literal["score", "check"] = "score"


class Official(msgspec.Struct, frozen=True):
    """Which script a task's numbers equal, for `karat tasks`, the signature and the docs."""

    name: str
    version: str
    exact: str = ""


class Converter(msgspec.Struct, frozen=True):
    """One direction of `karat convert`: a function `module:attribute` from format to format.

    It is called as `convert(inputs, output, options, problems)` with paths, and loaded only then;
    options also say `from` and `to`. `recognise` tells whether an input is of the source format;
    `extension` is how an output of the target format is usually named.
    """

    source: str
    target: str
    module: str
    attribute: str
    help: str = ""
    recognise: Callable[[Peek], bool] | None = None
    extension: str = ""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """The light face of a task.

    `recognise(gold, predictions)` returns what it saw ("text and label, probabilities") or None.
    `computed` maps a computed field to its description. `config_name` is the task's name in a run
    configuration, for the tasks that have prediction caches. `sample` names the folder in
    `karat/samples/`, its two files, and the flags that show it best. `exemptions` names the
    contract tests that the task's official definition cannot hold, each with the reason.
    `open_items` says that predictions add items of their own (mentions), which gold and other
    systems lack; such an item contributes nothing to a system that does not have it.
    `several` names the sides ("gold", "predictions") that may be more than one file.
    """

    name: str
    title: str
    summary: str
    item: str
    layout: str
    recognise: Callable[[Peek, Peek | None], str | None]
    module: str
    attribute: str = "TASK"
    options: tuple[Option, ...] = ()
    computed: Mapping[str, str] = {}
    config_name: str | None = None
    official: Official | None = None
    sample: tuple[str, ...] = ()
    converters: tuple[Converter, ...] = ()
    exemptions: Mapping[str, str] = {}
    open_items: bool = False
    several: tuple[str, ...] = ()

    def load(self) -> Task:
        """The task itself. Imports what it needs."""
        task: Task = getattr(importlib.import_module(self.module), self.attribute)
        return task


class Task(Protocol):
    """What every task can do. Each method is a function from values to values."""

    def read(self, card: Card, request: Request, problems: Problems) -> Pairs[Any, Any] | None:
        """Paired columns, None where the inputs are too broken to pair. Collects all problems."""

    def measure(self, pairs: Pairs[Any, Any], options: Mapping[str, Any]) -> Sequence[Evidence]:
        """What each item contributes."""

    def metrics(self, pairs: Pairs[Any, Any], options: Mapping[str, Any]) -> Sequence[Metric]:
        """The metrics that this data allows, in the order of the report."""

    def official(
        self, pairs: Pairs[Any, Any], evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """Scores summed as the official script sums them; they replace the shown values."""

    def notes(self, pairs: Pairs[Any, Any], options: Mapping[str, Any]) -> list[str]:
        """What the reader of the report should know: what was decided, left out or assumed."""

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """Choices that papers leave open, for the signature: bins of ECE, what macro runs over."""

    def views(
        self, pairs: Pairs[Any, Any], evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """The task's own tables and curves: confusion matrix, reliability."""

    def examples(
        self,
        pairs: Pairs[Any, Any],
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """The worst items, each with why it lost."""


@runtime_checkable
class Labelled(Protocol):
    """A task whose labels come from the data, so that two systems may have different ones."""

    def labels(self, pairs: Pairs[Any, Any]) -> tuple[str, ...]:
        """What the wide groups of cells stand for, sorted."""

    def relabelled(self, pairs: Pairs[Any, Any], labels: tuple[str, ...]) -> Pairs[Any, Any]:
        """The same pairs over a longer list of labels."""


def names(cards: Iterable[Card]) -> list[str]:
    """Their names, for messages and completion."""
    return [card.name for card in cards]
