"""What questions belong to and are sliced by: article, paragraph, question word, any field."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import CodeArray, Facet
from karat.read.fields import Fields, Selected
from karat.tasks.answers import COMPUTED, files, records
from karat.tasks.answers.normal import squad_words
from karat.tasks.answers.records import Reading

_WORDS = {"whom": "who", "whose": "who"} | {
    word: word for word in ("who", "what", "when", "where", "which", "why", "how")
}


@dataclass(frozen=True, slots=True)
class Placed:
    """A question with its article and paragraph, for the fields that are computed."""

    question: Any
    article: str
    paragraph: str


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
    for number, article in enumerate(dataset.data, 1):
        title = article.title if isinstance(article.title, str) and article.title else ""
        codes.append(names.setdefault(title or f"article {number}", len(names)))
        counts.append(sum(len(paragraph.qas) for paragraph in article.paragraphs))
    each = np.repeat(np.array(codes, dtype=np.int32), counts)
    return each[np.asarray(places, dtype=np.int64)], list(names)


def _paragraph_names(dataset: Any) -> list[str]:
    """The name of the paragraph of every question in the file."""
    found: list[str] = []
    for number, article in enumerate(dataset.data, 1):
        title = article.title if isinstance(article.title, str) and article.title else ""
        for p, paragraph in enumerate(article.paragraphs, 1):
            found += [f"{title or f'article {number}'} §{p}"] * len(paragraph.qas)
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
    fields: Fields, dataset: Any, gold: files.Asked, titles: list[str], reading: Reading
) -> Selected:
    """The facets, clusters and weights that were asked for."""
    struct = fields.schema("Row", {})
    articles, _ = articles_of(dataset, gold.places)
    paragraphs = _paragraph_names(dataset) if "paragraph" in fields.names else None
    attributes = {f.encode_name: f.name for f in msgspec.structs.fields(type(gold.questions[0]))}
    own = sorted({name.split(".")[0] for name in fields.names if name not in COMPUTED})
    rows = []
    for at, question in enumerate(gold.questions):
        row: dict[str, Any] = {}
        for name in own:
            if name in attributes:
                value = getattr(question, attributes[name])
                if value is not msgspec.UNSET:
                    row[name] = value
        placed = Placed(
            getattr(question, attributes["question"], "") if "question" in attributes else "",
            titles[articles[at]],
            paragraphs[gold.places[at]] if paragraphs else "",
        )
        for name in fields.names:
            if name in COMPUTED:
                row[name] = _computed(name, question, placed, gold.ids[at])
        rows.append(row)
    fields.add(
        msgspec.convert(rows, list[struct]),  # type: ignore[valid-type]
        lambda i: reading.at_key(gold.ids[i], int(gold.places[i])),
    )
    known = {*COMPUTED, *_keys_of_first(reading)}
    return fields.finish(reading.problems, reading.name, known)


def _computed(name: str, question: Any, placed: Placed, key: str) -> Any:
    """A computed field of one question."""
    text = placed.question if isinstance(placed.question, str) else ""
    make: dict[str, Callable[[], Any]] = {
        "article": lambda: placed.article,
        "paragraph": lambda: placed.paragraph,
        "question": lambda: key,
        "question_word": lambda: question_word(text),
        "question_length": lambda: len(text.split()),
        "answer_length": lambda: (
            len(squad_words(question.answers[0].text)) if question.answers else 0
        ),
        "answerable": lambda: bool(question.answers),
        "golds": lambda: len(question.answers),
    }
    return make[name]()


def question_word(text: str) -> str:
    """The first word that asks, "other" where there is none."""
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _WORDS:
            return _WORDS[word]
    return "other"


def _keys_of_first(reading: Reading) -> list[str]:
    """The keys of the first question, for hints."""
    try:
        dataset = msgspec.json.decode(reading.data)
        questions = chain.from_iterable(p["qas"] for a in dataset["data"] for p in a["paragraphs"])
        return [str(key) for key in next(questions)]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, StopIteration):
        return []
