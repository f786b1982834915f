"""Pickles: frames of every kind come back whole, and nothing that is hidden in one is run."""

from __future__ import annotations

import os
import pickle
import pickletools
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from karat import DataError, score
from karat.read.frames import read_frame

ROWS = {
    "id": ["a", "b", "c"],
    "c1_labels": [[{"label": "related"}], [], [{"label": "unrelated", "human_id": "7"}]],
    "n": [1, 2, 3],
    "x": [0.5, -1.0, 2.0],
    "yes": [True, False, True],
}


def pickled(frame: Any, protocol: int, tmp_path: Path) -> bytes:
    path = tmp_path / "frame.pkl"
    frame.to_pickle(path, protocol=protocol)
    return path.read_bytes()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["plain", "objects", "gaps", "fortran", "turned"])
def test_frames_come_back(kind: str, protocol: int, tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    if kind == "objects":
        frame = frame.astype(object)
    if kind == "gaps":
        frame = frame.iloc[[2, 0]]
    if kind == "fortran":
        frame = pd.DataFrame(np.asfortranarray(np.arange(12.0).reshape(3, 4)), columns=list("abcd"))
    if kind == "turned":
        frame = frame.astype(object).T.T
    found = read_frame("f", pickled(frame, protocol, tmp_path))
    assert found.columns == {name: frame[name].tolist() for name in frame.columns}


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize("dtype", ["str", "string[python]", "string[pyarrow]", "category"])
def test_texts_of_every_type_come_back(dtype: str, protocol: int, tmp_path: Path) -> None:
    texts = ["a", "b", None, "a", "ü"]
    frame = pd.DataFrame({"id": pd.Series(texts, dtype=dtype), "n": range(5)})
    found = read_frame("f", pickled(frame, protocol, tmp_path))
    assert found.columns == {"id": texts, "n": [0, 1, 2, 3, 4]}


def plain(thing: Any) -> bytes:
    """The opcodes of plain values."""
    return pickle.dumps(thing, protocol=2)[2:-1]


def call(name: str, *args: bytes, state: bytes | None = None) -> bytes:
    """The opcodes of a call, and of the state that it is given."""
    module, _, attribute = name.rpartition(".")
    made = b"c" + module.encode() + b"\n" + attribute.encode() + b"\n(" + b"".join(args) + b"tR"
    return made if state is None else made + state + b"b"


def array(shape: tuple[int, ...], values: list[str]) -> bytes:
    """The opcodes of an array of objects, as old pandas pickled it."""
    kind = call("numpy.dtype", *map(plain, ("O8", 0, 1)), state=plain((3, "|", *[None] * 3, -1)))
    made = (b"cnumpy\nndarray\n", plain((0,)), plain(b"b"))
    told = b"(" + plain(1) + plain(shape) + kind + plain(False) + plain(values) + b"t"
    return call("numpy.core.multiarray._reconstruct", *made, state=told)


def index(values: list[str]) -> bytes:
    """The opcodes of an axis."""
    data = b"}" + plain("data") + array((len(values),), values) + b"s"
    return call("pandas.core.indexes.base._new_Index", b"cpandas\nIndex\n", data)


def old_frame(manager: bytes, key: str) -> bytes:
    """A frame of two columns around a manager of blocks."""
    return b"cpandas.core.frame\nDataFrame\n)\x81}" + plain(key) + manager + b"sb."


VALUES = ["a", "b", "c", "d", "e", "f"]


def test_a_frame_of_pandas_1_2() -> None:
    """The manager's state ends in a dict under the version that made the layout."""
    axes = b"]" + index(["id", "target"]) + b"a" + index(["x", "y", "z"]) + b"a"
    places = call("builtins.slice", *map(plain, (0, 2, 1)))
    block = b"}" + plain("values") + array((2, 3), VALUES) + b"s" + plain("mgr_locs") + places
    whole = b"}" + plain("axes") + axes + b"s" + plain("blocks") + b"]" + block + b"sas"
    state = b"(" + plain([]) * 3 + b"}" + plain("0.14.1") + whole + b"st"
    manager = b"cpandas.core.internals.managers\nBlockManager\n)\x81" + state + b"b"
    for key in ("_mgr", "_data"):
        found = read_frame("f", old_frame(manager, key))
        assert found.columns == {"id": VALUES[:3], "target": VALUES[3:]}


def test_a_frame_of_pandas_1_3() -> None:
    """Blocks are made by a partial call."""
    block = b"cpandas.core.internals.blocks\nnew_block\n"
    told = b"(" + block + plain(()) + plain({"ndim": 2}) + plain(None) + b"t"
    partial = call("functools.partial", block, state=told)
    places = call("builtins.slice", *map(plain, (0, 2, 1)))
    blocks = b"(" + partial + b"(" + array((2, 3), VALUES) + places + b"tRt"
    axes = b"]" + index(["id", "target"]) + b"a" + index(["x", "y", "z"]) + b"a"
    manager = call("pandas.core.internals.managers.BlockManager", blocks, axes)
    found = read_frame("f", old_frame(manager, "_mgr"))
    assert found.columns == {"id": VALUES[:3], "target": VALUES[3:]}


def test_real_frames_are_what_pandas_reads(reference: Path) -> None:
    for path in sorted(reference.glob("int*sentence/*.pkl")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.read_pickle(path)
        found = read_frame(path.name, path.read_bytes())
        assert found.columns == {name: frame[name].tolist() for name in frame.columns}


class Call:
    """Pickles to a call of any function."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.told = function, args

    def __reduce__(self) -> Any:
        return self.told


def exploits(mark: Path) -> dict[str, bytes]:
    """Payloads that would leave a file if anything of them ran."""
    code = f"open({str(mark)!r}, 'w').close()"
    touch = f"touch '{mark}'"
    text = str(mark).encode()
    return {
        "system": pickle.dumps(Call(os.system, touch)),
        "eval": pickle.dumps(Call(eval, code)),
        "exec": pickle.dumps(Call(exec, code)),
        "popen": pickle.dumps(Call(subprocess.Popen, ["touch", str(mark)])),
        "getattr": b"cbuiltins\ngetattr\n(cos\nX\x06\x00\x00\x00systemtR(X"
        + len(touch).to_bytes(4, "little")
        + touch.encode()
        + b"tR.",
        "in a frame's state": b"cpandas.core.frame\nDataFrame\n)\x81}X\x04\x00\x00\x00_mgr"
        b"cos\nsystem\n(X" + len(touch).to_bytes(4, "little") + touch.encode() + b"tRsb.",
        "dotted": b"\x80\x04\x8c\x06pandas\x8c\x0eDataFrame.eval\x93.",
        "read_pickle": b"cpandas\nread_pickle\n(X"
        + len(text).to_bytes(4, "little")
        + text
        + b"tR.",
        "numpy load": b"cnumpy\nload\n(X" + len(text).to_bytes(4, "little") + text + b"tR.",
        "runstring": b"cnumpy.testing._private.utils\nrunstring\n(X"
        + len(code).to_bytes(4, "little")
        + code.encode()
        + b"}tR.",
        "import": b"c__builtin__\n__import__\n(X\x02\x00\x00\x00ostR.",
        "persistent id": b"Pabc\n.",
        "extension": b"\x80\x02\x82\x01.",
        "instance": b"(X" + len(touch).to_bytes(4, "little") + touch.encode() + b"ios\nsystem\n.",
        "object": b"(cos\nsystem\nX" + len(touch).to_bytes(4, "little") + touch.encode() + b"o.",
        "a partial call": call("functools.partial", b"cos\nsystem\n", plain(touch)) + b")R.",
        "an allowed partial": call("functools.partial", plain(touch)) + b"(cos\nsystem\ntR.",
        "setstate on a class": b"cpandas\nDataFrame\n}X\x08\x00\x00\x00__init__Nsb.",
    }


@pytest.mark.parametrize("name", list(exploits(Path("mark"))))
def test_nothing_is_run(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "was-here"
    payload = exploits(mark)[name]
    with pytest.raises(DataError) as caught:
        read_frame("evil.pkl", payload)
    assert not mark.exists()
    problem = next(iter(caught.value.problems))
    assert problem.code in {"pickle-refused", "pickle-broken", "pickle-content"}
    assert "to_json" in problem.help


def test_the_payloads_are_live(tmp_path: Path) -> None:
    """What is refused above does run in an ordinary unpickler, so the test can fail."""
    mark = tmp_path / "was-here"
    code = "import pickle, sys; pickle.loads(sys.stdin.buffer.read())"
    payload = exploits(mark)["exec"]
    subprocess.run([sys.executable, "-c", code], input=payload, check=True, timeout=60)
    assert mark.exists()


def test_a_refusal_names_the_function(tmp_path: Path) -> None:
    path = tmp_path / "df_intrasentence_en.pkl"
    path.write_bytes(pickle.dumps(Call(os.system, "true")))
    scores = tmp_path / "model.json"
    scores.write_text('{"intrasentence": []}', "utf-8")
    with pytest.raises(DataError) as caught:
        score(path, scores, task="stereotypes")
    assert any("posix.system" in p.text or "nt.system" in p.text for p in caught.value.problems)


@pytest.mark.parametrize("size", [0, 1, 10, 200, 900])
def test_a_cut_pickle_is_a_problem(size: int, tmp_path: Path) -> None:
    whole = pickled(pd.DataFrame(ROWS).astype(object), 5, tmp_path)
    with pytest.raises(DataError):
        read_frame("cut.pkl", whole[:size])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked for a limit")
def test_a_few_bytes_do_not_take_gigabytes() -> None:
    """The number of a place in the memo makes room for all the places before it."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(DataError) as caught:
        read_frame("bomb.pkl", b"\x80\x04]r\xff\xff\xff\x3f.")
    assert {p.code for p in caught.value.problems} == {"pickle-broken"}
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(-(2**60), 0, 1), (0, 2**60, 1), (2**60, 0, -1)]
)
def test_absurdly_many_columns_are_a_problem(start: int, stop: int, step: int) -> None:
    told = plain({"start": start, "stop": stop, "step": step})
    axis = call("pandas.core.indexes.base._new_Index", b"cpandas\nRangeIndex\n", told)
    manager = call("pandas.core.internals.managers.BlockManager", plain(()), b"]" + axis + b"a")
    with pytest.raises(DataError) as caught:
        read_frame("bomb.pkl", old_frame(manager, "_mgr"))
    assert {p.code for p in caught.value.problems} == {"pickle-content"}


def test_odd_contents_are_problems(tmp_path: Path) -> None:
    for thing in ([1, 2], {"a": 1}, "text", None, pd.Series([1, 2]), pd.DataFrame({"t": [pd.NaT]})):
        path = tmp_path / "odd.pkl"
        pd.to_pickle(thing, path)
        with pytest.raises(DataError):
            read_frame("odd.pkl", path.read_bytes())


def test_flipped_bytes_never_escape(tmp_path: Path) -> None:
    """Any damage is a frame or a DataError, never another exception."""
    whole = bytearray(pickled(pd.DataFrame(ROWS).astype(object).head(2), 4, tmp_path))
    assert len(list(pickletools.genops(bytes(whole)))) > 50
    for at in range(0, len(whole), 3):
        for value in (0, 0x28, 0x52, 0xFF):
            damaged = bytes(whole[:at]) + bytes([value]) + bytes(whole[at + 1 :])
            try:
                read_frame("damaged.pkl", damaged)
            except DataError:
                continue
