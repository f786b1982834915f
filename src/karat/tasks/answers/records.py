"""The three files: questions, answers said, no-answer probabilities, decoded and checked.

Typed decoding reads only what scoring needs and leaves the contexts alone. Where it stops, or
where a repeated key is possible, the file is read once more, slowly, and every defect is named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from karat.model.problem import Problems
from karat.read.place import Place, Spoiled, kind, printable, show
from karat.read.strictjson import Malformed, StrictReader

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


class Reading:
    """One file while it is read: its bytes, its name, and where its problems go.

    `strict` makes errors of what the official scripts let pass (repeated keys).
    """

    def __init__(self, data: bytes, name: str, problems: Problems, strict: bool = True) -> None:
        self.data, self.name, self.problems, self.strict = data, name, problems, strict
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The content as text; a byte that is not UTF-8 is reported and replaced."""
        if self._text is None:
            try:
                self._text = self.data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                line = self.data.count(b"\n", 0, error.start) + 1
                text = (
                    f"byte 0x{self.data[error.start]:02x} is not UTF-8; re-save the file as UTF-8"
                )
                self.place(line).add("encoding", text)
                self._text = self.data.decode("utf-8", "replace")
        return self._text

    def place(self, line: int | None = None, record: int | None = None) -> Place:
        """A place in this file."""
        return Place(self.problems, self.name, line, record)

    def at_key(self, key: str, record: int | None = None) -> Place:
        """The place of the first line that holds this text as a JSON string."""
        for plain in (True, False):
            at = self.text.find(json.dumps(key, ensure_ascii=plain))
            if at >= 0:
                return self.place(self.text.count("\n", 0, at) + 1, record)
        return self.place(record=record)

    def value(self) -> Any:
        """The whole file as plain values, its defects as JSON reported; UNSET if it is no JSON."""
        reader = StrictReader()
        start = len(self.text) - len(self.text.lstrip())
        if not self.text.strip():
            self.place().add("file-empty", "file holds no records")
            return msgspec.UNSET
        try:
            value, end = reader.read(self.text, start)
        except Malformed as error:
            self.place(self.text.count("\n", 0, error.at) + 1).add("json-syntax", error.message)
            return msgspec.UNSET
        if self.text[end:].strip():
            line = self.text.count("\n", 0, len(self.text.rstrip())) + 1
            self.place(line).add("json-syntax", "not valid JSON: there is more after its end")
            return msgspec.UNSET
        self._report(reader, value)
        return value

    def _report(self, reader: StrictReader, value: Any) -> None:
        found = Problems()
        reader.report(value, Place(found, self.name))
        for problem in found:
            mild = problem.code == "duplicate-key" and not self.strict
            line = None
            if problem.key:
                line = self.at_key(problem.key.rsplit(".", 1)[-1].split("[")[0]).line
            self.problems.take(
                msgspec.structs.replace(
                    problem, line=line, severity="warning" if mild else problem.severity
                )
            )


# --- gold ----------------------------------------------------------------------------------------


def read_questions(reading: Reading, wanted: type[msgspec.Struct] | None = None) -> Any:
    """The data set, None where it has errors. `wanted` is a schema with more fields."""
    schema = wanted or Dataset
    try:
        if wanted is None:
            return _DATASETS.decode(reading.data)
        return msgspec.json.decode(reading.data, type=wanted)
    except UNDECODABLE:
        before = reading.problems.errors
        value = reading.value()
        if value is msgspec.UNSET:
            return None
        check_questions(value, reading)
        return msgspec.convert(value, schema) if reading.problems.errors == before else None


def check_questions(value: Any, reading: Reading) -> None:
    """Report whatever is wrong with the structure of a gold file."""
    if not isinstance(value, dict):
        text = f"top level is of type {kind(value)}; an object with 'data' is required"
        reading.place().add("squad-structure", text)
        return
    record = 0
    for a, article in _parts(value, "data", "", reading):
        for p, paragraph in _parts(article, "paragraphs", f"data[{a}]", reading):
            path = f"data[{a}].paragraphs[{p}]"
            for q, question in _parts(paragraph, "qas", path, reading):
                _check_question(question, f"{path}.qas[{q}]", record, reading)
                record += 1


