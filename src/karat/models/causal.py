"""Causal models: the probability of each token given those before it.

The three candidates of an example share a beginning, which is computed once: an example is a trunk
and branches in one row, where a branch sees the trunk and itself and its positions restart behind
the trunk. Whether a model understands such a row is found out by trying; otherwise every sentence
has a row of its own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from karat.models.batches import Fetch, Row, moved
from karat.models.examples import Example, closed
from karat.models.head import Head, body_of, find_head
from karat.models.loading import Loaded, precision
from karat.models.text import Ids

CASES = ("orig", "b", "c", "d", "e", "f")
START = "<|endoftext|>"


class Tree(NamedTuple):
    """Sequences with a common beginning, read from `first` on, as candidates from `splits` on."""

    trunk: Ids
    branches: tuple[Ids, ...]
    splits: tuple[int, ...]
    first: int
    before: bool
    """Whether tokens before the split are read as well."""

    @property
    def size(self) -> int:
        """Tokens in the row."""
        return len(self.trunk) + sum(map(len, self.branches))


class Wanted(NamedTuple):
    """A sequence to be scored, and where its candidate begins."""

    ids: Ids
    split: int


class Causal:
    """A causal model as work: `value` looks up what a batch gave for a sequence."""

    def __init__(
        self, loaded: Loaded, groups: Iterable[Sequence[Wanted]], *, before: bool, first: int
    ) -> None:
        self.loaded, self._first, self._before = loaded, first, before
        with precision(loaded.settings):
            probe = torch.tensor([[7, 11, 13, 17, 19]], device=loaded.device)
            self.head: Head = find_head(loaded.model, probe)
        self._body = body_of(loaded.model, self.head)
        wanted = [list(dict.fromkeys(w for w in group if w.ids)) for group in groups]
        self._build(wanted)
        self.shares = self._understands()
        if not self.shares:
            self._build([[one] for group in wanted for one in group])

    def _build(self, groups: Iterable[Sequence[Wanted]]) -> None:
        """The trees; a sequence that was met before is not computed again."""
        self._place: dict[Wanted, tuple[int, int]] = {}
        trees: list[Tree] = []
        for group in groups:
            new = [w for w in group if w not in self._place]
            if new:
                self._place |= {w: (len(trees), i) for i, w in enumerate(new)}
                trees.append(_tree(new, self._first, self._before))
        self.units: Sequence[Hashable] = trees

    def _understands(self) -> bool:
        """Whether the model scores branches as it scores them alone, tried on the longest of them.

        The longest, because a window of attention shows only in sequences that are longer.
        """
        trees = [t for t in cast("Sequence[Tree]", self.units) if len(t.branches) > 1]
        if not trees or self.loaded.settings.dtype == "bf16":
            return False  # in bf16 rounding is too coarse to tell
        tree = max(trees, key=lambda t: len(t.trunk) + max(map(len, t.branches)))
        try:
            together = self.begin([tree])()[0]
        except (TypeError, RuntimeError, ValueError, IndexError):
            return False
        sequences = [
            Wanted(tree.trunk + own, split)
            for own, split in zip(tree.branches, tree.splits, strict=True)
        ]
        alone = self.begin([_tree([one], self._first, self._before) for one in sequences])()
        bound = 1e-9 if self.loaded.settings.dtype == "fp64" else 2e-5
        return np.allclose(together, np.concatenate(alone), rtol=bound, atol=bound)

    def cost(self, unit: Hashable) -> int:
        """Tokens in the row."""
        return cast("Tree", unit).size

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """For each sequence: the summed log-probabilities before the split and behind it."""
        trees = cast("Sequence[Tree]", units)
        reads = [_Reads(tree) for tree in trees]
        with precision(self.loaded.settings):
            states = self._body(**self._inputs(trees))
            width = states.shape[1]
            flat = np.concatenate([r.at + i * width for i, r in enumerate(reads)])
            targets = np.concatenate([r.target for r in reads])
            at = moved(flat, states.device)
            rows = states.reshape(-1, states.shape[-1]).index_select(0, at)
            told = self.head.log_probs(rows, moved(targets, states.device))

        def fetch() -> list[Row]:
            ends = np.cumsum([len(r.at) for r in reads])
            parts = np.split(told.cpu().double().numpy(), ends[:-1])
            return [r.sums(part) for r, part in zip(reads, parts, strict=True)]

        return fetch

    def _inputs(self, trees: Sequence[Tree]) -> dict[str, torch.Tensor]:
        """Padded ids, positions and mask of some rows."""
        n, width = len(trees), max(tree.size for tree in trees)
        ids = np.zeros((n, width), np.int64)
        branch = np.full((n, width), -1, np.int32)
        position = np.zeros((n, width), np.int64)
        for i, tree in enumerate(trees):
            ids[i, : tree.size] = tree.trunk + tuple(t for b in tree.branches for t in b)
            sizes = [len(tree.trunk), *map(len, tree.branches)]
            branch[i, : tree.size] = np.repeat(np.arange(len(sizes)), sizes)
            starts = [0] + [sizes[0]] * len(tree.branches)
            position[i, : tree.size] = np.concatenate(
                [np.arange(s, s + k) for s, k in zip(starts, sizes, strict=True)]
            )
        device = self.loaded.device
        inputs = {"input_ids": moved(ids, device)}
        if all(len(tree.branches) == 1 for tree in trees):
            # Padding stands behind every token that is read, where no causal model looks. A mask
            # would leave padded rows nothing to see, which some kinds of attention answer by NaN.
            return inputs
        inputs["position_ids"] = moved(position, device)
        inputs["attention_mask"] = self._sight(moved(branch, device))
        return inputs

    def _sight(self, branch: torch.Tensor) -> torch.Tensor:
        """(n, 1, L, L): 0 where a position sees another, very negative where it does not."""
        width = branch.shape[1]
        seen = torch.ones(width, width, dtype=torch.bool, device=branch.device).tril()
        own = (branch[:, None, :] == 0) | (branch[:, None, :] == branch[:, :, None])
        kind = self.loaded.settings.torch_dtype
        mask = torch.zeros(len(branch), 1, width, width, dtype=kind, device=branch.device)
        return mask.masked_fill_(~(own & seen)[:, None], torch.finfo(kind).min)

    def value(self, wanted: Wanted, rows: Sequence[Row]) -> tuple[float, float]:
        """(sum before the split, sum from it on) of a sequence."""
        unit, i = self._place[wanted]
        return rows[unit][2 * i], rows[unit][2 * i + 1]


class _Reads:
    """Which positions of a row are read, for which targets, and how they add up."""

    def __init__(self, tree: Tree) -> None:
        trunk = len(tree.trunk)
        at: list[int] = []
        target: list[int] = []
        self._n = len(tree.branches)
        start = trunk
        everyone = range(self._n)
        low = tree.first if tree.before else max(tree.first, min(tree.splits))
        shared = range(low, trunk)
        at += [k - 1 for k in shared]
        target += [tree.trunk[k] for k in shared]
        self._sides: list[list[tuple[int, int]]] = [[] for _ in everyone]
        for i in everyone:
            self._sides[i] += [(j, int(k >= tree.splits[i])) for j, k in enumerate(shared)]
            low_own = max(trunk, tree.first if tree.before else max(tree.first, tree.splits[i]))
            for k in range(low_own, trunk + len(tree.branches[i])):
                place = start + k - trunk
                self._sides[i].append((len(at), int(k >= tree.splits[i])))
                at.append(place - 1 if k > trunk else trunk - 1)
                target.append(tree.branches[i][k - trunk])
            start += len(tree.branches[i])
        self.at = np.array(at, np.int64)
        self.target = np.array(target, np.int64)

    def sums(self, found: Any) -> Row:
        """Both sums of each sequence, exactly rounded, so that no order shows."""
        row: Row = []
        values = found.tolist()
        for sides in self._sides:
            row += [math.fsum(values[j] for j, side in sides if side == s) for s in (0, 1)]
        return row


def _tree(group: Sequence[Wanted], first: int, before: bool) -> Tree:
    """The tree of some sequences: what they all begin with, and the rest of each."""
    if len(group) == 1:
        return Tree((), (group[0].ids,), (group[0].split,), first, before)
    columns = zip(*(w.ids for w in group), strict=False)
    trunk = tuple(c[0] for c in takewhile(lambda column: len(set(column)) == 1, columns))
    branches = tuple(w.ids[len(trunk) :] for w in group)
    return Tree(trunk, branches, tuple(w.split for w in group), first, before)


class Sentences:
    """GPT2LM, intrasentence: the geometric mean of the probabilities of a candidate's tokens."""

    kinds = ("",)

    def __init__(self, loaded: Loaded, examples: Sequence[Example]) -> None:
        self.reader = Reader(loaded)
        texts = [c.sentence for e in examples for c in e.candidates]
        found = iter(self.reader.ids(texts))
        self._wanted = [[Wanted(next(found), 0) for _ in e.candidates] for e in examples]
        self.work = Causal(loaded, self._wanted, before=False, first=1)
        self.notes = self.reader.notes

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """The score of each candidate; None where a text is empty."""
        return {"": [self._score(w, rows) for group in self._wanted for w in group]}

    def _score(self, wanted: Wanted, rows: Sequence[Row]) -> float | None:
        n = len(wanted.ids) - self.reader.lead
        if n < 1:
            return None
        total = self.work.value(wanted, rows)[1] + self.reader.start(wanted.ids)
        return math.exp(total / n)


