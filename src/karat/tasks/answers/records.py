"""The three files: questions, answers said, no-answer probabilities, decoded and checked.

Typed decoding reads only what scoring needs and leaves the contexts alone. Where it stops, or
where a repeated key is possible, the file is read once more, slowly, and every defect is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from karat.read.place import Spoiled, kind, printable, show
from karat.read.strictjson import Path
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


CLOSE = 0.75
"""How much a key must be like the one that is missing to be taken for it."""

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_DATASETS = msgspec.json.Decoder(Dataset)
_TEXTS = msgspec.json.Decoder(dict[str, str])
_NUMBERS = msgspec.json.Decoder(dict[str, int | float])


# --- gold ----------------------------------------------------------------------------------------


def read_questions(reading: Reading, wanted: type[msgspec.Struct] | None = None) -> Any:
    """The data set, None where it has errors. `wanted` is a schema with more fields."""
    decoder = _DATASETS if wanted is None else msgspec.json.Decoder(wanted)
    found = _decoded(reading, decoder)
    if found is not None:
        return found
    value = reading.value()
    if value is not msgspec.UNSET:
        check_questions(value, reading)
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


def check_questions(value: Any, reading: Reading) -> None:
    """Report whatever is wrong with the structure of a gold file."""
    if not isinstance(value, dict):
        text = f"top level is of type {kind(value)}; an object with 'data' is required"
        reading.add("squad-structure", text)
        return
    record = 0
    for in_article, article in _parts(value, "data", (), reading):
        for in_paragraph, paragraph in _parts(article, "paragraphs", in_article, reading):
            for path, question in _parts(paragraph, "qas", in_paragraph, reading):
                _check_question(question, path, record, reading)
                record += 1


def _parts(
    parent: Mapping[str, Any], key: str, path: Path, reading: Reading
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The objects in a list that must be there; whatever else is found is reported."""
    values = _member(parent, key, list, "squad-structure", path, reading)
    for i, value in enumerate(values or ()):
        if isinstance(value, dict):
            yield (*path, key, i), value
        else:
            text = f"value is of type {kind(value)}; an object is required"
            reading.add("squad-structure", text, (*path, key, i))


def _check_question(question: Mapping[str, Any], path: Path, record: int, reading: Reading) -> None:
    _member(question, "id", str, "question-id", path, reading, record)
    answers = _member(question, "answers", list, "answers-missing", path, reading, record)
    for i, answer in enumerate(answers or ()):
        here = (*path, "answers", i)
        if isinstance(answer, dict):
            _member(answer, "text", str, "gold-answer", here, reading, record)
        else:
            text = f"value is {show(answer)}; an object with a string 'text' is required"
            reading.add("gold-answer", text, here, record=record)


_NEEDED: Mapping[type, str] = {str: "a string is required", list: "a list is required"}
_HELP = {"answers-missing": "a question without an answer has an empty list"}


def _member(
    parent: Mapping[str, Any],
    key: str,
    wanted: type,
    code: str,
    path: Path,
    reading: Reading,
    record: int | None = None,
) -> Any:
    """A member of an object; None, and a problem, where it is not there or of another type."""
    value = parent.get(key)
    if isinstance(value, wanted):
        return value
    text, hint = f"is {show(value)}, of type {kind(value)}", _HELP.get(code, "")
    if key not in parent:
        text = "is missing"
        for close in get_close_matches(key, map(str, parent), n=1, cutoff=CLOSE):
            hint = f"is '{printable(close)}' meant to be '{key}'?"
    text = f"{text}; {_NEEDED[wanted]}"
    reading.add(code, text, (*path, key), record=record, help=hint)
    return None


def paths_of(dataset: Any) -> list[Path]:
    """Where each question stands in the document."""
    return [
        ("data", a, "paragraphs", p, "qas", q)
        for a, article in enumerate(dataset.data)
        for p, paragraph in enumerate(article.paragraphs)
        for q in range(len(paragraph.qas))
    ]


# --- predictions and probabilities ---------------------------------------------------------------


def read_predictions(reading: Reading) -> dict[str, str] | None:
    """Question id to answer said, None where it has errors."""
    found: dict[str, str] | None = _mapping(reading, _TEXTS, 4, "answer", _check_answer)
    return found


def read_chances(reading: Reading) -> dict[str, Number] | None:
    """Question id to no-answer probability in the order of the file, None where it has errors."""
    found: dict[str, Number] | None = _mapping(reading, _NUMBERS, 2, "number", _check_chance)
    return found


