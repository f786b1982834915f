"""What may not stand in a tracked file: a machine's paths, foreign hosts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sources import ROOT

PATHS = re.compile(r"(?<![\w.])/(?:tmp|home|root|work|Users|opt)/\w")
HOST = re.compile(r"\b(?:https?|ftp|s3|git|ssh)://([\w.-]+)|\bfile:///")
HOSTS = {
    "www.apache.org",  # the licence
    "json-schema.org",  # the dialect of `karat schema`
    "www.w3.org",  # namespaces of SVG and XML
    "en.wikipedia.org",  # how AIDA-CoNLL writes ids
    "example.org",
}


def tracked() -> list[Path]:
    """The files of the repository, also those not yet committed."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of tracked files")
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def lines() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        name = path.relative_to(ROOT).as_posix()
        found += [(f"{name}:{n}", line) for n, line in enumerate(text.split("\n"), 1)]
    return found


def test_no_machine_path_is_written_down() -> None:
    assert [place for place, line in lines() if PATHS.search(line)] == []


def test_no_unexpected_host_is_written_down() -> None:
    wrong = [
        f"{place} {match.group(0)}"
        for place, line in lines()
        for match in HOST.finditer(line)
        if match.group(1) not in HOSTS
    ]
    assert wrong == []


def test_the_patterns_see_what_they_should() -> None:
    assert PATHS.search("see " + "/" + "home/me/data")
    assert PATHS.search("'" + "/" + "tmp/x'")
    assert not PATHS.search("docs/work/notes")
    assert HOST.search("https:" + "//somewhere.net/x")
