"""Classification: karat against the bare decoding of the files, and against scikit-learn.

    python benchmarks/classification.py --rows 1000000 --rounds 3

The data is made on first use in a temporary folder: rows of text, label and three probabilities,
and a case of 1,000 classes with a tenth of the rows. Before anything is timed, karat's numbers are
held against scikit-learn's.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from measure import Peer, Work, answer_as_child, arguments, chosen, machine, race

SEED = 20250317
WORDS = (
    *("the", "a", "lamp", "came", "late", "again", "and", "box", "was", "open", "on", "monday"),
    *("so", "please", "send", "new", "one", "or", "refund"),
)


# ---- data -------------------------------------------------------------------------------------


def make(folder: Path, rows: int, classes: int) -> None:
    """Write gold.jsonl and predictions.jsonl, unless they are there."""
    if (folder / "predictions.jsonl").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    labels = rng.integers(0, classes, rows)
    picks = rng.integers(0, len(WORDS), (rows, 12))
    with (folder / "gold.jsonl").open("w") as out:
        out.writelines(
            f'{{"text": "{" ".join(WORDS[w] for w in pick)}", "label": {label}}}\n'
            for pick, label in zip(picks.tolist(), labels.tolist(), strict=True)
        )
    with (folder / "predictions.jsonl").open("w") as out:
        for start in range(0, rows, 10_000):
            block = shares(rng, labels[start : start + 10_000], classes)
            out.writelines(f'{{"probabilities": [{line}]}}\n' for line in texts(block))


def shares(rng: np.random.Generator, labels: Any, classes: int) -> Any:
    """Probabilities in ten-thousandths, each row summing to 10,000."""
    logits = rng.normal(size=(len(labels), classes))
    logits[np.arange(len(labels)), labels] += 2.0 if classes < 10 else 5.0
    raised = np.exp(1.8 * logits)
    units = np.floor(10_000 * raised / raised.sum(axis=1, keepdims=True)).astype(np.int64)
    units[np.arange(len(labels)), units.argmax(axis=1)] += 10_000 - units.sum(axis=1)
    return units


def texts(units: Any) -> list[str]:
    """The rows as JSON numbers."""
    words = [repr(unit / 10_000) for unit in range(10_001)]
    return [", ".join([words[unit] for unit in row]) for row in units.tolist()]


# ---- peers ------------------------------------------------------------------------------------


def bare(folder: Path) -> Work:
    """Typed decoding of both files, and nothing else: the floor for anything that reads them."""
    import msgspec

    gold = msgspec.defstruct("Gold", [("text", str), ("label", int)], gc=False)
    row = msgspec.defstruct("Row", [("probabilities", list[float])], gc=False)

    def work() -> None:
        msgspec.json.Decoder(gold).decode_lines((folder / "gold.jsonl").read_bytes())
        msgspec.json.Decoder(row).decode_lines((folder / "predictions.jsonl").read_bytes())

    return work


def unchecked(folder: Path) -> Work:
    """Typed decoding to arrays, without a single check: what reading costs a careless reader."""
    import msgspec

    gold = msgspec.defstruct("Gold", [("text", str), ("label", int)], gc=False)
    row = msgspec.defstruct("Row", [("probabilities", list[float])], gc=False)

    def work() -> tuple[Any, Any]:
        golds = msgspec.json.Decoder(gold).decode_lines((folder / "gold.jsonl").read_bytes())
        labels = np.fromiter((one.label for one in golds), np.int32, len(golds))
        del golds
        rows = msgspec.json.Decoder(row).decode_lines((folder / "predictions.jsonl").read_bytes())
        flat = chain.from_iterable([one.probabilities for one in rows])
        return labels, np.fromiter(flat, np.float64).reshape(len(labels), -1)

    return work


def load(folder: Path) -> tuple[Any, Any]:
    """Labels and probabilities, as one reads them without karat and without wasting memory."""
    import orjson

    with (folder / "gold.jsonl").open("rb") as lines:
        labels = np.array([orjson.loads(line)["label"] for line in lines])
    with (folder / "predictions.jsonl").open("rb") as lines:
        rows = (orjson.loads(line)["probabilities"] for line in lines)
        first = next(rows)
        if len(first) > 10:
            return labels, np.stack([np.array(row) for row in chain([first], rows)])
        return labels, np.array([first, *rows])


def sklearn_labels(labels: Any, p: Any) -> dict[str, float]:
    """The label metrics of scikit-learn."""
    from sklearn import metrics as m

    top = p.argmax(axis=1)
    found = {
        "accuracy": m.accuracy_score(labels, top),
        "balanced_accuracy": m.balanced_accuracy_score(labels, top),
        "mcc": m.matthews_corrcoef(labels, top),
        "kappa": m.cohen_kappa_score(labels, top),
    }
    m.confusion_matrix(labels, top)
    m.precision_recall_fscore_support(labels, top, zero_division=0)
    for mean in ("macro", "micro", "weighted"):
        three = m.precision_recall_fscore_support(labels, top, average=mean, zero_division=0)
        for name, value in zip(("precision", "recall", "f1"), three, strict=False):
            found[f"{name}_{mean}"] = value
    return found


def sklearn_all(labels: Any, p: Any) -> dict[str, float]:
    """The same and what depends on the probabilities."""
    from sklearn import metrics as m

    hot = np.eye(p.shape[1])[labels]
    return {
        **sklearn_labels(labels, p),
        "log_loss": m.log_loss(labels, p),
        "brier": float(((p - hot) ** 2).sum(axis=1).mean()),
        "auroc_ovr_macro": m.roc_auc_score(labels, p, multi_class="ovr"),
        "auroc_ovo_macro": m.roc_auc_score(labels, p, multi_class="ovo"),
        "average_precision_macro": m.average_precision_score(hot, p, average="macro"),
    }


def with_sklearn(function: Any) -> Any:
    """A peer that reads with orjson and scores with scikit-learn."""

    def prepare(folder: Path) -> Work:
        import orjson  # noqa: F401 - start-up is not what is measured
        import sklearn.metrics  # noqa: F401

        return lambda: function(*load(folder))

    return prepare


def with_karat(**options: Any) -> Any:
    """A peer that calls `karat.score`, all checks on."""

    def prepare(folder: Path) -> Work:
        import karat
        from karat.run import pipeline  # noqa: F401 - start-up is not what is measured
        from karat.tasks import card

        card("text-classification").load()
        files = str(folder / "gold.jsonl"), str(folder / "predictions.jsonl")
        return lambda: karat.score(*files, **options)

    return prepare


def program(code: str, *words: str) -> Any:
    """A peer that is a whole process: everything from its start to its end counts."""

    def command(folder: Path) -> list[str]:
        files = [str(folder / "gold.jsonl"), str(folder / "predictions.jsonl")]
        return [sys.executable, "-c", code, *(files if words else [str(folder)]), *words]

    return command


KARAT = "import sys; sys.argv.insert(1, 'score'); from karat.cli.main import main; main()"
SKLEARN = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import pathlib; "
    "import classification as c; print(c.sklearn_all(*c.load(pathlib.Path(sys.argv[1]))))"
)

LABELS, ALL = "orjson + scikit-learn, label metrics", "orjson + scikit-learn, all metrics"
WHOLE = "orjson + scikit-learn, whole process"
BARE, UNCHECKED = "bare msgspec decoding", "decoding to arrays, unchecked"

PEERS = (
    Peer(BARE, BARE, bare),
    Peer(UNCHECKED, BARE, unchecked),
    Peer(LABELS, LABELS, with_sklearn(sklearn_labels)),
    Peer("karat, label metrics", LABELS, with_karat(confidence=None, metrics=["labels"])),
    Peer(
        "karat, label metrics against bare", BARE, with_karat(confidence=None, metrics=["labels"])
    ),
    Peer("karat, label metrics and intervals", LABELS, with_karat(metrics=["labels"])),
    Peer(
        "karat, label metrics and 1,000 resamples",
        LABELS,
        with_karat(metrics=["labels"], bootstrap=1000),
    ),
    Peer(ALL, ALL, with_sklearn(sklearn_all)),
    Peer("karat, all metrics", ALL, with_karat(confidence=None)),
    Peer("karat, all metrics and intervals", ALL, with_karat()),
    Peer(WHOLE, WHOLE, command=program(SKLEARN)),
    Peer("karat score, whole process", WHOLE, command=program(KARAT, "--quiet", "--json")),
)
WIDE = (BARE, LABELS, "karat, label metrics", "karat, label metrics and intervals")


def agree(folder: Path) -> str:
    """The largest difference between karat's numbers and scikit-learn's."""
    import karat

    report = karat.score(
        str(folder / "gold.jsonl"), str(folder / "predictions.jsonl"), confidence=None
    )
    expected = sklearn_all(*load(folder))
    gaps = {name: abs((report[name].value or 0.0) - value) for name, value in expected.items()}
    worst = max(gaps, key=lambda name: gaps[name])
    return f"{len(gaps)} scores agree with scikit-learn to {gaps[worst]:.1e} ({worst})"


def main() -> None:
    """Make the data, check the numbers, race the peers."""
    given = arguments(rows=1_000_000, wide=1_000)
    if given.peer:
        return answer_as_child(PEERS, given.peer, given.folder)
    peers = chosen(PEERS, given.only)
    base = Path(tempfile.gettempdir()) / "karat-benchmarks"
    print(machine())
    for rows, classes, racing in (
        (given.rows, 3, peers),
        (given.rows // 10, given.wide, [p for p in peers if p.name in WIDE]),
    ):
        folder = base / f"classification-{rows}-{classes}"
        make(folder, rows, classes)
        print(f"\n{rows:,} rows of {classes:,} classes")
        if classes < 10:
            print(agree(folder))
        race(Path(__file__), racing, folder, given.rounds)
    return None


if __name__ == "__main__":
    main()
