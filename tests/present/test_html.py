"""The page as text: what is in it, what cannot get into it, how large it may be."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from html.parser import HTMLParser

import msgspec
import pytest

from karat import KaratError, score
from karat.model.report import (
    Comparison,
    Curve,
    Difference,
    Example,
    Report,
    Score,
    Series,
    Slice,
    SliceScore,
    System,
    Table,
)
from karat.present.html import charts, embedded, page, tables, verdict
from karat.present.html.confusion import seriation
from karat.present.html.embedded import lean, reports_in
from karat.present.html.markup import Safe, element
from karat.present.html.notebook import fragment
from karat.present.html.scale import spanning, thinned, ticks
from karat.tasks import card

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&<!--"


class Reader(HTMLParser):
    """The tags of a page, in order, and whether each was closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.wrong += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input", "br", "wbr"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def evil(report: Report) -> Report:
    """The report with text out of data that wants to be markup, wherever data can bring text."""
    report.slices.append(
        Slice(field=EVIL, level=EVIL, n=3, scores=[SliceScore(name="accuracy", value=0.1)])
    )
    report.tables.append(Table(name="t", title=EVIL, columns=[EVIL, "b"], rows=[[EVIL, EVIL]]))
    report.tables.append(
        Table(name="m", title=EVIL, columns=["", EVIL], rows=[[EVIL, 3]], kind="confusion")
    )
    report.curves.append(
        Curve(
            name="c",
            title=EVIL,
            x=EVIL,
            y=EVIL,
            series=[Series(name=EVIL, x=[0.0, 1.0], y=[0.0, 1.0])],
        )
    )
    fields = {EVIL: EVIL, "boxes": [{"box": [0, 0, 1, 1], "label": EVIL}]}
    report.examples.append(
        Example(id=EVIL, record=0, score=None, why=EVIL, kind=EVIL, fields=fields)
    )
    report.notes.append(EVIL)
    found = Difference(name=EVIL, value=0.1, reason=EVIL)
    report.comparisons.append(
        Comparison(system=EVIL, baseline=EVIL, differences=[found], sentence=EVIL)
    )
    return report


def test_text_is_escaped_and_markup_is_not() -> None:
    made = element("b", "a < b", element("i", "x"), title='"', class_="k", hidden=False)
    assert made == '<b title="&quot;" class="k">a &lt; b<i>x</i></b>'
    assert isinstance(made, Safe)
    assert element("p", "\u202ex\x00") == "<p>\\u202ex\\x00</p>"


def test_nothing_out_of_data_becomes_markup(report: Report) -> None:
    read = Reader(page.render(evil(report)).decode())
    assert read.wrong == []
    scripts = read.named("script")
    assert [one.get("type") for one in scripts] == [None, "application/json"]
    assert read.named("img") == []
    assert not [name for _, found in read.tags for name in found if name.startswith("on")]
    assert any(EVIL in word for word in read.words)


