"""The slow look at the three files: every defect of each, and what they say of each other.

Loaded only where something is wrong, so that sound files are scored without it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from karat.read.place import Spoiled, kind, printable, show
from karat.read.strictjson import Malformed, Path, StrictReader, defects
from karat.tasks.answers.reading import Reading

Number = int | float

CLOSE = 0.75
"""How much a key must be like the one that is missing to be taken for it."""


def value_of(reading: Reading) -> Any:
    """A whole file as plain values, its defects as JSON reported; UNSET if it is no JSON."""
    text = reading.text
    if not text.strip():
        if not reading.damaged:
            reading.add("file-empty", "file holds no records")
        return msgspec.UNSET
    try:
        value, end = StrictReader().read(text, len(text) - len(text.lstrip()))
    except Malformed as error:
        _broken(reading, error.message, error.at)
        return msgspec.UNSET
    if text[end:].strip():
        end += len(text[end:]) - len(text[end:].lstrip())
        _broken(reading, "not valid JSON: there is more after its end", end)
        return msgspec.UNSET
    for code, message, path, severity in defects(value):
        mild = not reading.strict and severity == "error"
        reading.add(code, message, path, severity="warning" if mild else severity)
    return value if reading.strict else json.loads(text)


def _broken(reading: Reading, message: str, at: int) -> None:
    """Report what is no JSON, unless the bytes were no text to begin with."""
    if not reading.damaged:
        reading.add("json-syntax", message, line=reading.text.count("\n", 0, at) + 1)


# --- gold ----------------------------------------------------------------------------------------


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
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        hint = 'write [{"text": ...}, ...], an object for each answer'
    if key not in parent:
        text = "is missing"
        for close in get_close_matches(key, map(str, parent), n=1, cutoff=CLOSE):
            hint = f"is '{printable(close)}' meant to be '{key}'?"
    text = f"{text}; {_NEEDED[wanted]}"
    reading.add(code, text, (*path, key), record=record, help=hint)
    return None


# --- predictions and probabilities ---------------------------------------------------------------

Check = Callable[[str, Any, Reading], None]


def check_mapping(value: Any, what: str, check: Check, reading: Reading) -> None:
    """Report whatever is wrong with an object of question id to `what`."""
    if isinstance(value, dict):
        for key, one in value.items():
            check(key, one, reading)
    else:
        text = f"top level is of type {kind(value)}; an object of question id to {what} is required"
        reading.add("not-mapping", text, help=_list_help(value))


def _list_help(value: Any) -> str:
    """How to mend the list of records that other libraries write."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and "id" in value[0]:
        return "write {id: answer} from these records"
    return ""


def check_answer(key: str, value: Any, reading: Reading) -> None:
    """Report an answer that is no text."""
    if isinstance(value, (str, Spoiled)):
        return
    if value is None:
        text = "answer is null; write an empty string where the model says that there is no answer"
        reading.add("answer-null", text, (key,))
    else:
        text = f"answer is {show(value)}, of type {kind(value)}; a string is required"
        reading.add("answer-type", text, (key,))


def check_chance(key: str, value: Any, reading: Reading) -> None:
    """Report a probability that is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        text = f"probability is {show(value)}, of type {kind(value)}; a number is required"
        reading.add("na-prob-type", text, (key,))


# --- what the files say of each other ------------------------------------------------------------

SHOWN_IDS = 5


def listed(ids: Sequence[str], total: int, noun: str) -> str:
    """`2 of 3 questions: q1, q2`: how many of how many, and the first ids."""
    shown = [*map(printable, ids[:SHOWN_IDS]), *(["..."] if len(ids) > SHOWN_IDS else [])]
    return f"{len(ids):,} of {total:,} {noun}: {', '.join(shown)}"


def check_repeated(dataset: Any, ids: Sequence[str], version: str, reading: Reading) -> None:
    """Warn of ids that stand at several questions."""
    at = {key: i for i, key in enumerate(ids)}
    twice = [key for key, times in Counter(ids).items() if times > 1]
    counts = "the last one counts" if version == "2.0" else "each of them counts"
    text = f"more than one question for {listed(twice, len(at), 'ids')}; {counts}"
    place = at[twice[0]]
    path = (*paths_of(dataset)[place], "id")
    reading.add("question-duplicate", text, path, record=place, severity="warning")


def check_silent(dataset: Any, ids: Sequence[str], silent: Sequence[int], reading: Reading) -> None:
    """Report questions without an answer in a data set that may have none."""
    text = f"no gold answer for {listed([ids[i] for i in silent], len(ids), 'questions')}"
    path = (*paths_of(dataset)[silent[0]], "answers")
    hint = "such questions belong to SQuAD 2.0: --task squad2"
    reading.add("answers-missing", text, path, record=silent[0], help=hint)


def paths_of(dataset: Any) -> list[Path]:
    """Where each question stands in the document."""
    return [
        ("data", a, "paragraphs", p, "qas", q)
        for a, article in enumerate(dataset.data)
        for p, paragraph in enumerate(article.paragraphs)
        for q in range(len(paragraph.qas))
    ]


def check_missing(
    ids: Sequence[str], said: Mapping[str, str], policy: str, reading: Reading
) -> None:
    """Report questions without a prediction: an error unless a policy for them was chosen."""
    missing = [key for key in ids if key not in said]
    if not missing:
        return
    text = f"no prediction for {listed(missing, len(ids), 'questions')}"
    if len(missing) == len(ids) and policy != "zero":
        hint = "not one id matches: do these files belong together?"
        reading.add("prediction-missing", text, help=hint)
    elif policy == "error":
        hint = "--missing zero counts them as wrong, --missing skip leaves them out"
        reading.add("prediction-missing", text, help=hint)
    else:
        done = "counted as wrong" if policy == "zero" else "left out"
        reading.add("prediction-missing", f"{text}; {done}", severity="warning")


def check_extra(ids: Sequence[str], given: Mapping[str, Any], what: str, reading: Reading) -> None:
    """Warn of ids that are not in the data."""
    known = set(ids)
    extra = [key for key in given if key not in known]
    if extra:
        text = f"no question for {listed(extra, len(given), what)}; ignored"
        reading.add("prediction-extra", text, (extra[0],), severity="warning")


def check_chances(ids: Sequence[str], chances: Mapping[str, Number], reading: Reading) -> None:
    """Report predicted questions without a probability; warn where all probabilities are equal."""
    missing = [key for key in ids if key not in chances]
    if missing:
        text = f"no probability for {listed(missing, len(ids), 'predicted questions')}"
        reading.add("na-prob-missing", text)
    elif len(ids) > 1 and all(chances[key] == chances[ids[0]] for key in ids):
        text = f"all no-answer probabilities are {show(chances[ids[0]])}: thresholds mean nothing"
        reading.add("na-prob-constant", text, severity="warning")