def _mapping(
    reading: Reading,
    decoder: Any,
    quotes: int,
    what: str,
    check: Callable[[str, Any, Reading], None],
) -> Any:
    """A decoded object. One that may have repeated keys gets the slow look.

    An entry has that many `quotes`, and one `":`; a text with more of both has more entries than
    were decoded, or strings that look like it.
    """
    found = _decoded(reading, decoder)
    if found is not None:
        content = bytes(reading.content)
        if quotes * len(found) == content.count(b'"') or len(found) == content.count(b'":'):
            return found
    value = reading.value()
    if isinstance(value, dict):
        for key, one in value.items():
            check(key, one, reading)
    elif value is not msgspec.UNSET:
        text = f"top level is of type {kind(value)}; an object of question id to {what} is required"
        reading.add("not-mapping", text, help=_list_help(value))
    return dict(value) if reading.tell() else None


def _list_help(value: Any) -> str:
    """How to mend the list of records that other libraries write."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and "id" in value[0]:
        return "write {id: answer} from these records"
    return ""


def _check_answer(key: str, value: Any, reading: Reading) -> None:
    if isinstance(value, (str, Spoiled)):
        return
    if value is None:
        text = "answer is null; write an empty string where the model says that there is no answer"
        reading.add("answer-null", text, (key,))
    else:
        text = f"answer is {show(value)}, of type {kind(value)}; a string is required"
        reading.add("answer-type", text, (key,))


def _check_chance(key: str, value: Any, reading: Reading) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        text = f"probability is {show(value)}, of type {kind(value)}; a number is required"
        reading.add("na-prob-type", text, (key,))


# --- what the files say of each other ------------------------------------------------------------

SHOWN_IDS = 5


def listed(ids: Sequence[str], total: int, noun: str) -> str:
    """`2 of 3 questions: q1, q2`: how many of how many, and the first ids."""
    shown = [*map(printable, ids[:SHOWN_IDS]), *(["..."] if len(ids) > SHOWN_IDS else [])]
    return f"{len(ids):,} of {total:,} {noun}: {', '.join(shown)}"


def check_repeated(ids: Sequence[str], version: str, reading: Reading, paths: list[Path]) -> None:
    """Warn of ids that stand at several questions."""
    at = {key: i for i, key in enumerate(ids)}
    twice = [key for key, times in Counter(ids).items() if times > 1]
    counts = "the last one counts" if version == "2.0" else "each of them counts"
    text = f"more than one question for {listed(twice, len(at), 'ids')}; {counts}"
    first = at[twice[0]]
    path = (*paths[first], "id")
    reading.add("question-duplicate", text, path, record=first, severity="warning")


def check_missing(
    ids: Sequence[str], said: Mapping[str, str], policy: str, reading: Reading
) -> None:
    """Report questions without a prediction: an error unless a policy for them was chosen."""
    missing = [key for key in ids if key not in said]
    text = f"no prediction for {listed(missing, len(ids), 'questions')}"
    if policy != "error":
        done = "counted as wrong" if policy == "zero" else "left out"
        reading.add("prediction-missing", f"{text}; {done}", severity="warning")
        return
    hint = "--missing zero counts them as wrong, --missing skip leaves them out"
    if len(missing) == len(ids):
        hint = "not one id matches: do these files belong together?"
    reading.add("prediction-missing", text, help=hint)


def check_extra(known: set[str], given: Mapping[str, Any], what: str, reading: Reading) -> None:
    """Warn of ids that are not in the data."""
    extra = [key for key in given if key not in known]
    if extra:
        text = f"no question for {listed(extra, len(given), what)}; ignored"
        reading.add("prediction-extra", text, severity="warning")


def check_chances(ids: Sequence[str], chances: Mapping[str, Number], reading: Reading) -> None:
    """Report predicted questions without a probability; warn where all probabilities are equal."""
    missing = [key for key in ids if key not in chances]
    if missing:
        text = f"no probability for {listed(missing, len(ids), 'predicted questions')}"
        reading.add("na-prob-missing", text)
    elif len(ids) > 1 and len({chances[key] for key in ids}) == 1:
        text = f"all no-answer probabilities are {show(chances[ids[0]])}: thresholds mean nothing"
        reading.add("na-prob-constant", text, severity="warning")