def _parts(
    parent: Mapping[str, Any], key: str, path: str, reading: Reading
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects in a list that must be there; whatever else is found is reported."""
    place = f"{path}.{key}" if path else key
    values = parent.get(key)
    if not isinstance(values, list):
        what = "is missing" if key not in parent else f"is of type {kind(values)}"
        reading.place().add("squad-structure", f"{what}; a list is required", place)
        return
    for i, value in enumerate(values):
        if isinstance(value, dict):
            yield i, value
        else:
            text = f"value is of type {kind(value)}; an object is required"
            reading.place().add("squad-structure", text, f"{place}[{i}]")


def _check_question(question: Mapping[str, Any], path: str, record: int, reading: Reading) -> None:
    key = question.get("id")
    place = reading.at_key(key, record) if isinstance(key, str) else reading.place(record=record)
    if not isinstance(key, str):
        what = "is missing" if "id" not in question else f"is {show(key)}, of type {kind(key)}"
        place.add("question-id", f"{what}; a string is required", f"{path}.id")
    answers = question.get("answers")
    if not isinstance(answers, list):
        what = "is missing" if "answers" not in question else f"is of type {kind(answers)}"
        text = f"{what}; a list is required, empty where there is no answer"
        place.add("answers-missing", text, f"{path}.answers")
        return
    for i, answer in enumerate(answers):
        text_of = answer.get("text") if isinstance(answer, dict) else answer
        if not isinstance(answer, dict) or not isinstance(text_of, str):
            text = f"value is {show(text_of)}; an object with a string 'text' is required"
            place.add("gold-answer", text, f"{path}.answers[{i}].text")


# --- predictions and probabilities ---------------------------------------------------------------


def read_predictions(reading: Reading) -> dict[str, str] | None:
    """Question id to answer said, None where it has errors."""
    found: dict[str, str] | None = _mapping(reading, _TEXTS, "answer", _check_answer)
    return found


def read_chances(reading: Reading) -> dict[str, Number] | None:
    """Question id to no-answer probability in the order of the file, None where it has errors."""
    found: dict[str, Number] | None = _mapping(reading, _NUMBERS, "number", _check_chance)
    return found


def _mapping(
    reading: Reading, decoder: Any, what: str, check: Callable[[str, Any, Reading], None]
) -> Any:
    """A decoded object; a file with fewer or more `":` than keys gets the slow look."""
    try:
        found = decoder.decode(reading.data)
        if reading.data.count(b'":') == len(found):
            return found
    except UNDECODABLE:
        found = None
    before = reading.problems.errors
    value = reading.value()
    if value is msgspec.UNSET:
        return None
    if not isinstance(value, dict):
        text = f"top level is of type {kind(value)}; an object of question id to {what} is required"
        reading.place().add("not-mapping", text, help=_list_help(value))
        return None
    for key, one in value.items():
        check(key, one, reading)
    return dict(value) if reading.problems.errors == before else None


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
        reading.at_key(key).add("answer-null", text, printable(key))
    else:
        text = f"answer is {show(value)}, of type {kind(value)}; a string is required"
        reading.at_key(key).add("answer-type", text, printable(key))


def _check_chance(key: str, value: Any, reading: Reading) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        text = f"probability is {show(value)}, of type {kind(value)}; a number is required"
        reading.at_key(key).add("na-prob-type", text, printable(key))


# --- what the files say of each other ------------------------------------------------------------

SHOWN_IDS = 5


def listed(ids: list[str]) -> str:
    """The first ids of a list, for a message."""
    text = ", ".join(printable(key) for key in ids[:SHOWN_IDS])
    return text if len(ids) <= SHOWN_IDS else f"{text}, ..."


def check_ids(ids: list[str], known: set[str], place: Place) -> None:
    """Warn of ids that stand at several questions."""
    if len(known) < len(ids):
        twice = [key for key, times in Counter(ids).items() if times > 1]
        text = f"{len(twice)} question ids occur more than once; the last question counts: "
        place.add("question-duplicate", text + listed(twice), severity="warning")


def check_missing(ids: list[str], said: Mapping[str, str], place: Place, policy: str) -> list[str]:
    """The ids without a prediction; an error unless a policy for them was chosen."""
    missing = [key for key in ids if key not in said]
    if missing:
        text = f"{len(missing):,} of {len(ids):,} questions have no prediction: {listed(missing)}"
        if policy == "error":
            hint = "--missing zero counts them as wrong, --missing skip leaves them out"
            if len(missing) == len(ids):
                hint = "not one id matches: do these files belong together?"
            place.add("prediction-missing", text, help=hint)
        else:
            done = "counted as wrong" if policy == "zero" else "left out"
            place.add("prediction-missing", f"{text}; {done}", severity="warning")
    return missing


def check_extra(known: set[str], given: Mapping[str, Any], place: Place, what: str) -> None:
    """Warn of ids that are not in the data."""
    if len(given) and not given.keys() <= known:
        extra = [key for key in given if key not in known]
        text = f"{len(extra):,} {what} belong to no question and are ignored: {listed(extra)}"
        place.add("prediction-extra", text, severity="warning")


def check_chances(ids: list[str], chances: Mapping[str, Number], place: Place) -> None:
    """Report predicted questions without a probability; warn where all probabilities are equal."""
    missing = [key for key in ids if key not in chances]
    if missing:
        text = f"{len(missing):,} of {len(ids):,} predicted questions have no probability: "
        place.add("na-prob-missing", text + listed(missing))
    elif len(ids) > 1 and len({chances[key] for key in ids}) == 1:
        text = f"all no-answer probabilities are {show(chances[ids[0]])}: thresholds mean nothing"
        place.add("na-prob-constant", text, severity="warning")
