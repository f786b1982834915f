"""Records come out the same however the bytes arrive, and bad ones never hide the others."""

from __future__ import annotations

import gzip
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.problem import Problems
from karat.read import lines, source
from karat.read.place import Place
from karat.read.records import Batch, Records, read_records
from karat.read.source import Source


class Row(msgspec.Struct, gc=False):
    """A record with one required and one optional key."""

    text: str
    label: int | msgspec.UnsetType = msgspec.UNSET


def diagnose(record: dict[str, Any], place: Place) -> None:
    if not isinstance(record.get("text"), str):
        place.add("text-bad", "text is needed", "text")
    if not isinstance(record.get("label", 0), int):
        place.add("label-bad", "label is no integer", "label")


def batches(content: Any, name: str | None = None) -> tuple[list[Batch[Row]], Records[Row]]:
    reader = read_records(Source.of(content, name), Row, Problems(), diagnose)
    return list(reader), reader


def texts(content: Any, name: str | None = None) -> list[str]:
    found, reader = batches(content, name)
    assert list(reader.problems) == []
    return [row.text for batch in found for row in batch.rows]


def problems(content: Any, name: str | None = None) -> list[tuple[str, int | None, int | None]]:
    _, reader = batches(content, name)
    return [(p.code, p.line, p.record) for p in reader.problems]


def encode(values: list[str], end: str = "\n") -> bytes:
    return "".join(json.dumps({"text": v}, ensure_ascii=False) + end for v in values).encode()


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\u2028\x85\r\"':{}"))


@given(st.lists(ANY_TEXT, min_size=1, max_size=30), st.integers(1, 80), st.integers(1, 80))
def test_sizes_of_blocks_and_pieces_do_not_matter(
    values: list[str], block: int, piece: int
) -> None:
    data = encode(values)
    blocks = [data[i : i + block] for i in range(0, len(data), block)]
    cut = list(lines.pieces(blocks, piece))
    assert b"".join(cut) == data
    assert all(part.endswith(b"\n") for part in cut)
    decoded = [msgspec.json.decode(line)["text"] for part in cut for line in part.splitlines()]
    assert decoded == values


@given(st.lists(ANY_TEXT, min_size=1, max_size=8), st.integers(1, 64))
def test_small_reads_give_the_same_rows(values: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK", size)
        assert texts(encode(values)) == values


@given(st.lists(ANY_TEXT, min_size=1, max_size=8))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("tail", [b"", b"\n", b" \n\r\n\n"])
def test_line_ends_and_marks_do_not_matter(
    end: str, mark: bytes, tail: bytes, values: list[str]
) -> None:
    data = mark + encode(values, end)
    assert texts(data + tail) == values
    assert texts(data.removesuffix(end.encode())) == values
    assert texts(gzip.compress(data)) == values


@given(st.lists(ANY_TEXT, min_size=1, max_size=8), st.sampled_from([None, 1]))
def test_a_list_holds_the_same_rows(values: list[str], indent: int | None) -> None:
    data = json.dumps([{"text": v} for v in values], indent=indent).encode()
    assert texts(data, "rows.json") == values
    assert texts(b"\xef\xbb\xbf \n" + data + b"\n") == values


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(10, 200))
def test_bad_rows_leave_the_good_ones_in_place(good: list[bool], piece: int) -> None:
    rows = [{"text": f"row {i}"} if ok else {"text": i} for i, ok in enumerate(good)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines.pieces, "__defaults__", (piece,))
        found, reader = batches(data)
    placed = {b.first + i: row.text for b in found for i, row in enumerate(b.rows)}
    assert placed == {i: f"row {i}" for i, ok in enumerate(good) if ok}
    assert reader.count == len(good)
    assert sum(1 for p in reader.problems) == min(20, good.count(False))


def test_lines_behind_blank_ones_keep_their_numbers() -> None:
    data = b'{"text": "a"}\n\n  \n{"text": 1}\n{"text": "b"}\n\n{"text": 2}\n\n'
    assert problems(data) == [
        ("blank-line", 2, None),
        ("blank-line", 3, None),
        ("text-bad", 4, 1),
        ("blank-line", 6, None),
        ("text-bad", 7, 3),
    ]
    _, reader = batches(data)
    assert [reader.line_of(i) for i in range(4)] == [1, 4, 5, 7]


@pytest.mark.parametrize("rows", [40, 4000])
def test_a_repeated_key_is_found_where_another_key_is_absent(rows: int) -> None:
    # The number of keys is the usual one in the file, in the first case even in the line.
    data = [f'{{"text": "row {i}", "label": {i % 3}, "id": {i}}}' for i in range(rows)]
    data[9] = '{"text": "row 9", "label": 1, "label": 2, "id": 9}'
    data[30] = '{"text": "row 30", "id": 30}'
    found = problems("\n".join(data).encode())
    assert found == [("duplicate-key", 10, 9)]


def test_repeated_keys_in_nested_objects() -> None:
    good = '{"text": "a", "boxes": [{"x": 1}, {"x": 2}]}'
    bad = '{"text": "a", "boxes": [{"x": 1, "x": 2}]}'
    _, reader = batches(f"{good}\n{good}\n{bad}\n".encode())
    assert [(p.code, p.record, p.key) for p in reader.problems] == [
        ("duplicate-key", 2, "boxes[0].x")
    ]
    _, reader = batches(f"[{good},\n{bad}]".encode(), "boxes.json")
    assert [(p.code, p.line, p.key) for p in reader.problems] == [
        ("duplicate-key", 2, "boxes[0].x")
    ]


