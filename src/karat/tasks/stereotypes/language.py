"""Which language a sheet is in, by its texts and by its file's name.

All languages of StereoSet share their ids, so nothing but these two can tell that scores were
made for the sentences of another language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

WORDS = {
    "en": "the and is was to of he she they that with his her are for you it",
    "de": "der die das und ist nicht ein eine sie er ich mit zu war den wie ihr",
    "es": "el los las una que es con para su por del muy ella era estaba no",
    "fr": "le les des est une et dans il elle pas du qui sont son au pour",
    "tr": "bir ve bu çok için ile da de ne gibi daha olan olarak var onun",
}
_CODES = frozenset((*WORDS, "it", "pt", "nl", "pl", "ru", "uk", "zh", "ja", "ko", "ar", "he", "hi"))
_LOOKED_AT = 400
_IN_NAME = re.compile(
    r"_([a-z]{2})(?:_v\d\w*)?\.(?:pkl|pickle|json|jsonl|csv|tsv|parquet)(?:\.gz)?$"
)


def of_texts(texts: Sequence[str]) -> str | None:
    """The language of the texts by their small words, None where it is not clear."""
    step = max(1, len(texts) // _LOOKED_AT)
    found = " ".join(texts[::step]).lower().split()
    times = {
        code: sum(map(set(words.split()).__contains__, found)) for code, words in WORDS.items()
    }
    first, second = sorted(times, key=lambda code: -times[code])[:2]
    clear = times[first] >= 10 and times[first] >= 1.5 * times[second]
    return first if clear else None


def of_name(name: str) -> str | None:
    """The language that a file's name ends in: `df_intrasentence_de.pkl`, `model_x_y_de.json`."""
    match = _IN_NAME.search(PurePosixPath(name.replace("\\", "/")).name)
    return match[1] if match and match[1] in _CODES else None
