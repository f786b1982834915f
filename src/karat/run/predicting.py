"""From data files to a predictions file of StereoSet: read, choose paths, run, write."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import DataError, MissingExtra, UsageError
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.source import Source

if TYPE_CHECKING:
    from karat.models.examples import Example
    from karat.models.journal import Journal
    from karat.models.loading import Settings
    from karat.models.running import Pace

SECTIONS = ("intrasentence", "intersentence")
FOLDER = Path("results") / "predictions"
WORDS = ("c1_word", "c2_word", "c3_word")
CASES = ("orig", "b", "c", "d", "e", "f")
_BEARS_ON = {
    "--case-no": ("GPT2LM",),
    "--nsp-model-path": ("ModelNSP",),
    "--end-tokens": ("GPT2LM", "T5LM", "mT5LM"),
}
"""The paths on which a flag has an effect."""
Say = Callable[[str], None]
Write = Callable[[Path, bytes], None]
Sections = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Job:
    """What to score. A path left None is chosen by the model; a section left None is skipped."""

    files: dict[str, str | None]
    paths: dict[str, str | None]
    case: str = "d"
    nsp: Path | None = None
    out: Path | None = None
    resume: bool = False
    data: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Flags that were given by hand: one that does nothing for the model is an error."""

    @property
    def cases(self) -> tuple[str, ...]:
        """The case numbers asked for."""
        return CASES if self.case == "all" else (self.case,)


def need_models() -> None:
    """Return if torch and transformers are there; else say what to install."""
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError:
        raise MissingExtra("running a model", "models") from None


def read_examples(job: Job, *, words: bool = True) -> dict[str, list[Example]]:
    """Section -> its examples. A DataError lists what is wrong with the files.

    `words` says whether the words at BLANK are needed; some paths read the sentences alone.
    """
    from karat.models.examples import from_rows
    from karat.tasks.stereotypes.formats import read_sheets
    from karat.tasks.stereotypes.records import check_sheet

    named = {f"{section}_df_file": file for section, file in job.files.items() if file}
    sources = tuple(Source.of(file) for file in (*named.values(), *job.data))
    problems = Problems()
    sheets = read_sheets(Request(gold=sources, options=named), WORDS, problems)
    found: dict[str, list[Example]] = {}
    for sheet in sheets:
        if not check_sheet(sheet, problems):
            continue
        if sheet.section in found:
            text = f"there is {sheet.section} data in another file already"
            problems.add("section-repeated", text, file=sheet.file)
            continue
        columns = sheet.columns
        lacking = [name for name in WORDS if words and name not in columns]
        if sheet.section == SECTIONS[0] and lacking:
            text = f"there is no column {', '.join(lacking)}"
            hint = "a causal model (GPT2LM) reads the sentences alone"
            problems.add("column-missing", text, file=sheet.file, help=hint)
            continue
        names = list(columns)
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True))
        found[sheet.section] = from_rows(rows)
    if problems.errors:
        raise DataError(problems)
    return found


def result_name(settings: Settings, paths: dict[str, str], case: str, spoken: str | None) -> str:
    """The file name of the original: model, paths and language; the case behind GPT2LM and T5LM."""
    parts = [paths.get(section, "") for section in SECTIONS]
    if parts[1] in ("GPT2LM", "T5LM"):
        parts[1] += f"_{case}"
    model = settings.name.rstrip("/").replace("/", "_")
    return "_".join([model, *parts, *([spoken] if spoken else [])]) + ".json"


def language_of(job: Job, examples: dict[str, list[Example]]) -> str | None:
    """The language of the data: the two letters before `.pkl`; else what the name or texts say."""
    from karat.tasks.stereotypes import language

    first = Path(next(file for file in (*job.files.values(), *job.data) if file)).name
    if first.endswith(".pkl"):
        return first[-6:-4]
    texts = [c.sentence for many in examples.values() for one in many for c in one.candidates]
    return language.of_name(first) or language.of_texts(texts)


