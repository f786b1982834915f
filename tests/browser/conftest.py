"""Pages of the samples, a browser to open them in, and what checks that everybody can use them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from chromium import Browser, program

from karat import compare, score
from karat.model.report import Report
from karat.present.html import page
from karat.present.html.history import page as render_history
from karat.run import history
from karat.tasks import card

AXE = "axe-core@4.14.0"
EVIL = "</script><img src=x onerror=\"document.title='ill'\"><script>document.title='ill'</script>"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = program()
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with Browser(path) as one:
        yield one


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The code of axe-core, which npm brings; it is used here and never kept."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm on this machine to bring axe-core")
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(
            [npm, "pack", AXE, "--silent"], cwd=folder, check=True, capture_output=True, timeout=120
        )
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"npm could not bring {AXE}: {type(error).__name__}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode("utf-8")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind: one run, a comparison, several runs, hostile data, a history."""
    folder = tmp_path_factory.mktemp("pages")
    home, gold, predictions, *_ = card("text-classification").sample
    sample = resources.files("karat.samples").joinpath(home)
    sides = str(sample / gold), str(sample / predictions)
    run = score(*sides, by="meta.channel", require=["accuracy>=0.9"], examples=50)
    both = compare(*sides, str(sample / predictions), by="meta.channel", trials=100)
    made = {
        "run": page.render(run),
        "compare": page.render(both),
        "several": page.render_all([run, run]),
        "hostile": page.render(hostile(run)),
        "history": past(folder / "runs.db", [both, run, hostile(run)]),
    }
    for name, content in made.items():
        (folder / f"{name}.html").write_bytes(content)
    return {name: folder / f"{name}.html" for name in made}


def past(path: Path, reports: list[Report]) -> bytes:
    """The page of a history of these runs."""
    for report in reports:
        history.append(report, path)
    return render_history(history.runs(path))


def hostile(report: Report) -> Report:
    """The report with markup in every text of its worst items, slices and classes."""
    dirty = Report.from_json(
        report.to_json().replace('"phone"', '"EVIL"').replace("delivery", "EVIL")
    )
    code = dirty.to_json().replace("EVIL", EVIL.replace('"', '\\"'))
    return Report.from_json(code)