class Continuations:
    """GPT2LM, intersentence: a candidate after its context, in any of the six cases."""

    def __init__(
        self, loaded: Loaded, examples: Sequence[Example], cases: Sequence[str] = ("d",)
    ) -> None:
        self.reader = Reader(loaded)
        self.kinds = tuple(cases)
        full = iter(
            self.reader.ids(
                [f"{closed(e.context)} {c.sentence}" for e in examples for c in e.candidates]
            )
        )
        contexts = self.reader.ids([closed(e.context) for e in examples])
        alone = iter(self.reader.ids([c.sentence for e in examples for c in e.candidates]))
        needs_alone = bool(set(cases) & {"orig", "e", "f"})
        groups: list[list[Wanted]] = []
        self._parts: list[tuple[Wanted, Wanted]] = []
        for example, context in zip(examples, contexts, strict=True):
            together = [Wanted(next(full), len(context)) for _ in example.candidates]
            groups.append(together)
            own = [Wanted(next(alone), 0) for _ in example.candidates]
            if needs_alone:
                groups += [[one] for one in own]
            self._parts += zip(together, own, strict=True)
        before = bool(set(cases) & {"orig", "b", "c", "f"})
        self.work = Causal(loaded, groups, before=before, first=1)
        self.notes = self.reader.notes
        self._needs_alone = needs_alone

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """Case -> the score of each candidate; None where a text is empty."""
        found = [self._means(together, own, rows) for together, own in self._parts]
        return {case: [self._case(case, *means) for means in found] for case in self.kinds}

    def _means(
        self, together: Wanted, own: Wanted, rows: Sequence[Row]
    ) -> tuple[float, float, float, float]:
        """Mean log-probabilities: context, candidate after it, both, candidate alone."""
        lead = self.reader.lead
        n, m = len(together.ids) - lead, together.split - lead
        nothing = math.nan
        if n < 1 or m < 1 or n <= m:
            return nothing, nothing, nothing, nothing
        before, after = self.work.value(together, rows)
        before += self.reader.start(together.ids)
        alone = nothing
        if self._needs_alone and len(own.ids) > lead:
            told = self.work.value(own, rows)[1] + self.reader.start(own.ids)
            alone = told / (len(own.ids) - lead)
        return before / m, after / (n - m), (before + after) / n, alone

    def _case(
        self, case: str, context: float, after: float, both: float, alone: float
    ) -> float | None:
        """The quotient that a case stands for."""
        told = {
            "orig": alone - context,
            "b": after - both,
            "c": both,
            "d": after,
            "e": after - alone,
            "f": both - alone,
        }[case]
        return None if math.isnan(told) else math.exp(told)


