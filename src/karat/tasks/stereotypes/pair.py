"""Both sides put together: every example with the scores of its candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import Facet, FloatArray, Pairs
from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.read.facets import Column, crossed, factors
from karat.tasks.stereotypes import SECTIONS, is_scores, language
from karat.tasks.stereotypes.examples import (
    Examples,
    Preferences,
    StereoPairs,
    Terms,
    chosen,
    encoded,
)
from karat.tasks.stereotypes.formats import PAIRS, read_sheets
from karat.tasks.stereotypes.records import CANDIDATES, DOMAINS, LABELS, Sheet, check_sheet
from karat.tasks.stereotypes.scores import FLAT, Scores, read_scores
from karat.tasks.stereotypes.sentences import check_pairs, computed, equal_texts

SHOWN = 3
"""How many ids a summary names."""

_LANGUAGE = slice(17, 19)
"""Where the original reads the language in a name: after `df_intrasentence_`."""


def read(card: Card, request: Request, problems: Problems) -> StereoPairs | None:
    """The pairs of a request, None where there is nothing sound to pair."""
    if request.purpose == "check" and not request.predictions:
        alone = [source for source in request.gold if is_scores(source.peek())]
        if alone:
            read_scores(alone[0], problems)
            return None
    asked = [name for by in request.by for name in factors(by)]
    asked += [name for name in (request.cluster, request.weights) if name]
    sheets = _wanted(read_sheets(request, _decoded(card, asked), problems), request, problems)
    scores = None
    if request.predictions:
        scores = read_scores(request.predictions[0], problems)
    elif request.purpose == "score":
        text = "there are no predictions to score"
        hint = "give DATA and PREDICTIONS; the data may also be named by --intrasentence-df-file"
        name = request.gold[0].name if request.gold else None
        problems.add("prediction-missing", text, file=name, help=hint)
    checked = [
        check_sheet(s, problems) if s.section != PAIRS else check_pairs(s, problems) for s in sheets
    ]
    sound = all(checked)
    _warn_of_language(sheets, scores, problems)
    if scores is not None:
        sheets = _with_scores(sheets, scores, request, problems)
    if not sound or scores is None or not sheets or problems.errors:
        return None
    pairs = _paired(sheets, scores, request, problems)
    if problems.errors:
        return None
    return _selected(card, request, pairs, problems)


def _decoded(card: Card, asked: Sequence[str]) -> list[str]:
    """The columns to decode beside the usual ones."""
    found = [name for name in asked if name not in card.computed]
    if "agreement" in asked:
        found += [f"c{i}_labels" for i in CANDIDATES]
    return found


def _wanted(sheets: list[Sheet], request: Request, problems: Problems) -> list[Sheet]:
    """The sheets that are not skipped, intrasentence first; a section in two files is an error."""
    kept = [s for s in sheets if not request.options.get(f"skip_{s.section}")]
    for section in (*SECTIONS, PAIRS):
        files = [s.file for s in kept if s.section == section]
        if len(files) > 1:
            text = f"there are {len(files)} files of {section} data: {', '.join(files)}"
            problems.add("section-repeated", text, file=files[-1])
    if sheets and not kept:
        problems.add(
            "nothing-to-score", "every section of the data is skipped", file=sheets[0].file
        )
    if len({s.section == PAIRS for s in kept}) > 1:
        text = "candidates and pairs of sentences cannot be scored together"
        problems.add("section-mixed", text, file=kept[-1].file)
    order = (*SECTIONS, PAIRS)
    return sorted(kept, key=lambda s: order.index(s.section))


def _with_scores(
    sheets: list[Sheet], scores: Scores, request: Request, problems: Problems
) -> list[Sheet]:
    """The sheets whose section has scores at all."""
    kept = []
    for sheet in sheets:
        if sheet.section == PAIRS or scores.of(sheet.section) is not None:
            kept.append(sheet)
        elif request.options.get("missing") == "skip":
            text = f"there are no {sheet.section} scores; that test is left out"
            problems.add("section-missing", text, file=scores.file, severity="warning")
        else:
            text = f"there are no {sheet.section} scores for {sheet.file}"
            word = f"--skip-{sheet.section} leaves that test out"
            problems.add("section-missing", text, file=scores.file, key=sheet.section, help=word)
    for section in scores.sections if sheets else ():
        used = section == FLAT or any(s.section == section for s in sheets)
        if not used and not request.options.get(f"skip_{section}"):
            text = f"the {section} scores are not used: there is no {section} data"
            problems.add("section-unused", text, file=scores.file, severity="note")
    return kept


def _paired(
    sheets: Sequence[Sheet], scores: Scores, request: Request, problems: Problems
) -> StereoPairs:
    """All examples in the order of the sheets. An example without all its scores is a problem."""
    known = scores.everything()
    matrices, ids, used = [], [], 0
    for sheet in sheets:
        candidates = _candidates(sheet)
        flat = candidates.ravel().tolist()
        values = list(map(known.get, flat))
        lost = [i for i, value in enumerate(values) if value is None]
        used += len(flat) - len(lost)
        if lost:
            _report_missing(sheet, scores, flat, lost, candidates.shape[1], request, problems)
        _warn_of_texts(sheet, known, scores.file, problems)
        found: list[float] = [np.nan if value is None else value for value in values]
        matrices.append(np.array(found, dtype=np.float64).reshape(sheet.n, -1))
        ids += _names(sheet)
    matrix = np.concatenate(matrices)
    _report_extra(sheets, scores, used, problems)
    pairs = _pairs(sheets, ids, matrix)
    whole = np.flatnonzero(~np.isnan(matrix).any(axis=1))
    if len(whole) == pairs.n or problems.errors:
        return pairs
    if not len(whole):
        problems.add("prediction-missing", "no example has all its scores", file=scores.file)
    remark = f"{pairs.n - len(whole):,} of {pairs.n:,} examples were skipped: a score is missing"
    kept = chosen(pairs, whole)
    return replace(kept, gold=replace(kept.gold, remarks=(remark,)))


def _candidates(sheet: Sheet) -> npt.NDArray[np.object_]:
    """(n, kinds): the ids of candidates, by stereotype, anti-stereotype, unrelated."""
    if sheet.section == PAIRS:
        pairs = [(f"{name}:more", f"{name}:less") for name in _names(sheet)]
        return np.array(pairs, dtype=object)
    code = {label: i for i, label in enumerate(LABELS)}
    labels = [list(map(code.__getitem__, sheet.columns[f"c{i}_gold_label"])) for i in CANDIDATES]
    order = np.argsort(np.array(labels), axis=0)
    ids = np.array([sheet.columns[f"c{i}_id"] for i in CANDIDATES], dtype=object)
    return np.asarray(np.take_along_axis(ids, order, axis=0).T)


def _names(sheet: Sheet) -> list[str]:
    """The ids of the examples; pairs may be known by their number only."""
    column = sheet.columns.get("id") or sheet.columns.get("")
    return [str(i) for i in range(sheet.n)] if column is None else [str(one) for one in column]


def _report_missing(
    sheet: Sheet,
    scores: Scores,
    flat: Sequence[str],
    lost: Sequence[int],
    kinds: int,
    request: Request,
    problems: Problems,
) -> None:
    """Say which candidates have no score, and why that may be."""
    skip = request.options.get("missing") == "skip"
    share = len(lost) / len(flat)
    hint = "--missing skip leaves such examples out and says so"
    if share > 0.5:
        hint = "are these the predictions for this data? " + hint
    for i in lost:
        text = f"candidate {flat[i]!r} of {sheet.file} has no score"
        key = _names(sheet)[i // kinds] if len(lost) <= 50 else None
        said = f"{text} (example {key})" if key else text
        problems.add(
            "prediction-missing",
            said,
            file=scores.file,
            key=sheet.section if sheet.section != PAIRS else None,
            help=hint if not skip else "",
            severity="warning" if skip else "error",
        )


def _report_extra(sheets: Sequence[Sheet], scores: Scores, used: int, problems: Problems) -> None:
    """Warn of scores that belong to no candidate: the data may be another language's."""
    sections = {sheet.section for sheet in sheets}
    given: dict[str, float] = {}
    for section, part in scores.sections.items():
        if section in sections or (section == FLAT and len(sections) > 1):
            given |= part
    if len(given) <= used:
        return
    there = {one for sheet in sheets for one in _candidates(sheet).ravel().tolist()}
    extra = [one for one in given if one not in there]
    if not extra:
        return
    named = ", ".join(extra[:SHOWN]) + (", ..." if len(extra) > SHOWN else "")
    many = "scores belong" if len(extra) > 1 else "score belongs"
    text = f"{len(extra):,} {many} to no candidate of the data ({named})"
    hint = "all languages share their ids: were these scores made with other data?"
    problems.add("prediction-extra", text, file=scores.file, help=hint, severity="warning")


