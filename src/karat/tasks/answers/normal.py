"""The normal form of an answer: what two texts must share to count as the same.

The official form, in this order: lower case, the 32 ASCII punctuation marks deleted (so `a-b` is
one word), the articles a, an, the replaced by a blank, split at white space. Text of printable
ASCII takes a short cut that gives the same words; everything else goes the official way, because
there the regular expression's idea of a word decides (`—a` loses its `a`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

Words = Callable[[str], list[str]]

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
ARTICLES = frozenset({"a", "an", "the"})
SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
VOID = PUNCTUATION + SPACE + "aehntAEHNT"
"""What a text with an empty normal form is made of; other texts may be, too."""

_ARTICLE = re.compile(r"\b(a|an|the)\b")
ASCII_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
ASCII_DELETED = PUNCTUATION.encode()


def official_words(text: str) -> list[str]:
    """The words of the normal form, by the official definition."""
    # All the marks are single bytes of UTF-8, and bytes lose them faster than text does.
    marked = text.lower().encode("utf-8", "surrogatepass")
    bare = marked.translate(None, ASCII_DELETED).decode("utf-8", "surrogatepass")
    return _ARTICLE.sub(" ", bare).split()


def squad_words(text: str) -> list[str]:
    """The same words, the short way where that is known to be exact."""
    if text.isascii() and text.isprintable():
        plain = text.encode().translate(ASCII_LOWER, ASCII_DELETED).decode()
        return [word for word in plain.split() if word not in ARTICLES]
    return official_words(text)


def chars_words(text: str) -> list[str]:
    """Every character a word, without white space and punctuation of any script."""
    return [c for c in text.lower() if not c.isspace() and c not in all_punctuation()]


# Articles of the languages of MLQA; Hindi and Chinese have none.
_MLQA_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": r"\sال^|ال",
}


def mlqa_words(language: str) -> Words:
    """The words of MLQA's normal form: punctuation of every script, articles by language."""
    pattern = _MLQA_ARTICLES.get(language)
    articles = re.compile(pattern) if pattern else None

    def words(text: str) -> list[str]:
        bare = "".join(c for c in text.lower() if c not in all_punctuation())
        if articles is not None:
            bare = articles.sub(" ", bare)
        return list(_mixed(bare)) if language == "zh" else bare.split()

    return words


def _mixed(text: str) -> Iterator[str]:
    """Chinese characters one by one, what stands between them split at white space."""
    held = ""
    for c in text:
        if "\u4e00" <= c <= "\u9fa5":
            yield from held.split()
            yield c
            held = ""
        else:
            held += c
    yield from held.split()


@cache
def all_punctuation() -> frozenset[str]:
    """Every character of a Unicode category P, and the ASCII marks."""
    found = {c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "P"}
    return frozenset(found | set(PUNCTUATION))


def chosen(normalizer: str, language: str = "en") -> Words | None:
    """The words of a normalizer; None is the official one, which the kernel knows itself."""
    if normalizer == "mlqa":
        return mlqa_words(language)
    return chars_words if normalizer == "chars" else None
