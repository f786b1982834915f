"""Pascal VOC and YOLO folders become files that score as the originals should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat
from karat.run.convert import convert

VOC = """<annotation><filename>a.jpg</filename>
<size><width>100</width><height>50</height><depth>3</depth></size>
<object><name>cat</name><difficult>0</difficult>
<bndbox><xmin>11</xmin><ymin>21</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>
</object>
<object><name>ant</name><difficult>1</difficult>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>10</xmax><ymax>10</ymax></bndbox>
</object>
</annotation>"""


def test_voc_becomes_coco(tmp_path: Path) -> None:
    folder = tmp_path / "voc"
    folder.mkdir()
    (folder / "a.xml").write_text(VOC, encoding="utf-8")
    convert([folder], tmp_path / "gold.json", "voc", "coco")
    made = json.loads((tmp_path / "gold.json").read_bytes())
    assert made["images"] == [{"id": 1, "file_name": "a", "width": 100.0, "height": 50.0}]
    assert [c["name"] for c in made["categories"]] == ["ant", "cat"]
    cat, ant = made["annotations"]
    assert cat["bbox"] == [10, 20, 20, 20]
    assert (cat["category_id"], cat["iscrowd"], cat["area"]) == (2, 0, 400)
    assert (ant["category_id"], ant["iscrowd"], ant["bbox"]) == (1, 1, [0, 0, 10, 10])
    found = [{"image_id": 1, "category_id": 2, "bbox": [10, 20, 20, 20], "score": 0.9}]
    (tmp_path / "found.json").write_text(json.dumps(found), encoding="utf-8")
    report = karat.score(str(tmp_path / "gold.json"), str(tmp_path / "found.json"))
    assert pytest.approx(1) == report.AP


def test_broken_xml_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<annotation><object><name>cat</name></object>", "utf-8")
    with pytest.raises(karat.DataError) as caught:
        convert([tmp_path], tmp_path / "gold.json", "voc", "coco")
    assert "xml-broken" in {p.code for p in caught.value.problems}
    assert not (tmp_path / "gold.json").exists()


def test_yolo_becomes_a_cache(tmp_path: Path) -> None:
    labels, results = tmp_path / "labels", tmp_path / "results"
    labels.mkdir()
    results.mkdir()
    (labels / "a.txt").write_text("1 0.5 0.5 0.2 0.4\n", encoding="utf-8")
    (labels / "b.txt").write_text("0 0.3 0.3 0.2 0.2\n", encoding="utf-8")
    (results / "b.txt").write_text("0 0.3 0.3 0.2 0.2 0.8\n", encoding="utf-8")
    convert([labels], tmp_path / "gold.jsonl", "yolo", "cache")
    told = {"labels": str(labels), "classes": "2"}
    convert([results], tmp_path / "found.jsonl", "yolo-predictions", "cache", told)
    report = karat.score(str(tmp_path / "gold.jsonl"), str(tmp_path / "found.jsonl"))
    assert report["AP_class_0"].value == pytest.approx(1)
    assert report["AP_class_1"].value == 0
    assert report["recall"].value == pytest.approx(0.5)


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.2 0.4\ncat 0.5\n", encoding="utf-8")
    with pytest.raises(karat.DataError) as caught:
        convert([tmp_path], tmp_path / "gold.jsonl", "yolo", "cache")
    assert [(p.code, p.line) for p in caught.value.problems] == [("yolo-line", 2)]


BOX = "<bndbox><xmin>5</xmin><ymin>6</ymin><xmax>50</xmax><ymax>40</ymax></bndbox>"
PART = "<part><name>tail</name><bndbox><xmin>1</xmin><ymin>1</ymin></bndbox></part>"


def test_an_object_has_its_own_box_wherever_its_parts_stand(tmp_path: Path) -> None:
    text = f"<annotation><object><name>dog</name>{PART}{BOX}{PART}</object></annotation>"
    (tmp_path / "a.xml").write_text(text, "utf-8")
    convert([tmp_path], tmp_path / "gold.json", "voc", "coco")
    made = json.loads((tmp_path / "gold.json").read_bytes())
    assert [note["bbox"] for note in made["annotations"]] == [[4, 5, 46, 35]]


WRONG = [
    (BOX.replace("<ymin>6</ymin>", ""), "voc-number"),
    (BOX.replace("6", "nan"), "voc-number"),
    (BOX.replace("50", "4"), "voc-object"),
    (PART, "voc-object"),
]


@pytest.mark.parametrize(("inside", "code"), WRONG)
def test_objects_that_cannot_be_read(inside: str, code: str, tmp_path: Path) -> None:
    text = f"<annotation>\n<object><name>dog</name>{inside}</object></annotation>"
    (tmp_path / "a.xml").write_text(text, "utf-8")
    with pytest.raises(karat.DataError) as caught:
        convert([tmp_path], tmp_path / "gold.json", "voc", "coco")
    assert [(p.code, p.line) for p in caught.value.problems] == [(code, 2)]


def test_what_stands_beside_yolo_labels(tmp_path: Path) -> None:
    """A list of classes is no file of boxes; marks of byte order and carriage returns are fine."""
    (tmp_path / "classes.txt").write_text("cat\ndog\n", encoding="utf-8")
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf1 0.5 0.5 0.2 0.4\r\n")
    (tmp_path / "b.txt").write_bytes(b"")
    convert([tmp_path], tmp_path / "gold.jsonl", "yolo", "cache")
    rows = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text().splitlines()]
    assert [(row["image_path"], len(row["label"])) for row in rows] == [("a", 1), ("b", 0)]


@pytest.mark.parametrize("number", ["nan", "1e400", "1000000000", "-1", "0.5"])
def test_classes_that_are_none(number: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{number} 0.5 0.5 0.2 0.4\n", encoding="utf-8")
    with pytest.raises(karat.DataError) as caught:
        convert([tmp_path], tmp_path / "gold.jsonl", "yolo", "cache")
    assert [p.code for p in caught.value.problems] == ["yolo-line"]


def test_yolo_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe0")
    with pytest.raises(karat.DataError) as caught:
        convert([tmp_path], tmp_path / "gold.jsonl", "yolo", "cache")
    assert [p.code for p in caught.value.problems] == ["encoding"]


@pytest.mark.parametrize("number", ["x", "0", "1e3", "-2"])
def test_numbers_of_classes_that_are_none(number: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.2 0.4 0.9\n", encoding="utf-8")
    told = {"labels": str(tmp_path), "classes": number}
    with pytest.raises(karat.UsageError, match="classes cannot be"):
        convert([tmp_path], tmp_path / "found.jsonl", "yolo-predictions", "cache", told)