def test_the_page_asks_for_nothing(report: Report) -> None:
    read = Reader(page.render(evil(report)).decode())
    linked = [
        found.get(name) for _, found in read.tags for name in ("href", "src") if name in found
    ]
    assert linked
    assert all(target and target.startswith(("#", "data:")) for target in linked)
    style = re.search(r"<style>(.*?)</style>", page.render(report).decode(), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert [found for _, found in read.tags if "style" in found] == []


def test_the_policy_knows_its_own_style_and_script(report: Report) -> None:
    text = page.render(report).decode()
    policy = next(
        m["content"] or "" for m in Reader(text).named("meta") if m.get("http-equiv") is not None
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        code = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert code is not None
        digest = base64.b64encode(hashlib.sha256(code[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_page_is_also_the_run_file(report: Report) -> None:
    found = reports_in(page.render(evil(report)))
    assert found == [report]
    assert found[0].to_json() == report.to_json()
    assert reports_in(page.render_all([report, found[0]])) == [report, report]
    assert reports_in(b"<html></html>") == []


def compared(systems: int, scores: int) -> Report:
    """A comparison in which every score of every system has a formula and a reference to say."""
    drawn = random.Random(5)

    def scored(at: int) -> Score:
        return Score(
            name=f"profession_{at}_language_model",
            value=drawn.random(),
            low=drawn.random(),
            high=drawn.random(),
            main=at < 3,
            formula=f"100 * comparisons won of group {at} / comparisons",
            reference="a paper that is named in full beside every single score",
        )

    def differing(at: int) -> Difference:
        name = f"profession_{at}_language_model"
        return Difference(name=name, value=drawn.random(), p=drawn.random(), main=at < 3)

    names = [f"system {at}" for at in range(systems)]
    return Report(
        kind="compare",
        systems=[System(name=n, scores=[scored(at) for at in range(scores)]) for n in names],
        comparisons=[
            Comparison(
                system=name, baseline=names[0], differences=[differing(at) for at in range(scores)]
            )
            for name in names[1:]
        ],
    )


@pytest.mark.parametrize(("systems", "scores"), [(3, 150), (6, 150), (3, 500)])
def test_a_page_of_very_many_scores_stays_small_and_comes_back(systems: int, scores: int) -> None:
    report = compared(systems, scores)
    made = page.render(report)
    assert len(made) < 300_000
    assert Reader(made.decode()).wrong == []
    assert reports_in(made) == [report]


def test_what_was_folded_is_counted() -> None:
    text = page.render(compared(4, 150)).decode()
    assert text.count("<summary>The first 100 of 150 differences") == 3
    assert "<summary>All 150 differences" in page.render(compared(3, 150)).decode()
    assert "<summary>The first 1 of 8 differences" in page.render(compared(400, 8)).decode()


def test_a_damaged_page_is_told_and_a_bomb_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    made = page.render(compared(3, 500))
    at = made.index(b'data-karat="report">') + 500
    with pytest.raises(KaratError, match="damaged"):
        reports_in(made[:at] + b"AAAAAAAA" + made[at + 8 :])
    monkeypatch.setattr(embedded, "MOST_UNPACKED", 1000)
    with pytest.raises(msgspec.DecodeError):
        reports_in(made)


def test_what_is_at_its_default_is_left_out_of_the_data() -> None:
    bare = lean(Report(n=3, scores=[]))
    assert bare == {"n": 3}
    assert lean(Report(level=None)) == {"level": None}


def test_the_sections_stand_in_their_order(report: Report) -> None:
    text = page.render(evil(report)).decode()
    wanted = ["Scores", "Gates", "Comparison", "Slices by accuracy", "A closer look", "Worst texts"]
    wanted += ["Problems found", "About these numbers"]
    places = [text.index(f"<h2>{title}") for title in wanted]
    assert places == sorted(places)


def test_slices_are_worst_first(report: Report) -> None:
    text = page.render(report).decode()
    forest = text[text.index("Slices by accuracy") :]
    assert re.findall(r'<th data-key="(\w+)" scope="row">', forest)[:2] == ["de", "en"]
    assert "−0.047 *" in text


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_verdict_names_the_surely_worse_slice(report: Report, better: str) -> None:
    report.scores[0] = msgspec.structs.replace(report.scores[0], better=better)
    said = verdict.sentences(report)
    assert said[0].startswith("accuracy is 0.8011 (95 % interval 0.7940 – 0.8083) over 11\u202f873")
    worst = "Weakest where meta.language is de: 0.788, −0.047 to the rest (q < 0.001)."
    assert said[1] == (
        worst if better == "higher" else "No slice is surely worse than the rest in accuracy."
    )
    assert said[2] == "1 of 2 gates failed: ece<=0.01."
    assert said[3] == "The input has 0 errors, 7 warnings."


def test_an_undefined_headline_says_why(report: Report) -> None:
    report.scores = report.scores[2:3]
    assert "mcc is undefined over" in verdict.sentences(report)[0]
    assert "one class only" in verdict.sentences(report)[0]


def test_classes_that_are_confused_become_neighbours() -> None:
    names = ["cat", "car", "dog", "bus"]
    cells = [[5, 0, 4, 0], [0, 5, 0, 3], [4, 0, 5, 1], [0, 3, 0, 5]]
    order = [names[i] for i in seriation(names, cells)]
    assert order in (["cat", "dog", "bus", "car"], ["car", "bus", "dog", "cat"])


def test_numbers_keep_their_order_and_no_class_stays_last() -> None:
    cells = [[5, 0, 9], [0, 5, 0], [9, 0, 5]]
    assert seriation(["1", "2", "3"], cells) == [0, 1, 2]
    four = [[1, 9, 9, 9], [0, 5, 0, 4], [0, 0, 5, 0], [0, 4, 0, 5]]
    assert seriation(["(none)", "a", "b", "c"], four)[-1] == 0
    assert sorted(seriation(["(none)", "a", "b", "c"], four)) == [0, 1, 2, 3]


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(-0.3, 0.3, 5) == [-0.2, 0, 0.2]
    assert ticks(0, 0) == [0]
    assert spanning([None, float("nan")])[0] < spanning([None])[1]


def test_a_long_line_keeps_its_peaks() -> None:
    x = [float(i) for i in range(20_000)]
    y = [0.0] * 20_000
    y[777], y[15_000] = 1.0, -1.0
    xs, ys = thinned(x, y)
    assert len(xs) <= 200
    assert {(777.0, 1.0), (15_000.0, -1.0), (0.0, 0.0), (19_999.0, 0.0)} <= set(
        zip(xs, ys, strict=True)
    )


@pytest.mark.parametrize("kind", [*charts.KINDS, "of a kind to come"])
def test_every_kind_of_curve_is_drawn_and_told(kind: str) -> None:
    chance = random.Random(3)
    x = sorted(chance.random() for _ in range(5_000))
    series = [Series(name="one", x=x, y=x), Series(name="two", x=[0.0, 1.0], y=[0.0, 1.0])]
    curve = Curve(name="c", title="Shape", x="across", y="up", series=series, kind=kind, note="a|b")
    drawn = charts.figure(curve, "h3")
    read = Reader(drawn)
    assert read.wrong == []
    assert read.named("svg")[0]["role"] == "img"
    assert "><title>Shape" in drawn
    assert len(drawn) < 120_000
    assert {"one", "two"} <= set(read.words) | {word.strip() for word in read.words}


@pytest.mark.parametrize("kind", [*tables.KINDS, "of a kind to come"])
def test_every_kind_of_table_is_drawn(kind: str) -> None:
    rows = [["a", 3, 1], ["b", 0, 4]]
    drawn = tables.drawn(
        Table(name="t", title="Numbers", columns=["", "a", "b"], rows=rows, kind=kind), "h3"
    )
    read = Reader(drawn)
    assert read.wrong == []
    assert {"3", "4", "Numbers"} <= set(read.words)


def test_boxes_are_drawn_to_scale(report: Report) -> None:
    boxes = [
        {"box": [0, 0, 50, 50], "role": "gold", "label": "cat"},
        {"box": [25, 25, 50, 50], "role": "predicted", "label": "cat", "score": 0.5},
        {"box": ["x"]},
    ]
    report.examples = [
        Example(id="i", record=0, score=0, why="", fields={"boxes": boxes, "size": [100, 50]})
    ]
    text = page.render(report).decode()
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*class="box', text)
    assert found == [("0", "0", "160"), ("80", "80", "160")]


def test_several_runs_share_a_page(report: Report) -> None:
    text = page.render_all([report, report]).decode()
    assert "<h1>2 runs</h1>" in text
    assert "shared scores" in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_an_index_leads_to_its_pages(report: Report) -> None:
    made = page.render_index("samples", [("a/report.html", report)])
    assert b'<a href="a/report.html">Text classification</a>' in made
    assert page.is_page(made)
    assert not page.is_page(b"<html><head></head></html>")


def test_a_notebook_shows_the_same_without_a_script(report: Report) -> None:
    shown = report._repr_html_()
    assert shown == fragment(report)
    assert "<script" not in shown
    assert shown.count("<svg") >= 4
    assert Reader(shown).wrong == []


def test_a_usual_run_is_a_small_page() -> None:
    from importlib import resources

    home, gold, predictions, *_ = card("text-classification").sample
    sample = resources.files("karat.samples").joinpath(home)
    found = score(str(sample / gold), str(sample / predictions), by="meta.channel", examples=50)
    assert len(page.render(found)) < 300_000