class Reader:
    """Texts as the ids that are scored, and the probability of a text's first token.

    The original scores the first token by the distribution after the first id of `<|endoftext|>`,
    and the rest without it. A tokenizer that puts a start token before every text has its own: then
    all tokens follow that, and the start itself (`lead` = 1) is not scored.
    """

    def __init__(self, loaded: Loaded) -> None:
        encoder, tokenizer = loaded.encoder, loaded.encoder.tokenizer
        self._encoder = encoder
        self._specials = True
        start, probe = encoder.ids([START, "a b"])
        begins = tokenizer.bos_token_id is not None and probe[0] == tokenizer.bos_token_id
        ends = probe[-1] == tokenizer.eos_token_id
        self.notes: list[str] = []
        self.lead = 1 if begins else 0
        if ends and not loaded.settings.end_tokens:
            self._specials = False
            bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
            start = (eos if bos is None else bos,)
            self.lead = 0
        elif ends:
            self.notes.append(
                "the tokenizer ends every text with an end token: it is scored like a word and "
                "counts to the context, as in the original; --end-tokens skip leaves it out"
            )
        if not begins and len(start) > 1 + ends:
            self.notes.append(
                f"the start token {START} falls apart; its first piece starts every text, as in "
                "the original"
            )
        self._start = None if self.lead else _distribution(loaded, start[0])

    def ids(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text."""
        return self._encoder.ids(texts, specials=self._specials)

    def start(self, ids: Ids) -> float:
        """The log-probability of a text's first token, 0 where it is not scored."""
        return 0.0 if self._start is None else float(self._start[ids[0]])


def _distribution(loaded: Loaded, token: int) -> Any:
    """The log-probabilities after a single token."""
    with precision(loaded.settings):
        ids = torch.tensor([[token]], device=loaded.device)
        logits = loaded.model(input_ids=ids).logits[0, 0]
        exact = logits if logits.dtype == torch.float64 else logits.float()
        return torch.log_softmax(exact, -1).double().cpu().numpy()
