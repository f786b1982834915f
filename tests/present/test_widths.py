"""Text as a terminal counts it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.present.widths import clean, elide, pad, width, wrap


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("ｆ", 2), ("ä", 1), ("", 0)],
)
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


def test_names_lose_their_middle() -> None:
    assert elide("abcdefghij", 10) == "abcdefghij"
    assert elide("abcdefghij", 8) == "abc..hij"
    assert elide("abcdefghij", 8, "…") == "abcd…hij"
    assert elide("日本語の名前", 8) == "日本..前"


def test_escape_sequences_cannot_steer_the_terminal() -> None:
    assert clean("\x1b[31mred\n\u202eabc") == "\\x1b[31mred\\n\\u202eabc"


@given(st.text(), st.integers(1, 40))
def test_elide_never_goes_over(text: str, most: int) -> None:
    assert width(elide(text, most)) <= most


@given(st.text(max_size=300))
def test_wrapping_keeps_to_80_columns_and_loses_no_word(text: str) -> None:
    lines = wrap(text, "note: ")
    assert all(width(line) <= 80 for line in lines)
    together = "".join("".join(lines).removeprefix("note:").split())
    assert together == "".join(clean(text).split())


def test_a_signature_breaks_between_its_parts() -> None:
    first, second = wrap("|".join(["part-of-20-characters"] * 4), "signature ", breaks="|")
    assert first == "signature " + "part-of-20-characters|" * 3
    assert second == " " * 10 + "part-of-20-characters"


def test_padding_counts_columns() -> None:
    assert pad("日", 4) == "日  "
    assert pad("日", 4, right=True) == "  日"