def _warn_of_language(sheets: Sequence[Sheet], scores: Scores | None, problems: Problems) -> None:
    """Warn where names and texts do not agree on one language."""
    told = language.of_name(scores.file) if scores else None
    seen: dict[str, str] = {}
    for sheet in sheets:
        if sheet.section == PAIRS or "c1_sentence" not in sheet.columns:
            continue
        texts = [str(text) for text in sheet.columns["c1_sentence"]]
        named, spoken = language.of_name(sheet.file), language.of_texts(texts)
        if named and spoken and named != spoken:
            text = f"the name says {named} but the sentences look like {spoken}"
            problems.add("language-name", text, file=sheet.file, severity="warning")
        data = spoken or named
        if data:
            seen[sheet.file] = data
        if scores and told and data and told != data:
            text = f"the name says {told} but {sheet.file} is in {data}"
            hint = "all languages share their ids, so nothing else tells a mix-up"
            problems.add("language-mismatch", text, file=scores.file, help=hint, severity="warning")
    if len(set(seen.values())) > 1:
        text = f"the data files are in {' and '.join(sorted(set(seen.values())))}"
        problems.add("language-mixed", text, file=next(iter(seen)), severity="warning")


def _warn_of_texts(sheet: Sheet, known: Mapping[str, float], file: str, problems: Problems) -> None:
    """Warn where most candidates of equal text score differently: a model read other texts."""
    if sheet.section != SECTIONS[0]:
        return
    alike, apart = equal_texts(sheet, known)
    if apart >= 2 and 2 * apart > alike:
        text = (
            f"{apart} of {alike} pairs of candidates with equal texts in {sheet.file} score apart"
        )
        hint = "equal texts get equal scores: were these made with another language's data?"
        problems.add("scores-apart", text, file=file, help=hint, severity="warning")


