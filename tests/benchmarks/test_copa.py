"""COPA's two loaders and what is odd in its files."""

import json
from collections import Counter

import pytest

from explorer.benchmarks import copa
from explorer.errors import BenchmarkError

DOCTYPE = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE copa-corpus SYSTEM "http://192.0.2.1/copa.dtd">\n'
ITEM = """<item id="{id}" asks-for="{question}" most-plausible-alternative="{answer}">
<p>The lamp went out.</p><a1> The bulb broke.</a1><a2>The bulb was new.</a2></item>"""


def parse(tmp_path, *items, gold="", top=DOCTYPE):
    body = "".join(
        ITEM.format(**{"id": 1, "question": "cause", "answer": 1, **fields}) if isinstance(fields, dict) else fields
        for fields in items
    )
    (tmp_path / "dev.xml").write_text(f'{top}<copa-corpus version="1.0">{body}</copa-corpus>', "utf-8")
    (tmp_path / "gold").write_text(gold, "utf-8")
    paths = {"copa/copa-dev.xml": tmp_path / "dev.xml", "copa/gold.dev": tmp_path / "gold"}
    return copa.load_xml(paths, ["dev"]).instances


def test_an_item_becomes_a_choice_and_the_external_dtd_is_not_fetched(tmp_path):
    # 192.0.2.1 answers nobody: a parser that fetched the DTD would hang here.
    (instance,) = parse(tmp_path, {"id": 12, "answer": 2}, gold="12 0 1\n")
    assert instance.id == "copa/cause/12"
    assert (instance.context, instance.options) == ("The lamp went out.", (" The bulb broke.", "The bulb was new."))
    assert (instance.gold, instance.label, instance.extra["question"]) == (1, "2", "cause")


def test_entities_of_a_dtd_are_not_expanded_from_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    top = f'<?xml version="1.0"?>\n<!DOCTYPE copa-corpus [<!ENTITY x SYSTEM "file://{secret}">]>\n'
    item = ITEM.format(id=1, question="cause", answer=1).replace("The lamp went out.", "&x;")
    with pytest.raises(BenchmarkError):
        parse(tmp_path, item, gold="1 1 0\n", top=top)


def test_answers_that_disagree_with_the_gold_file_are_told(tmp_path):
    with pytest.raises(BenchmarkError, match="other items or answers"):
        parse(tmp_path, {"answer": 1}, gold="1 0 1\n")


@pytest.mark.parametrize(
    "item",
    [
        {"question": "reason"},
        {"answer": 3},
        "<item id='1'/>",
        "<item id='1' asks-for='cause' most-plausible-alternative='1'><p>x</p></item>",
        "<item",
    ],
)
def test_a_damaged_item_is_told(tmp_path, item):
    with pytest.raises(BenchmarkError, match=r"dev\.xml"):
        parse(tmp_path, item, gold="1 1 0\n")


def test_superglue_rows_have_their_index_as_key(tmp_path):
    path = tmp_path / "val.jsonl"
    row = {"premise": "It rained.", "choice1": "A", "choice2": "B", "question": "effect", "label": 1, "idx": 9}
    path.write_text(json.dumps(row) + "\n", "utf-8")
    (instance,) = copa.load_superglue({copa.SUPERGLUE: path}, ["validation"]).instances
    assert (instance.id, instance.gold, instance.label) == ("copa_superglue/effect/9", 1, "1")
    path.write_text(json.dumps({**row, "label": 2}) + "\n", "utf-8")
    with pytest.raises(BenchmarkError, match="line 1"):
        copa.load_superglue({copa.SUPERGLUE: path}, ["validation"])


# --- the real files


def test_ids_run_from_1_to_1000_over_both_splits(real):
    keys = [(i.split, int(i.id.rpartition("/")[2])) for i in real("copa").instances]
    assert keys == [("dev", n) for n in range(1, 501)] + [("test", n) for n in range(501, 1001)]


def test_two_fields_an_edition_have_blanks_at_their_edges(real):
    edged = Counter(i.split for i in real("copa").instances for t in (i.context, *i.options) if t != t.strip())
    assert edged == {"dev": 2, "test": 2}


def test_the_superglue_form_holds_items_of_the_development_set(real):
    original = {i.context.strip(): i for i in real("copa").instances if i.split == "dev"}
    for instance in real("copa_superglue").instances:
        assert original[instance.context].gold == instance.gold
        assert original[instance.context].group == instance.group
