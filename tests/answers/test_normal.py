"""The normal form: short cuts give what the definition gives; other languages as documented."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from reference import normal, words

from karat.tasks.answers import kernel
from karat.tasks.answers.normal import (
    SPACE,
    VOID,
    chars_words,
    chosen,
    mlqa_words,
    official_words,
    squad_words,
)

AROUND = ("{}", "{}the", "the{}", "a {} b", "x{}y", "a!{}", " {}")


def test_every_blank_is_known() -> None:
    assert set(SPACE) == {c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace()}


def test_every_character_near_an_article() -> None:
    """All of the first plane's start, and a sample of the rest."""
    codes = [*range(0x3100), *range(0x3100, sys.maxunicode + 1, 997)]
    for code in codes:
        for frame in AROUND:
            made = frame.format(chr(code))
            assert squad_words(made) == words(made), ascii(made)


def test_a_text_beyond_the_void_keeps_a_word() -> None:
    for code in range(sys.maxunicode + 1):
        c = chr(code)
        if c not in VOID:
            assert official_words(c), hex(code)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("The Cat's-paw", "catspaw"),
        ("A.N", ""),
        ("a_b the_the", "ab thethe"),
        ("“the”", "“ ”"),
        ("ancestor—a bacterium", "ancestor— bacterium"),
        ("ΟΔΟΣ ΟΔΟΣ!", "οδος οδος"),
        ("STRASSE straße", "strasse straße"),
    ],
)
def test_known_forms(made: str, expected: str) -> None:
    assert " ".join(squad_words(made)) == expected == normal(made)


def test_other_languages() -> None:
    assert mlqa_words("de")("Das „große“ Haus") == ["große", "haus"]
    assert mlqa_words("es")("¡La casa!") == ["casa"]
    assert mlqa_words("hi")("the घर।") == ["the", "घर"]
    assert mlqa_words("zh")("在abc 1949年。") == ["在", "abc", "1949", "年"]
    assert chars_words("北京 市。A-b") == ["北", "京", "市", "a", "b"]


def test_another_normal_form_reaches_the_score() -> None:
    gold = [[SimpleNamespace(text="北京市")]]
    assert kernel.score(gold, ["北京"]) == ([0], [0])
    exact, f1 = kernel.score(gold, ["北京"], words=chosen("chars"))
    assert exact == [0]
    assert f1 == [pytest.approx(0.8)]