def test_colons_behind_quotes_in_text_are_no_keys() -> None:
    rows = [r'{"text": "he said \"a\": b", "label": 1}', '{"text": "plain", "label": 1}']
    assert texts("\n".join(rows).encode()) == ['he said "a": b', "plain"]


def test_spaces_before_colons_are_fine() -> None:
    assert texts(b'{"text" : "a"}\n{"text" : "b"}\n') == ["a", "b"]
    assert problems(b'{"text" : "a"}\n{"text" : "b", "text" : "c"}\n') == [("duplicate-key", 2, 1)]


@pytest.mark.parametrize("where", ["all", "some"])
def test_misspelt_optional_keys(where: str) -> None:
    names = ["label"] * 30
    for i in range(30) if where == "all" else (0, 17):
        names[i] = "lable"
    data = "".join(f'{{"text": "a", "{name}": 1}}\n' for name in names).encode()
    typos = [i for i, name in enumerate(names) if name == "lable"]
    assert problems(data) == [("key-typo", i + 1, i) for i in typos[:20]]
    rows = [json.loads(line) for line in data.splitlines()]
    assert problems(rows) == [("key-typo", None, i) for i in typos[:20]]


def test_two_objects_on_a_line_or_one_on_two_lines_are_errors() -> None:
    assert problems(b'{"text": "a"} {"text": "b"}\n{"text": "c"}\n') == [("json-syntax", 1, 0)]
    found = problems(b'{"text":\n"a"}\n{"text": "c"}\n')
    assert [code for code, _, record in found if record in (0, 1)] == ["json-syntax"] * 2


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        (['{"text": "b"}{"text": "c"}', ""], [("json-syntax", 2, 1), ("blank-line", 3, None)]),
        (
            ['{"text": "b"}{"text": "c"}', '{"text":', '"d"}'],
            [("json-syntax", 2, 1), ("json-syntax", 3, 2), ("json-syntax", 4, 3)],
        ),
    ],
)
def test_errors_that_make_up_for_each_other_are_found(
    middle: list[str], expected: list[Any], end: str
) -> None:
    """There are as many objects as lines, but not one on each."""
    content = end.join(['{"text": "a"}', *middle, '{"text": "z"}', ""]).encode()
    assert sorted(problems(content, "a.jsonl"), key=lambda p: p[1]) == expected


def test_half_surrogate_pairs_are_kept_and_told() -> None:
    found, reader = batches(b'{"text": "a\\ud83d"}\n{"text": "b"}\n')
    assert [row.text for batch in found for row in batch.rows] == ["a\ud83d", "b"]
    assert [(p.code, p.severity, p.record, p.key) for p in reader.problems] == [
        ("lone-surrogate", "warning", 0, "text")
    ]


def test_a_byte_that_is_no_utf8_is_found_in_ignored_keys_too() -> None:
    assert problems(b'{"text": "a", "title": "caf\xe9"}\n{"text": "b"}\n') == [("encoding", 1, 0)]
    assert problems(b'[{"text": "a"},\n{"text": "b", "title": "\xe9"}]') == [("encoding", 2, None)]


def test_a_syntax_error_in_a_list_has_line_and_column() -> None:
    _, reader = batches(b'[{"text": "a"},\n {"text": "b" "label": 1},\n {"text": "c"}]', "x.json")
    problem = next(iter(reader.problems))
    assert (problem.code, problem.line, problem.record) == ("json-syntax", 2, 1)
    assert problem.message == "not valid JSON: Expecting ',' delimiter at column 15"
    assert reader.count is None


@pytest.mark.parametrize(
    "data", [b'[{"text": "a"}', b'[{"text": "a"}] 7', b'[{"text": "a"},]', b"[", b"nonsense"]
)
def test_broken_lists_are_errors(data: bytes) -> None:
    assert [code for code, _, _ in problems(data, "x.json")] == ["json-syntax"]


def test_too_deep_nesting_is_an_error_not_a_crash() -> None:
    deep = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    assert [code for code, _, _ in problems(deep)] == ["json-syntax"]


@given(st.binary(max_size=200))
@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x"])
def test_no_bytes_at_all_raise(name: str, data: bytes) -> None:
    _, reader = batches(data, name)
    assert reader.count is None or reader.count >= 0


@given(st.integers(0, 60), st.integers(0, 255))
def test_no_single_byte_can_be_damaged_unnoticed_or_raise(at: int, byte: int) -> None:
    good = b'{"text": "ab", "label": 1}\n{"text": "cd", "label": 0}\n{"text": "e"}\n'
    at %= len(good)
    damaged = good[:at] + bytes([byte]) + good[at + 1 :]
    found, reader = batches(damaged)
    if reader.sound:
        # Whatever is taken must be what Python's own reader takes, line by line.
        taken = [row.text for batch in found for row in batch.rows]
        lines_ = [line for line in damaged.split(b"\n") if line.strip()]
        assert taken == [json.loads(line)["text"] for line in lines_]


def test_records_know_their_text_again() -> None:
    found, _ = batches(b'[{"text": "a", "p": 0.50},\n {"text": "b"}]', "x.json")
    batch = found[0]
    assert batch.record(0)["p"].text == "0.50"
    assert batch.place(1).line == 2
