"""The original's results: its nested numbers, kept by model in a JSON file or a workbook.

A file that is there is never lost: the new one is written beside it and renamed, and a second
writer waits for the first.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from karat.errors import MissingExtra, UsageError
from karat.model.report import Report, System
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.metrics import OFFICIAL

Nested = dict[str, dict[str, dict[str, float | None]]]
"""section -> domain -> the original's names of the numbers."""

OVERALL = "overall"
BOOKS = (".xlsx", ".xlsm")
_WAIT = 30.0


def nested(scored: Report | System) -> Nested:
    """The numbers of a model as the original nests them; `overall` only where both tests ran."""
    values = {score.name: score.value for score in scored.scores}
    sections = [s for s in SECTIONS if f"{s}.count" in values]
    found: Nested = {}
    for section in [*sections, OVERALL] if len(sections) != 1 else sections:
        before = "" if section == OVERALL else f"{section}."
        ends = [n for n in values if n.startswith(before) and n.endswith("count")]
        middles = [name.removeprefix(before).removesuffix("count") for name in ends]
        domains = [m for m in middles if m.count(".") == 1 and m[:-1] not in SECTIONS]
        found[section] = {
            (middle[:-1] or OVERALL): {
                told: values.get(f"{before}{middle}{ours}")
                for told, ours in OFFICIAL.items()
                if f"{before}{middle}{ours}" in values
            }
            for middle in [*domains, ""]
        }
    return found


def model_name(report: Report) -> str:
    """The name of the prediction file without its folder and ending."""
    name = next((i.name for i in report.inputs if i.role == "predictions"), "model")
    base = name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".gz")
    return base.rsplit(".", 1)[0] if "." in base else base


def by_model(report: Report) -> dict[str, Nested]:
    """The numbers of each model that a report is about: one, or those that were compared."""
    if report.systems:
        return {system.name: nested(system) for system in report.systems}
    return {model_name(report): nested(report)}


def write(report: Report, options: Mapping[str, Any]) -> str:
    """What was done: the scores of each model added to a file, or put in place of older ones."""
    target = options["output_file"]
    done = [add(target, name, told, replace=True) for name, told in by_model(report).items()]
    return "; ".join(done)


def add(path: str, model: str, numbers: Nested, *, replace: bool) -> str:
    """Add a model's numbers to a .json file or a workbook; says what was done.

    In a JSON file a model has one entry, which is always replaced. In a workbook `replace` puts
    the new row in place of the model's old one; else it is appended, as the original does.
    """
    # A link is followed: the file behind it is renamed over, and locked.
    target = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    ending = target.suffix.lower()
    if ending != ".json" and ending not in BOOKS:
        raise UsageError(
            f"{path}: no such format for scores by model",
            help=f"the extension decides: .json, {', '.join(BOOKS)}",
        )
    if not target.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {target.parent}", help="make it first")
    change = _into_json if ending == ".json" else partial(_into_book, replace=replace)
    try:
        with _locked(target):
            return change(target, model, numbers)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def models(path: str) -> dict[str, Nested]:
    """All models of a JSON file, in their order; entries of another shape are passed over."""
    return {name: told for name, told in _known(Path(path)).items() if _is_nested(told)}


def _is_nested(told: Any) -> bool:
    """Whether an entry is section -> domain -> numbers, as `nested` makes them."""
    domains = [d for s in _values(told) for d in _values(s)]
    numbers = [x for domain in domains for x in _values(domain)]
    return bool(numbers) and all(
        x is None or (isinstance(x, (int, float)) and math.isfinite(x)) for x in numbers
    )


def _values(told: Any) -> list[Any]:
    """The values of an object; of anything else, a value that is no number."""
    return list(told.values()) if isinstance(told, dict) else [""]


def _known(target: Path) -> dict[str, Any]:
    """What the JSON file holds, nothing where there is none."""
    if not target.exists() or not target.stat().st_size:
        return {}
    try:
        found = json.loads(target.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _unusable(target, f"is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise _unusable(target, "holds no object of models")
    return found


def _unusable(target: Path, why: str) -> UsageError:
    return UsageError(f"{target} {why}; it was left as it is", help="name another file")


def _into_json(target: Path, model: str, numbers: Nested) -> str:
    everything = _known(target)
    old = model in everything
    everything[model] = numbers
    _put(target, lambda file: file.write(json.dumps(everything, indent=2).encode()))
    return f"{'replaced' if old else 'added'} {model} in {target}"


def _into_book(target: Path, model: str, numbers: Nested, *, replace: bool) -> str:
    """Add or replace a row on the sheet of each section."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("writing a workbook", "stereoset") from None
    book = openpyxl.Workbook()
    if target.exists() and target.stat().st_size:
        try:
            book = openpyxl.load_workbook(target, keep_vba=target.suffix.lower() == ".xlsm")
        except Exception as error:  # noqa: BLE001  its zip and XML readers raise anything
            raise _unusable(target, f"is no readable workbook ({type(error).__name__})") from None
    else:
        book.remove(book.active)
    replaced = False
    for section in (*SECTIONS, OVERALL):
        sheet = book[section] if section in book.sheetnames else book.create_sheet(section)
        if section in numbers:
            replaced |= _put_row(sheet, model, _flat(numbers[section]), replace)
    content = io.BytesIO()
    book.save(content)
    _put(target, lambda file: file.write(content.getvalue()))
    return f"{'replaced the rows' if replaced else 'added a row'} of {model} in {target}"


def _flat(domains: Mapping[str, Mapping[str, float | None]]) -> dict[str, float | None]:
    """`LM Score_gender` and so on: all numbers of all domains."""
    return {f"{name}_{domain}": x for domain, told in domains.items() for name, x in told.items()}


def _put_row(sheet: Any, model: str, row: Mapping[str, float | None], replace: bool) -> bool:
    """Whether an old row of the model was replaced. Columns that are not there are added."""
    header = [cell.value for cell in sheet[1]] if sheet.max_row and sheet["A1"].value else []
    for name in ("model_name", *row):
        if name not in header:
            header.append(name)
            sheet.cell(1, len(header), name)
    first = header.index("model_name") + 1
    own = [r for r in range(2, sheet.max_row + 1) if sheet.cell(r, first).value == model]
    place = own[-1] if own and replace else sheet.max_row + 1
    cell = sheet.cell(place, first, model)
    # A model may be called "=1+1": it stays a text.
    cell.data_type = "s"
    for name, value in row.items():
        sheet.cell(place, header.index(name) + 1, value).number_format = "0.00"
    return bool(own) and replace


def _put(target: Path, fill: Callable[[Any], Any]) -> None:
    """Write beside, then rename: a reader sees the old file or the new one."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Alone with the file: a second writer waits for the first, for up to half a minute."""
    lock = target.with_name(f".{target.name}.lock")
    until = time.monotonic() + _WAIT
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            if time.monotonic() > until:
                raise UsageError(
                    f"{target} is being written by somebody else",
                    help=f"if nobody is, remove {lock}",
                ) from None
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
