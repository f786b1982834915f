"""The other commands: check, tasks, schema, demo, completion, and the group itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import click
import pytest

from karat import __version__, api, tasks
from karat.cli.fields import complete_field, complete_task, first_record, paths
from karat.cli.main import COMMANDS, root
from karat.model.problem import Problem
from karat.model.report import Input, Report
from karat.present.html.embedded import reports_in


def test_every_command_of_the_table_exists(karat) -> None:
    for name in COMMANDS:
        answer = karat(name, "--help")
        assert answer.status == 0
        assert answer.out.startswith(f"Usage: karat {name}")
        assert max(map(len, answer.out.splitlines())) <= 80


def test_version_and_help(karat) -> None:
    assert karat("-V").out == f"karat {__version__}\n"
    assert karat("--version").out == f"karat {__version__}\n"
    answer = karat("--help")
    assert answer.status == 0
    assert all(name in answer.out for name in COMMANDS)
    assert max(map(len, answer.out.splitlines())) <= 80


def test_nothing_said_is_a_usage_error_that_shows_the_help(karat) -> None:
    answer = karat()
    assert (answer.status, answer.out) == (2, "")
    assert "Commands:" in answer.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("scor", "g"), "did you mean score?"),
        (("chekc", "g"), "did you mean check?"),
        (("zzz",), "karat --help"),
        (("--versoin",), "did you mean --version?"),
        (("check",), "karat check --help"),
    ],
)
def test_usage_errors_help(karat, words, hint) -> None:
    answer = karat(*words)
    assert answer.status == 2
    error, advice = answer.err.splitlines()
    assert error.startswith("error: ")
    assert advice.startswith("help: ")
    assert hint in advice


def test_usage_errors_are_json_too(karat) -> None:
    answer = karat("check", "g", "p", "q", "--json")
    assert answer.status == 2
    assert answer.document["schema"] == 1
    assert "unexpected extra argument" in answer.document["error"]


def test_check_of_clean_files(karat, checking) -> None:
    checking.answer.inputs = [Input(role="gold", name="g", digest="", records=1200)]
    answer = karat("check", "g", "p")
    assert answer.status == 0
    assert answer.out == "ok: nli, 1,200 records, no problems\n"
    assert checking.calls[0][0] == ("g", "p")
    assert karat("check", "g", "p", "--quiet").out == ""


def test_check_shows_notes_and_hands_on_the_flags_of_tasks(karat, checking) -> None:
    checking.answer = api.Check(task="entities", notes=["ends are inclusive (as given)"])
    answer = karat("check", "g", "p", "--end", "inclusive")
    assert answer.out == "note: ends are inclusive (as given)\nok: entities, no problems\n"
    assert checking.calls[0][1]["options"] == {"end": "inclusive"}
    assert karat("check", "g", "p", "--task", "nli", "--end", "auto").status == 2
    assert karat("check", "g", "p", "--ties", "drop").status == 2


def findings(severity: str) -> api.Check:
    problem = Problem("json-syntax", severity, "ends too early", "g.jsonl", 3, 2, None, "close it")
    counts = {"error": 0, "warning": 0, "note": 0} | {severity: 25}
    return api.Check(
        task="nli",
        ok=severity != "error",
        counts=counts,
        problems=[problem],
        hidden={"json-syntax": 5},
    )


def test_check_of_broken_files(karat, checking) -> None:
    checking.answer = findings("error")
    answer = karat("check", "g")
    assert answer.status == 2
    assert answer.out.splitlines() == [
        "g.jsonl:3: json-syntax ends too early",
        "  help: close it",
        "and 5 more of `json-syntax`",
        "not ok: nli, 25 errors, 0 warnings",
    ]
    assert checking.calls[0][0] == ("g", None)


def test_warnings_leave_the_status_alone(karat, checking) -> None:
    checking.answer = findings("warning")
    answer = karat("check", "g")
    assert answer.status == 0
    assert answer.out.splitlines()[-1] == "ok: nli, 0 errors, 25 warnings"


def test_check_as_json(karat, checking) -> None:
    checking.answer = findings("error")
    answer = karat("check", "g", "--json", "--quiet")
    assert answer.status == 2
    assert answer.document["ok"] is False
    assert answer.document["problems"][0]["file"] == "g.jsonl"
    assert answer.document["hidden"] == {"json-syntax": 5}


def test_tasks_are_listed_a_line_each(karat) -> None:
    lines = karat("tasks").out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [
        card.name for card in tasks.cards()
    ]


@pytest.mark.parametrize("card", tasks.cards(), ids=lambda card: card.name)
def test_a_task_is_shown_with_everything_it_has(karat, card) -> None:
    answer = karat("tasks", card.name)
    assert answer.status == 0
    for option in card.options:
        assert f"--{option.name.replace('_', '-')}" in answer.out
    for name in card.computed:
        assert name in answer.out
    assert card.layout.split()[0] in answer.out


def test_an_unknown_task_has_close_matches(karat) -> None:
    answer = karat("tasks", "nlii")
    assert answer.status == 2
    assert "did you mean nli" in answer.err


def test_tasks_as_json(karat) -> None:
    document = karat("tasks", "--json").document
    assert [task["name"] for task in document["tasks"]] == [card.name for card in tasks.cards()]


def test_schemas(karat) -> None:
    report, check = karat("schema").document, karat("schema", "check").document
    assert "scores" in report["$defs"]["Report"]["properties"]
    assert "hidden" in check["$defs"]["Check"]["properties"]
    assert karat("schema", "report").document == report


@pytest.mark.parametrize("call", [("check", "g", "p", "q"), ("score", "no.jsonl", "no.jsonl")])
def test_the_schema_of_errors_is_that_of_what_they_print(karat, call) -> None:
    shape = karat("schema", "error").document["$defs"]["Failure"]
    printed = karat(*call, "--json").document
    assert set(shape["required"]) <= printed.keys() <= shape["properties"].keys()
    assert bool(printed["problems"]) != ("help" in printed)


@pytest.mark.parametrize("shell", ["zsh", "fish", "bash"])
def test_completion_scripts(karat, shell) -> None:
    answer = karat("completion", shell)
    assert answer.status == 0
    assert "_KARAT_COMPLETE" in answer.out
    assert "karat completion" in answer.err


def test_completion_speaks_the_protocol_of_the_shell(karat, monkeypatch) -> None:
    monkeypatch.setenv("_KARAT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "karat sc")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert set(karat().out.split()) == {"plain,score", "plain,schema"}


def test_field_names_come_from_the_first_record(tmp_path: Path) -> None:
    record = {"text": "a", "label": 1, "meta": {"channel": "web", "when": {"day": 3}}, "v": [1]}
    context = click.Context(root)
    for name, content in {
        "a.jsonl": json.dumps(record).encode() + b"\n{broken",
        "b.json": b" [" + json.dumps(record).encode() + b", 3]",
        "c.jsonl.gz": gzip.compress(json.dumps(record).encode()),
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert list(paths(first_record(str(path)))) == [
            "text",
            "label",
            "meta.channel",
            "meta.when.day",
        ]
        context.params = {"gold": str(path)}
        parameter = click.Option(["--by"])
        found = [item.value for item in complete_field(context, parameter, "meta.")]
        assert found == ["meta.channel", "meta.when.day"]
    assert first_record(str(tmp_path / "missing")) is None


def test_task_names_complete() -> None:
    found = complete_task(click.Context(root), click.Option(["--task"]), "nl")
    assert [item.value for item in found] == ["nli"]


def test_the_demo_names_what_it_wrote(karat, scoring, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    for _ in range(2):  # its own files may be written again
        answer = karat("demo", "nli", "--out", str(folder))
        assert answer.status == 0
    assert answer.out.startswith("$ karat score ")
    assert f"{folder}/nli/gold.jsonl" in answer.out
    written = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    own = [
        *("config.json", "gold.jsonl", "predictions.jsonl", "ref.jsonl", "ref_predictions.jsonl"),
        *("report.html", "report.json", "stress.html", "stress.json"),
    ]
    assert written == ["index.html", *(f"nli/{name}" for name in own)]
    told = answer.out.split("wrote to")[1]
    assert str(folder) in told
    assert all(name in told for name in written)
    assert answer.out.endswith(f"\nopen {folder / 'index.html'} in a browser\n")
    assert Report.from_json((folder / "nli/report.json").read_bytes()) == scoring.answer
    assert reports_in((folder / "nli/report.html").read_bytes()) == [scoring.answer]
    assert 'href="nli/report.html"' in (folder / "index.html").read_text(encoding="utf-8")


def test_the_demo_shows_every_task_that_has_samples(karat, scoring, tmp_path: Path) -> None:
    karat("demo", "--out", str(tmp_path))
    shown = [Path(gold).parent.name for (gold, _), _ in scoring.calls]
    assert shown == [card.name for card in tasks.cards() if card.sample]


@pytest.mark.parametrize(
    "name", ["nli/gold.jsonl", "nli/report.json", "nli/report.html", "index.html"]
)
def test_the_demo_leaves_the_files_of_others_alone(karat, scoring, tmp_path: Path, name) -> None:
    theirs = tmp_path / name
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("mine\n")
    answer = karat("demo", "nli", "--out", str(tmp_path))
    assert answer.status == 2
    assert str(theirs) in answer.err
    assert theirs.read_text() == "mine\n"
