"""What every command takes: a script that was written for one version goes on working with the next."""

from __future__ import annotations

import pytest

from explorer.__main__ import main, parser_for
from explorer.commands import COMMANDS
from explorer.studies import QUESTIONS, STUDIES

# Command → its usage without the flags that all of them take. A line may grow; nothing may leave it.
EVERY = "[-h] [--cache DIR] [--data DIR] [--json] [--debug]"
A_STUDY = (
    "[--model MODEL [MODEL ...]] --benchmark NAME [NAME ...] [--suite S] [--slice NAME] [--limit LIMIT] [--seed SEED] "
    "[--seeds N] [--sweep NAME] [--keep {all,none}] [--dtype {auto,float32,bfloat16,float16}] [--set KEY=VALUE] "
    "[--detach] [--cluster ADDRESS] [--shard {auto,none}] [--to URL] [--workers N] [--cpus N] [--dry-run]"
)
USAGE = {
    "app": "[--port PORT] [--host ADDRESS] [--no-browser] [--trust-visitors] [--prepare-only]",
    "benchmarks": "[--fetch] [NAME ...]",
    "import": (
        "--name N [--kind {pair,judged,turns,choice,contexts,cloze,labelled,rating,suite}] [--column ROLE=NAME] "
        "[--encoding ENCODING] [--delimiter DELIMITER] [--quotes {yes,no}] [--header {yes,no}] [--gold "
        "{0,1,letter,text,names,flags}] [--labels FILE] [--first {good,bad}] [--acceptable VALUE] [--split NAME] "
        "[--formula FORMULA] [--connectors CAUSE,EFFECT] [--language L] [--dry-run] FILE"
    ),
    "corpus": (
        "[--index I] [--in FILE] [--out FILE] [--least LEAST] [--longest LONGEST] [--documents N] [--tokenizer T] "
        "[TEXT ...]"
    ),
    "doctor": "[--verify]",
    "export": (
        "[--table {instances,variants,scores,generations,counts,measures,findings,words,prompts,over_seeds,all}] "
        "--format "
        "{csv,parquet,jsonl,latex,zip} --out FILE [--by {auto,blanks,characters}] [--spreadsheet-safe] ID"
    ),
    "import-run": "FILE [FILE ...]",
    "index": "ACTION ...",
    "index build": "--in FILE [FILE ...] --out DIR [--tokenizer T] [--vocabulary V] [--name NAME] [--cpus N]",
    "index check": (
        "[--in DIR] [--compare N] [--adopt] [--tokenizer T] [--dtype {u8,u16,u32}] [--counts] [--repair] "
        "[--forget INDEX]"
    ),
    "index count": "--index I [--in FILE] [--out FILE] [--bare] [--tokenizer T] [TEXT ...]",
    "index serve": "--in DIR [DIR ...] [--host HOST] [--port PORT]",
    "import-log": "[--benchmark NAME] [--model-name NAME] FILE [FILE ...]",
    "models": "[{list,add}] [ID]",
    "import-predictions": ("--ontology ONTOLOGY --model-name NAME [--as-released] [--after-prefix] [--seed SEED] FILE"),
    "prediction-invariance": "--repeats M [--labels FILE] [--ontology ONTOLOGY] FILE",
    "perturb": (
        "--in FILE --out FILE [--pos {N,V,NV}] [--seed N] [--veto WORD] [--senses "
        "{blend,gloss,first,lesk,lm,lm-choice,chat}] [--model M]"
    ),
    "popularity": (
        "--index I [--n N] --in FILE [--out FILE] [--edges-from RUN|FILE] [--initial {running,both}] [--tokenizer T]"
    ),
    "precompute": "ACTION ...",
    "precompute plan": "[--study STUDY] [--model MODEL] [--benchmark BENCHMARK] [--new]",
    "precompute run": (
        "[--study STUDY] [--model MODEL] [--benchmark BENCHMARK] [--new] [--minutes MINUTES] "
        "[--processes PROCESSES] [--parts-only] [--share I/N]"
    ),
    "precompute merge": "FOLDER [FOLDER ...]",
    "precompute pack": "[--out OUT] [--add] [RUN ...]",
    "precompute released": "[--out OUT]",
    "run": "STUDY ...",
    "work": "RUN",
    "runs": "",
    "sweeps": "[NAME]",
    "resume": "[--detach] [--cluster ADDRESS] [--shard {auto,none}] [--to URL] [--workers N] [--cpus N] ID",
    "cancel": "ID",
    "delete": "ID",
    "rebuild": "",
    "score": (
        "--model M --in FILE --out FILE [--preset {natural,lm-eval,minicons,pll,seq2seq,decoder}] [--bos "
        "{auto,always,never}] [--dtype D] [--device D] [--tokens] [--words {auto,blanks,characters}] "
        "[--truncate {error,left}] [--token-budget N]"
    ),
    "glassbox": "ACTION ...",
    "glassbox corpus": "[--plant FILE] [--name NAME]",
    "glassbox train": "[--plant FILE] [--name NAME] [--epochs N] [--seed SEED] [--device {,cpu,cuda}] SIZE",
    **{f"run {name}": A_STUDY for name in STUDIES},
}


def usage(capsys, command: str) -> str:
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--help"])
    assert end.value.code == 0
    shown, _, _ = capsys.readouterr().out.partition("\n\n")
    return " ".join(shown.split())


@pytest.mark.parametrize("command", USAGE)
def test_no_flag_of_a_command_is_lost(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "10000")
    assert usage(capsys, command) == f"usage: python -m explorer {command} {EVERY} {USAGE[command]}".rstrip()


def test_no_command_is_lost(capsys):
    assert {command.split()[0] for command in USAGE} <= set(COMMANDS)
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {command.summary}" in listed for name, command in COMMANDS.items())


def test_the_studies_are_listed_with_their_questions(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    listed = " ".join(capsys.readouterr().out.split())
    assert list(QUESTIONS) == list(STUDIES)
    assert all(f"{name} {question}" in listed for name, question in QUESTIONS.items())


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("run accuracy --benchmark b --set a=1 --set c=-2", "set", ["a=1", "c=-2"]),
        ("run accuracy --benchmark b --suite x --suite y", "suite", ["x", "y"]),
        ("run accuracy --benchmark b --seed -1", "seed", -1),
        ("run accuracy --bench b --lim 3", "limit", 3),
        ("precompute plan --study a --study b", "study", ["a", "b"]),
        ("import t.csv --name n --column good=a --column bad=b", "column", ["good=a", "bad=b"]),
        ("import t.csv --name n --formula (1) --formula (2)", "formula", ["(1)", "(2)"]),
        ("perturb --in - --out - --veto a --veto b", "veto", ["a", "b"]),
        ("index build --in a b --out c", "inputs", ["a", "b"]),
    ],
)
def test_flags_repeat_shorten_and_take_numbers_below_zero(line, name, value):
    assert getattr(parser_for(line.split()).parse_args(line.split()), name) == value
