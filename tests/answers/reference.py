"""The official definitions written down plainly, one question at a time: the oracle of the fuzzer.

Nothing of karat is used here. Scores keep the types that the official scripts give them, because
the last digits of a sum depend on them from Python 3.12 on.
"""

from __future__ import annotations

import collections
import re
from typing import Any

MARKS = set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def normal(text: str) -> str:
    lowered = text.lower()
    kept = "".join(c for c in lowered if c not in MARKS)
    without = re.sub(r"\b(a|an|the)\b", " ", kept)
    return " ".join(without.split())


def words(text: str) -> list[str]:
    return normal(text).split() if text else []


def exact_of(gold: str, said: str) -> int:
    return int(normal(gold) == normal(said))


def f1_of(gold: str, said: str) -> float:
    a, b = words(gold), words(said)
    same = sum((collections.Counter(a) & collections.Counter(b)).values())
    if not a or not b:
        return int(a == b)
    if same == 0:
        return 0
    p, r = 1.0 * same / len(b), 1.0 * same / len(a)
    return (2 * p * r) / (p + r)


def questions(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [q for a in data["data"] for p in a["paragraphs"] for q in p["qas"]]


def raw20(data: dict[str, Any], said: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    exact: dict[str, Any] = {}
    f1: dict[str, Any] = {}
    for q in questions(data):
        golds = [g["text"] for g in q["answers"] if normal(g["text"])] or [""]
        exact[q["id"]] = max(exact_of(g, said[q["id"]]) for g in golds)
        f1[q["id"]] = max(f1_of(g, said[q["id"]]) for g in golds)
    return exact, f1


def official20(
    data: dict[str, Any],
    said: dict[str, str],
    chances: dict[str, float] | None = None,
    threshold: float = 1.0,
    curves: bool = False,
) -> dict[str, Any]:
    has = {q["id"]: bool(q["answers"]) for q in questions(data)}
    exact, f1 = raw20(data, said)
    p = chances if chances is not None else dict.fromkeys(said, 0.0)

    def cut(scores: dict[str, Any]) -> dict[str, Any]:
        return {k: float(not has[k]) if p[k] > threshold else s for k, s in scores.items()}

    cut_exact, cut_f1 = cut(exact), cut(f1)
    n = len(cut_exact)
    out: dict[str, Any] = {
        "exact": 100.0 * sum(cut_exact.values()) / n,
        "f1": 100.0 * sum(cut_f1.values()) / n,
        "total": n,
    }
    for prefix, wanted in (("HasAns", True), ("NoAns", False)):
        ids = [k for k, v in has.items() if v is wanted]
        if ids:
            out[f"{prefix}_exact"] = 100.0 * sum(cut_exact[k] for k in ids) / len(ids)
            out[f"{prefix}_f1"] = 100.0 * sum(cut_f1[k] for k in ids) / len(ids)
            out[f"{prefix}_total"] = len(ids)
    if chances is None:
        return out
    for name, scores in (("exact", exact), ("f1", f1)):
        out[f"best_{name}"], out[f"best_{name}_thresh"] = best(scores, said, chances, has)
    if curves and any(has.values()):
        oracle = {k: float(v) for k, v in has.items()}
        for name, scores in (("exact", exact), ("f1", f1), ("oracle", oracle)):
            out[f"pr_{name}_ap"] = area(scores, chances, has)
    return out


def best(scores: Any, said: Any, chances: Any, has: Any) -> tuple[float, float]:
    now = top = sum(1 for v in has.values() if not v)
    at = 0.0
    for key in sorted(chances, key=lambda k: chances[k]):
        if key not in scores:
            continue
        if has[key]:
            now += scores[key]
        elif said[key]:
            now -= 1
        if now > top:
            top, at = now, chances[key]
    return 100.0 * top / len(scores), at


def area(scores: Any, chances: Any, has: Any) -> float:
    keys = sorted(chances, key=lambda k: chances[k])
    positive = sum(1 for v in has.values() if v)
    found, last, total = 0.0, 0.0, 0.0
    for i, key in enumerate(keys):
        if has[key]:
            found += scores[key]
        p, r = found / float(i + 1), found / float(positive)
        if i == len(keys) - 1 or chances[key] != chances[keys[i + 1]]:
            total += p * (r - last)
            last = r
    return 100.0 * total


def f1_of_11(gold: str, said: str) -> float:
    a, b = normal(gold).split(), normal(said).split()
    same = sum((collections.Counter(a) & collections.Counter(b)).values())
    if same == 0:
        return 0
    p, r = 1.0 * same / len(b), 1.0 * same / len(a)
    return (2 * p * r) / (p + r)


def official11(data: dict[str, Any], said: dict[str, str]) -> dict[str, float]:
    f1: float = 0
    exact = total = 0
    for q in questions(data):
        total += 1
        if q["id"] not in said:
            continue
        golds = [g["text"] for g in q["answers"]]
        exact += max(normal(g) == normal(said[q["id"]]) for g in golds)
        f1 += max(f1_of_11(g, said[q["id"]]) for g in golds)
    return {"exact_match": 100.0 * exact / total, "f1": 100.0 * f1 / total}
