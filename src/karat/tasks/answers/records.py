"""The three files: questions, answers said, no-answer probabilities.

Typed decoding reads only what scoring needs and leaves the contexts alone. Where it stops, or
where a repeated key is possible, the file is looked at once more, slowly, by `checks`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from karat.tasks.answers.reading import Reading

Number = int | float


class Answer(msgspec.Struct, gc=False):
    """One gold answer."""

    text: str


class Question(msgspec.Struct, gc=False):
    """A question as scoring needs it. No gold answer means that it cannot be answered."""

    id: str
    answers: list[Answer]


class Paragraph(msgspec.Struct, gc=False):
    """The questions of one context."""

    qas: list[Question]


class Article(msgspec.Struct, gc=False):
    """The paragraphs of one article."""

    paragraphs: list[Paragraph]
    title: Any = None


class Dataset(msgspec.Struct, gc=False):
    """A whole gold file."""

    data: list[Article]
    version: Any = None


UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_DATASETS = msgspec.json.Decoder(Dataset)
_TEXTS = msgspec.json.Decoder(dict[str, str])
_NUMBERS = msgspec.json.Decoder(dict[str, int | float])


def read_questions(reading: Reading, wanted: type[msgspec.Struct] | None = None) -> Any:
    """The data set, None where it has errors. `wanted` is a schema with more fields."""
    decoder = _DATASETS if wanted is None else msgspec.json.Decoder(wanted)
    found = _decoded(reading, decoder)
    if found is not None:
        return found
    from karat.tasks.answers import checks

    value = checks.value_of(reading)
    if value is not msgspec.UNSET:
        checks.check_questions(value, reading)
    if not reading.tell():
        return None
    try:
        return msgspec.convert(value, decoder.type)
    except (msgspec.ValidationError, RecursionError) as error:
        reading.add("squad-structure", str(error))
        reading.tell()
        return None


def _decoded(reading: Reading, decoder: Any) -> Any:
    """What typed decoding makes of a file, None where it is not sure."""
    try:
        return decoder.decode(reading.content)
    except UNDECODABLE:
        return None


def read_predictions(reading: Reading) -> dict[str, str] | None:
    """Question id to answer said, None where it has errors."""
    found: dict[str, str] | None = _mapping(reading, _TEXTS, 4)
    return found


def read_chances(reading: Reading) -> dict[str, Number] | None:
    """Question id to no-answer probability in the order of the file, None where it has errors."""
    found: dict[str, Number] | None = _mapping(reading, _NUMBERS, 2)
    return found


def _mapping(reading: Reading, decoder: Any, quotes: int) -> Any:
    """A decoded object. One that may have repeated keys gets the slow look.

    An entry has that many `quotes`, not counting those inside of strings, which are escaped; a text
    with more of them has more entries than were decoded.
    """
    found = _decoded(reading, decoder)
    if found is not None:
        if quotes * len(found) == sum(block.count(b'"') for block in reading.blocks()):
            return found
        bare = bytes(reading.content).replace(rb"\\", b"")
        if quotes * len(found) == bare.count(b'"') - bare.count(rb"\""):
            return found
    from karat.tasks.answers import checks

    value = checks.value_of(reading)
    if value is not msgspec.UNSET:
        if decoder is _TEXTS:
            checks.check_mapping(value, "answer", checks.check_answer, reading)
        else:
            checks.check_mapping(value, "number", checks.check_chance, reading)
    return dict(value) if reading.tell() else None
