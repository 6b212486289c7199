import json
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.runs.folder import RunFolder

ONTOLOGY = "TOY:0000001;blue cup;3;0\nTOY:0000002;red cup;4;20\nTOY:0000003;plate;5;30\nTOY:0000004;mug;5;40\n"
PREDICTIONS = (
    'TOY:0000001;blue cup;3;0;TOY:0000002\r\nTOY:0000002;red cup;4;20;"TOY:0000002"\r\n'
    "TOY:0000003;plate;5;30;It is TOY:0000003.\r\nTOY:0000004;mug;5;40;sorry"
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "toy.csv").write_text(ONTOLOGY, encoding="utf-8")
    (tmp_path / "predictions.csv").write_text(PREDICTIONS, encoding="utf-8")
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def imported(files: Path, *more: str) -> list[object]:
    return [
        "import-predictions",
        files / "predictions.csv",
        "--ontology",
        files / "toy.csv",
        "--model-name",
        "m",
        *more,
    ]


def test_imported_predictions_are_analyzed_and_kept_as_a_run(files: Path, capsys):
    code, out, _ = call(capsys, *imported(files, "--json"))
    figures = json.loads(out)
    assert code == 0
    assert (figures["n"], figures["correct"], figures["accuracy"]) == (4, 2, 0.5)
    assert figures["outcomes"]["refusal"] == 1
    assert [bucket["n"] for bucket in figures["buckets"]] == [1, 1, 1, 1]
    folder = RunFolder.find(files / "cache" / "runs", figures["run_id"])
    assert folder.progress().status == "complete"
    assert folder.spec.model == "m" and folder.spec.benchmark == "toy"
    assert list(folder.read("generations")["verdict"]) == ["id", "id", "id", "refusal"]
    measures = folder.read("measures")
    assert measures[measures["measure"] == "correct"]["value"].tolist() == [0, 1, 1, 0]
    findings = folder.read("findings")
    shares = findings[(findings["finding"] == "accuracy") & (findings["grp"] == "overall")]
    assert dict(zip(shares["setting"], shares["value"], strict=True)) == {"as released": 0.25, "corrected": 0.5}


def test_as_released_figures_have_the_corrected_ones_beside_them(files: Path, capsys):
    _, out, _ = call(capsys, *imported(files, "--json", "--as-released"))
    figures = json.loads(out)
    assert (figures["correct"], figures["corrected"]["correct"]) == (1, 2)
    assert [bucket["n"] for bucket in figures["buckets"]] == [1, 0, 0, 0]


def test_the_same_import_finds_the_same_run_and_text_tells_the_figures(files: Path, capsys):
    first = json.loads(call(capsys, *imported(files, "--json"))[1])["run_id"]
    code, out, _ = call(capsys, *imported(files, "--as-released"))
    assert code == 0
    assert first in out
    assert "2 of 4" in out and "as released" in out and "corrected" in out


def test_bare_digits_count_where_the_prompt_ended_with_the_prefix(files: Path, capsys):
    (files / "predictions.csv").write_text("TOY:0000001;0000001\nTOY:0000002;0000001\n", encoding="utf-8")
    assert json.loads(call(capsys, *imported(files, "--json"))[1])["malformed"] == 2
    assert json.loads(call(capsys, *imported(files, "--json", "--after-prefix"))[1])["correct"] == 1


