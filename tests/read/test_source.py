"""Inputs of every kind: the same content, a digest of the bytes, problems and no crashes."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.errors import DataError, UsageError
from karat.read import compressed
from karat.read.source import CACHE_EXTENSIONS, Source

CONTENT = b"".join(b'{"text": "row %d"}\n' % i for i in range(50_000))


def codes(source: Source) -> list[str]:
    return [p.code for p in source.check(CACHE_EXTENSIONS)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(CONTENT)
    return path


def test_a_file_is_read_and_hashed_in_one_go(file: Path) -> None:
    source = Source.of(file)
    assert b"".join(source.blocks()) == CONTENT
    file.unlink()  # the digest is known by now
    assert source.digest() == hashlib.sha256(CONTENT).hexdigest()


def test_the_digest_is_of_the_stored_bytes(tmp_path: Path) -> None:
    packed = gzip.compress(CONTENT)
    (tmp_path / "rows.jsonl.gz").write_bytes(packed)
    source = Source.of(tmp_path / "rows.jsonl.gz")
    assert source.digest() == hashlib.sha256(packed).hexdigest()
    assert source.data() == CONTENT
    assert source.digest() == hashlib.sha256(packed).hexdigest()


def test_leaving_early_ends_the_thread(file: Path) -> None:
    # Other tests' readers may still be alive in a traceback that pytest keeps.
    before = set(threading.enumerate())
    source = Source.of(file)
    for _ in source.blocks():
        break
    assert source.digest() == hashlib.sha256(CONTENT).hexdigest()
    assert set(threading.enumerate()) <= before


def test_progress_is_told_in_stored_bytes(file: Path) -> None:
    seen: list[int] = []
    for _ in Source.of(file, on_bytes=seen.append).blocks():
        pass
    assert seen[-1] == len(CONTENT)


def test_standard_input_is_read_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONTENT)))
    source = Source.of("-")
    assert source.peek().shape == "lines"
    assert source.data() == source.data() == CONTENT
    assert (source.name, codes(source)) == ("<stdin>", [])


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(CONTENT,))
    writer.start()
    source = Source.of(path)
    assert source.check(CACHE_EXTENSIONS) == []
    assert source.data() == CONTENT
    writer.join()


def test_gzip_members_and_padding_follow_each_other() -> None:
    packed = gzip.compress(CONTENT[:1000]) + gzip.compress(CONTENT[1000:]) + b"\0" * 50
    assert Source.of(packed).data() == CONTENT == gzip.decompress(packed)


@pytest.mark.parametrize("damage", ["cut", "flipped", "garbage behind"])
def test_damaged_gzip_is_a_problem(damage: str) -> None:
    packed = gzip.compress(CONTENT)
    broken = {
        "cut": packed[:-9],
        "flipped": packed[:-6] + b"\0\0" + packed[-4:],
        "garbage behind": packed + b"garbage",
    }[damage]
    with pytest.raises(DataError) as caught:
        Source.of(broken).data()
    assert [p.code for p in caught.value.problems] == ["gzip-damaged"]


def test_a_gzip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "BOMB_BYTES", 1 << 22)
    bomb = gzip.compress(b"0" * (1 << 24))
    with pytest.raises(DataError) as caught:
        Source.of(bomb).data()
    assert [p.code for p in caught.value.problems] == ["gzip-bomb"]


def test_zstandard_is_read_or_refused_clearly() -> None:
    empty = b"\x28\xb5\x2f\xfd" + b"\x24\x00\x01\x00\x00\x99\xe9\xd8\x51"
    if importlib.util.find_spec("compression") is not None:
        assert Source.of(empty).data() == b""
        return
    with pytest.raises(DataError) as caught:
        Source.of(empty).data()
    assert [p.code for p in caught.value.problems] == ["zstd-unsupported"]


def test_a_missing_file_hints_at_its_neighbours(file: Path) -> None:
    (problem,) = Source.of(file.with_name("row.jsonl"), "row.jsonl").check()
    assert (problem.code, problem.file) == ("file-missing", "row.jsonl")
    assert problem.message == "no such file: row.jsonl"
    assert problem.help == "did you mean rows.jsonl?"
    with pytest.raises(DataError):
        Source.of(file.with_name("row.jsonl")).peek()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    source = Source.of(tmp_path)
    assert codes(source) == ["file-unreadable"]
    assert source.peek().shape == "folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission(file: Path) -> None:
    file.chmod(0)
    assert codes(Source.of(file)) == ["file-unreadable"]


@pytest.mark.parametrize(
    ("name", "content", "shape", "keys"),
    [
        ("a.jsonl", b'{"text": "a"}\n', "lines", {"text"}),
        ("a.json", b'[\n {"text": "a", "label": 1}\n]', "list", {"text", "label"}),
        ("a.json", b'{"version": "2", "data": [1]}', "object", {"version", "data"}),
        ("a", b'{"text": "a"}\n{"text": "b"}\n', "lines", {"text"}),
        ("a", b'{\n"version": "2"}', "object", {"version"}),
        ("a.xml", b"<a/>", "xml", set()),
        ("a", b"<?xml?>", "xml", set()),
        ("a.tsv", b"x\ty\n1\t2\n", "table", set()),
        ("a.conll", b"x O\n", "text", set()),
        ("a.pkl", b"\x80\x04.", "pickle", set()),
        ("a", b"\0\1\2", "binary", set()),
        ("a.jsonl", gzip.compress(b'{"text": "a"}\n', mtime=0), "lines", {"text"}),
    ],
)
def test_the_first_look(name: str, content: bytes, shape: str, keys: set[str]) -> None:
    peek = Source.of(content, name).peek()
    assert (peek.shape, set(peek.keys)) == (shape, keys)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"text": 1}\n{"text": "b", "label": 2}\n{"text"'),
        ("a.jsonl", b'{"text": 1, oops\n\n[]\n{"label": 2}\n'),
        ("a.json", b'[{"text": 1}, 5, {"label": 2}, {"text": "cut o'),
    ],
)
def test_the_first_look_takes_several_records_together(name: str, content: bytes) -> None:
    assert Source.of(content, name).peek().first == {"text": 1, "label": 2}


def test_the_first_look_at_rows_takes_several_together() -> None:
    assert Source.of([{"a": None}, {"b": 2}, {"a": 1}]).peek().first == {"a": 1, "b": 2}
    assert Source.of([[1], [2]]).peek().first == [1]


def test_the_first_look_at_long_content() -> None:
    long = "x" * 200_000
    tail = json.dumps({"images": [long], "annotations": []}).encode()
    assert Source.of(tail, "a.json").peek().keys == {"images", "annotations"}
    item = json.dumps([{"text": "a", "body": long, "label": 1}]).encode()
    assert Source.of(item, "a.json").peek().first == {"text": "a", "body": None}
    table = Source.of(b"a\tb\n" + b"1\t2\n" * 50_000, "a.tsv").peek()
    assert table.first == ["a", "b"]


def rows() -> list[dict[str, Any]]:
    return [
        {"text": "a", "label": 1, "probabilities": [0.5, 0.5], "timestamp": "2024-01-02 03:04:05"},
        {"text": "b", "probabilities": [0.25, 0.75]},
    ]


def test_data_frames_are_rows() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    assert Source.of(rows()).rows == rows()
    assert Source.of(pandas.DataFrame(rows())).rows == rows()
    assert Source.of(polars.DataFrame(rows())).rows == rows()
    assert Source.of(arrow.Table.from_pylist(rows())).rows == rows()
    reader = arrow.RecordBatchReader.from_batches(
        arrow.Table.from_pylist(rows()).schema, arrow.Table.from_pylist(rows()).to_batches()
    )

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return reader.__arrow_c_stream__(requested_schema)

    assert Source.of(Stream()).rows == rows()


def test_equal_rows_have_equal_digests() -> None:
    assert Source.of(rows()).digest() == Source.of(rows()).digest()
    assert Source.of(rows()).digest() != Source.of(rows()[:1]).digest()


@pytest.mark.parametrize("thing", [7, {"text": {"a"}}, object()])
def test_what_is_no_input_is_said(thing: Any) -> None:
    with pytest.raises(UsageError):
        Source.of(thing)


def test_a_dict_is_the_document_it_would_be_in_a_file() -> None:
    document = {"a": [1, 0.5, None, "\ud800"], "b": np.array([1, 2])}
    assert json.loads(Source.of(document).data()) == {**document, "b": [1, 2]}


def test_no_rows_are_a_problem() -> None:
    assert codes(Source.of([])) == ["file-empty"]


def test_rows_of_numpy_numbers() -> None:
    """numpy.float64 is a float for Python, but typed decoding wants the real thing."""
    vectors = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    gold = [{"text": "t", "label": y} for y in np.array([1, 0, 1])]
    for predictions in (
        [{"probabilities": v} for v in vectors],
        [{"probabilities": list(v)} for v in vectors],
    ):
        assert karat.score(gold, predictions).accuracy == pytest.approx(2 / 3)