def predict(settings: Settings, job: Job, pace: Pace, say: Say, write: Write) -> list[Path]:
    """The files that were written; none where a shard alone was run."""
    need_models()
    from karat.models.journal import Journal

    examples, paths = _chosen(settings, job, say)
    many = len(job.cases) > 1 and paths.get(SECTIONS[1]) == "GPT2LM"
    cases = job.cases if many or job.case != "all" else ("d",)
    spoken = language_of(job, examples)
    names = {case: result_name(settings, paths, case, spoken) for case in cases}
    targets = {case: _target(job, name, case, many) for case, name in names.items()}
    first = next(iter(targets.values()))
    first.parent.mkdir(parents=True, exist_ok=True)
    with Journal(first, pace.shard, resume=job.resume, say=say) as journal:
        told: dict[str, Sections] = {case: {} for case in cases}
        complete = True
        for section, path in paths.items():
            run = _Run(settings, section, path, examples[section], cases, job.nsp)
            complete &= run.go(pace, journal, told, say)
            if settings.dtype in ("bf16", "tf32"):
                run.compare(say)
        if not complete:
            journal.wait_for_others()
            return []
        _write(told, targets, write)
        journal.clear()
    return list(targets.values())


def _chosen(
    settings: Settings, job: Job, say: Say
) -> tuple[dict[str, list[Example]], dict[str, str]]:
    """(section -> its examples, section -> its path), all of it sound for this model."""
    from karat.models.loading import configuration, is_local, kind_of
    from karat.models.paths import check, usual

    if not is_local(settings.name):
        say(f"{settings.name}: there is no such folder, so it is taken for a hub name")
    config = configuration(settings.name)
    kind = kind_of(config)
    say(f"{settings.name}: {config.model_type}, a {kind} model")
    meant = {
        section: job.paths.get(section)
        or usual(kind, config.model_type, section, job.nsp is not None)
        for section in SECTIONS
    }
    examples = read_examples(job, words=meant[SECTIONS[0]] != "GPT2LM")
    if not examples:
        raise UsageError("there is nothing to predict", help="give a data file of either section")
    paths = {section: path for section, path in meant.items() if section in examples}
    for section, path in paths.items():
        check(path, section, kind, config.model_type, job.nsp)
    _refuse_idle(job, paths)
    return examples, paths


@dataclass(frozen=True, slots=True)
class _Run:
    """One section on one path."""

    settings: Settings
    section: str
    path: str
    examples: list[Example]
    cases: Sequence[str]
    nsp: Path | None

    def go(self, pace: Pace, journal: Journal, told: dict[str, Sections], say: Say) -> bool:
        """Whether all batches are there; then their scores stand in `told`."""
        from karat.models.running import rows_of

        say(f"{self.section}: {self.path}")
        path, identity, notes = self.make(self.settings, self.examples)
        rows, more = rows_of(path.work, identity, self.settings, pace, journal, self.section)
        for note in (*notes, *more):
            say(f"note: {note}")
        if rows is None:
            return False
        ids = [c.id for example in self.examples for c in example.candidates]
        found = path.scores(rows)
        for case, sections in told.items():
            scores = found.get(case) or found[path.kinds[0]]
            listed = zip(ids, scores, strict=True)
            sections[self.section] = [{"id": i, "score": s} for i, s in listed if s is not None]
            lost = len(ids) - len(sections[self.section])
            if lost:
                say(f"note: {lost} of {len(ids)} candidates left out: there is nothing to score")
        for note in path.notes:
            say(f"note: {note}")
        return True

    def make(self, settings: Settings, examples: Sequence[Example]) -> Any:
        """The path, loaded."""
        from karat.models.paths import make

        return make(settings, self.section, self.path, examples, self.cases, self.nsp)

    def compare(self, say: Say) -> None:
        """Say how many orderings the faster type turned, on a sample."""
        from karat.models.running import flipped

        turned, total = flipped(self.make, self.settings, self.examples)
        say(
            f"{self.section}: {self.settings.dtype} turned {turned} of {total} orderings of two "
            "candidates on a sample, compared with fp32"
        )


def _refuse_idle(job: Job, paths: dict[str, str]) -> None:
    """Return if every flag that was given by hand bears on one of the paths."""
    for flag, bears in _BEARS_ON.items():
        idle = [path for path in paths.values() if path not in bears]
        if flag in job.asked and len(idle) == len(paths):
            text = f"{flag} does nothing for {' and '.join(idle)}"
            raise UsageError(text, help=f"it is for {', '.join(bears)}; leave it out")


def _target(job: Job, name: str, case: str, many: bool) -> Path:
    """Where the scores of a case go; `--out` is told apart by the case where there are many."""
    if job.out is None:
        return FOLDER / name
    return job.out.with_name(f"{job.out.stem}_{case}{job.out.suffix}") if many else job.out


def _write(told: dict[str, Sections], targets: dict[str, Path], write: Write) -> None:
    for case, sections in told.items():
        write(targets[case], json.dumps(sections, indent=2).encode())