def test_without_the_ontology_the_files_own_labels_and_counts_serve(files: Path, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    (files / "predictions.csv").write_text("GO:0000001;cup;1;2;GO:0000001\n", encoding="utf-8")
    code, out, err = call(
        capsys, "import-predictions", files / "predictions.csv", "--ontology", "go", "--model-name", "m", "--json"
    )
    assert code == 0 and json.loads(out)["correct"] == 1
    assert "Going on with the labels and counts of predictions.csv" in err


def test_a_wrong_file_is_one_line_on_standard_error(files: Path, capsys):
    (files / "predictions.csv").write_text("nothing of the kind", encoding="utf-8")
    code, out, err = call(capsys, *imported(files, "--json"))
    assert (code, out) == (1, "")
    assert err.startswith("error: ") and err.count("\n") == 1


def test_prediction_invariance_prints_exactly_the_promised_keys(files: Path, capsys):
    answers = files / "answers.txt"
    answers.write_bytes(b"TOY:0000001\r\nit is TOY:0000001\r\nTOY:0000002\r\nTOY:0000002")
    code, out, _ = call(capsys, "prediction-invariance", answers, "--repeats", "2", "--json")
    assert code == 0
    assert json.loads(out) == {
        "raw": {"mean_pi": 0.5, "identical": 1, "n": 2},
        "parsed": {"mean_pi": 1.0, "identical": 2, "n": 2},
    }


def test_labels_add_accuracy_and_an_ontology_adds_buckets(files: Path, capsys):
    answers = files / "answers.txt"
    answers.write_text("TOY:0000001\n" * 7 + "TOY:0000002\n", encoding="utf-8")
    asked = ["prediction-invariance", answers, "--repeats", "2", "--labels", files / "toy.csv"]
    figures = json.loads(call(capsys, *asked, "--ontology", files / "toy.csv", "--json")[1])
    assert figures["accuracy"] == 2 / 8
    assert [bucket["mean_pi"] for bucket in figures["buckets"]] == [1, 1, 1, 0]
    assert "over buckets" in call(capsys, *asked, "--ontology", files / "toy.csv")[1]


def test_labels_of_another_ontology_are_refused(files: Path, capsys):
    (files / "answers.txt").write_text("TOY:0000001\n" * 8, encoding="utf-8")
    (files / "other.csv").write_text("CUP:0000001;cup;1;2\nCUP:0000002;mug;1;3\n", encoding="utf-8")
    asked = ["prediction-invariance", files / "answers.txt", "--repeats", "2", "--labels", files / "toy.csv"]
    code, out, err = call(capsys, *asked, "--ontology", files / "other.csv", "--json")
    assert (code, out) == (1, "")
    assert "None of the 4 ids of the labels is in other.csv" in err


def test_answers_that_only_refuse_can_be_compared(files: Path, capsys):
    (files / "answers.txt").write_text("I am sorry.\nUnfortunately not.\nred\nblue\n", encoding="utf-8")
    code, out, _ = call(capsys, "prediction-invariance", files / "answers.txt", "--repeats", "2", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["raw"]["identical"], found["parsed"]["identical"]) == (0, 1)


def test_a_remainder_of_answers_is_an_error(files: Path, capsys):
    (files / "answers.txt").write_text("TOY:0000001\n" * 5, encoding="utf-8")
    code, out, err = call(capsys, "prediction-invariance", files / "answers.txt", "--repeats", "2", "--json")
    assert (code, out) == (1, "")
    assert "no multiple of 2" in err
    assert call(capsys, "prediction-invariance", files / "toy.csv", "--repeats", "2", "--ontology", "go")[0] == 1


def test_a_dry_run_says_what_an_endpoint_will_be_asked_and_starts_nothing(files: Path, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRICE_IN", "1000")
    asked = ["run", "ontology", "--model", "http://127.0.0.1:9/v1#m", "--benchmark", files / "toy.csv", "--dry-run"]
    code, out, _ = call(capsys, *asked)
    assert code == 0
    assert "ontology of 4 instances" in out
    assert "At most 4 requests to 127.0.0.1:9: about " in out and " at the prices given." in out
    found = json.loads(call(capsys, *asked, "--json")[1])
    assert (found["instances"], found["requests"], found["new_tokens"]) == (4, 4, 40)
    assert found["cost"] == pytest.approx(found["prompt_tokens"] / 1000)
    assert not (files / "cache" / "runs").exists()
    local = [*asked[:3], "gemma-3-270m", *asked[4:]]
    assert "requests" not in json.loads(call(capsys, *local, "--json")[1])


def test_a_dry_run_says_where_the_requests_to_an_endpoint_cannot_be_told(files: Path, capsys):
    asked = ["run", "popularity", "--model", "http://127.0.0.1:9/v1#m", "--benchmark", "starter_pairs", "--dry-run"]
    code, out, _ = call(capsys, *asked)
    assert code == 0 and "How much the study popularity asks of 127.0.0.1:9 depends on what it finds" in out
    assert "asks of" not in call(capsys, *asked[:3], "gemma-3-270m", *asked[4:])[1]


def test_a_price_below_a_hundredth_is_not_nothing(files: Path, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRICE_IN", "0.01")
    asked = ["run", "ontology", "--model", "http://127.0.0.1:9/v1#m", "--benchmark", files / "toy.csv", "--dry-run"]
    assert call(capsys, *asked)[1].endswith(", less than 0.01 at the prices given.\n")


@pytest.mark.parametrize("name", ["", "  "])
def test_predictions_of_a_model_without_a_name_are_refused(files: Path, capsys, name):
    code, _, err = call(capsys, *imported(files, "--model-name", name))
    assert code == 1 and "--model-name is empty" in err
    assert not list((files / "cache").rglob("spec.json"))


def test_rows_that_repeat_an_id_are_told(files: Path, capsys):
    with (files / "predictions.csv").open("a", encoding="utf-8") as file:
        file.write("\r\nTOY:0000002;red cup;4;20;TOY:0000004")
    code, out, err = call(capsys, *imported(files, "--json"))
    assert code == 0 and json.loads(out)["n"] == 5
    assert "1 of the rows of predictions.csv repeat an id above" in err
