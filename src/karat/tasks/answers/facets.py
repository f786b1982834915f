"""What questions belong to and are sliced by: article, paragraph, question word, any field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import CodeArray, Facet
from karat.model.problem import Problems
from karat.read.fields import Fields, Selected, inside
from karat.read.locate import lines_of
from karat.read.place import Place
from karat.read.strictjson import Path
from karat.tasks.answers import COMPUTED, files, records
from karat.tasks.answers.checks import paths_of
from karat.tasks.answers.normal import squad_words
from karat.tasks.answers.reading import Reading

_WORDS = {"whom": "who", "whose": "who"} | {
    word: word for word in ("who", "what", "when", "where", "which", "why", "how")
}


def schema(names: Sequence[str]) -> type[msgspec.Struct] | None:
    """A schema of the data set with the named fields of questions, None if none is needed."""
    own = {name.split(".")[0] for name in names if name not in COMPUTED}
    if {"question_word", "question_length"} & set(names):
        own.add("question")
    own -= {"id", "answers"}
    if not own:
        return None
    more = [
        (f"field_{i}", Any, msgspec.field(name=name, default=msgspec.UNSET))
        for i, name in enumerate(sorted(own))
    ]
    question: Any = msgspec.defstruct("Question", more, bases=(records.Question,), gc=False)
    paragraph: Any = msgspec.defstruct("Paragraph", [("qas", list[question])], gc=False)
    parts: list[Any] = [("paragraphs", list[paragraph]), ("title", Any, None)]
    article: Any = msgspec.defstruct("Article", parts, gc=False)
    return msgspec.defstruct("Dataset", [("data", list[article])], gc=False)


def articles_of(dataset: Any, places: Sequence[int]) -> tuple[CodeArray, list[str]]:
    """(article of each question, name of each article). Articles of one title are one."""
    names: dict[str, int] = {}
    counts, codes = [], []
    for name, article in _named(dataset):
        codes.append(names.setdefault(name, len(names)))
        counts.append(sum(len(paragraph.qas) for paragraph in article.paragraphs))
    each = np.repeat(np.array(codes, dtype=np.int32), counts)
    return each[np.asarray(places, dtype=np.int64)], list(names)


def _named(dataset: Any) -> list[tuple[str, Any]]:
    """The articles with their titles, or their numbers where they have none."""
    return [
        (title if isinstance(title, str) and title else f"article {number}", article)
        for number, article in enumerate(dataset.data, 1)
        for title in [article.title]
    ]


def _paragraph_names(dataset: Any) -> list[str]:
    """The name of the paragraph of every question in the file."""
    found: list[str] = []
    for name, article in _named(dataset):
        for number, paragraph in enumerate(article.paragraphs, 1):
            found += [f"{name} §{number}"] * len(paragraph.qas)
    return found


def default_cluster(
    dataset: Any, gold: files.Asked, articles: CodeArray, titles: list[str]
) -> Facet | None:
    """Articles; paragraphs where there is only one article."""
    if bool((articles != articles[:1]).any()):
        return Facet("article", articles, tuple(titles))
    names = _paragraph_names(dataset)
    mine = [names[place] for place in gold.places]
    levels = {name: code for code, name in enumerate(dict.fromkeys(mine))}
    codes = np.fromiter(map(levels.__getitem__, mine), np.int32, len(mine))
    return Facet("paragraph", codes, tuple(levels)) if len(levels) > 1 else None


def select(
    fields: Fields, dataset: Any, gold: files.Asked, reading: Reading, problems: Problems
) -> Selected:
    """The facets, clusters and weights that were asked for."""
    asked = Questions.of(dataset, gold)
    paths = paths_of(dataset)

    @cache
    def lines() -> Mapping[Path, int]:
        return lines_of(reading.text, paths)

    def place(i: int) -> Place:
        at = gold.places[i]
        return Place(problems, reading.name, lines().get(paths[at]), at)

    for name in fields.names:
        compute = _COMPUTED.get(name)
        fields.take(name, compute(asked) if compute else asked.own(name), place)
    return fields.finish(problems, reading.name, {*COMPUTED, *_keys_of_first(reading)})


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions that count, with whatever they are sliced by."""

    dataset: Any
    gold: files.Asked
    decoded: Sequence[Any]

    @classmethod
    def of(cls, dataset: Any, gold: files.Asked) -> Questions:
        """The questions of a data set that count."""
        every = [q for article in dataset.data for p in article.paragraphs for q in p.qas]
        return cls(dataset, gold, [every[place] for place in gold.places])

    def own(self, name: str) -> list[Any]:
        """A field that the questions themselves have; UNSET where one lacks it."""
        first, _, rest = name.partition(".")
        attributes = {f.encode_name: f.name for f in msgspec.structs.fields(type(self.decoded[0]))}
        values = [getattr(question, attributes[first]) for question in self.decoded]
        return [inside(value, rest) for value in values] if rest else values

    def texts(self) -> list[str]:
        """The questions as they are asked, empty where there is no text."""
        return [text if isinstance(text, str) else "" for text in self.own("question")]

    def articles(self) -> list[str]:
        """The article of each question."""
        codes, titles = articles_of(self.dataset, self.gold.places)
        return [titles[code] for code in codes]

    def paragraphs(self) -> list[str]:
        """The paragraph of each question."""
        names = _paragraph_names(self.dataset)
        return [names[place] for place in self.gold.places]


_COMPUTED: Mapping[str, Callable[[Questions], list[Any]]] = {
    "article": Questions.articles,
    "paragraph": Questions.paragraphs,
    "question": lambda asked: asked.gold.ids,
    "question_word": lambda asked: list(map(question_word, asked.texts())),
    "question_length": lambda asked: [len(text.split()) for text in asked.texts()],
    "answer_length": lambda asked: [
        len(squad_words(answers[0].text)) if answers else 0 for answers in asked.gold.golds
    ],
    "answerable": lambda asked: list(map(bool, asked.gold.golds)),
    "golds": lambda asked: list(map(len, asked.gold.golds)),
}


def question_word(text: str) -> str:
    """The first word that asks, "other" where there is none."""
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _WORDS:
            return _WORDS[word]
    return "other"


def _keys_of_first(reading: Reading) -> list[str]:
    """The keys of the first question, for hints."""
    try:
        dataset = msgspec.json.decode(reading.content)
        questions = chain.from_iterable(p["qas"] for a in dataset["data"] for p in a["paragraphs"])
        return [str(key) for key in next(questions)]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, StopIteration):
        return []