def _english_targets(sheet: Sheet) -> bool:
    """Whether the terms are the English ones of a translation: `target_original`.

    A name that says English at the place where the original looks decides, as in the original;
    else the data do.
    """
    base = sheet.file.replace("\\", "/").rsplit("/", 1)[-1]
    return base[_LANGUAGE] != "en" and "target_original" in sheet.columns


def _terms(sheets: Sequence[Sheet], english: Sequence[bool]) -> Terms:
    """The terms of all rows, encoded."""
    told = [_targets(sheet, one) for sheet, one in zip(sheets, english, strict=True)]
    return Terms(*encoded([term for part in told for term in part]))


def _targets(sheet: Sheet, english: bool) -> list[str]:
    """The term of each row; one without an English term keeps its own."""
    own = sheet.columns["target"]
    if not english:
        return own
    told = sheet.columns.get("target_original", own)
    return [one if isinstance(one, str) else mine for one, mine in zip(told, own, strict=True)]


def _pairs(sheets: Sequence[Sheet], ids: list[str], matrix: FloatArray) -> StereoPairs:
    """The columns of all sheets, one after the other."""
    domains, domain = encoded([one for s in sheets for one in s.columns["bias_type"]], DOMAINS)
    own = whole = None
    if sheets[-1].section != PAIRS:
        english = [_english_targets(sheet) for sheet in sheets]
        own = _terms(sheets, english)
        # Over both tests the original goes by the name of the intersentence file.
        whole = _terms(sheets, [english[-1]] * len(sheets))
    sizes = [sheet.n for sheet in sheets]
    place = np.repeat(np.arange(len(sheets), dtype=np.int32), sizes)
    gold = Examples(
        sections=tuple(sheet.section for sheet in sheets),
        section=place,
        domains=domains,
        domain=domain,
        own=own,
        whole=whole,
        sheets=tuple(sheets),
        sheet=place,
        row=np.concatenate([np.arange(n, dtype=np.int32) for n in sizes]),
        kinds=matrix.shape[1],
    )
    cluster = None if whole is None else Facet("target", whole.codes, whole.names)
    item = "pair" if whole is None else "example"
    return Pairs(len(ids), gold, Preferences(matrix), ids, item=item, cluster=cluster)


def _selected(
    card: Card, request: Request, pairs: StereoPairs, problems: Problems
) -> StereoPairs | None:
    """The pairs with the facets, clusters and weights that were asked for."""
    values: dict[str, Column] = {}

    def column(name: str) -> Column:
        if name not in values:
            values[name] = Column(name)
            found = _values(card, pairs, name)
            if all(one is None for one in found):
                known = {*card.computed, *(c for s in pairs.gold.sheets for c in s.columns)}
                there = sorted(known - {name})
                close = get_close_matches(name, there, n=3)
                hint = (
                    f"did you mean {' or '.join(close)}?"
                    if close
                    else f"there are {', '.join(there)}"
                )
                file = pairs.gold.sheets[0].file
                text = f"no record has a field '{name}'"
                problems.add("field-missing", text, file=file, key=name, help=hint)
            place = _places(pairs, problems)
            values[name].add(found, place)
        return values[name]

    facets = {}
    for by in request.by:
        parts = [column(name).facet() for name in factors(by)]
        facets[by] = parts[0] if len(parts) == 1 else crossed(by, parts)
    cluster = column(request.cluster).facet(bins=False) if request.cluster else pairs.cluster
    weights = column(request.weights).numbers() if request.weights else None
    if request.weights and not (
        weights is not None and (weights >= 0).all() and 0 < weights.sum() < math.inf
    ):
        text = "every record needs a weight that is a number and not negative; not all may be 0"
        problems.add("weight-value", text, file=pairs.gold.sheets[0].file, key=request.weights)
    if problems.errors:
        return None
    return replace(pairs, facets=facets, cluster=cluster, weights=weights)


def _places(pairs: StereoPairs, problems: Problems) -> Callable[[int], Any]:
    gold = pairs.gold
    return lambda i: gold.sheets[gold.sheet[i]].place(int(gold.row[i]), problems)


def _values(card: Card, pairs: StereoPairs, name: str) -> list[Any]:
    """The values of a field, computed or as they stand in the data."""
    if name in card.computed:
        return computed(pairs, name)
    gold = pairs.gold
    columns = [sheet.columns.get(name) for sheet in gold.sheets]
    found = []
    for s, row in zip(gold.sheet.tolist(), gold.row.tolist(), strict=True):
        column = columns[s]
        found.append(None if column is None else column[row])
    return found
