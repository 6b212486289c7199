"""An imported table's language: said, in a column, or unknown; never guessed in silence."""

import json

import pytest

from explorer import __main__ as command
from explorer import benchmarks
from explorer.benchmarks.tables import table
from explorer.errors import UsageError
from explorer.variants import language

GERMAN = [("Der Mann hat einen Hund.", "Der Mann haben einen Hund."), ("Die Kinder spielen.", "Die Kinder spielt.")]


def write(folder, header, rows, name="pairs.csv"):
    path = folder / name
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]), "utf-8")
    return path


def kept(path, settings, **said):
    table.store_import(path, "mine", settings, table.guess_reading(path, **said))
    return benchmarks.find("imported_mine", settings), benchmarks.load("imported_mine", settings)


def test_nothing_said_is_unknown_and_stays_so(tmp_path, settings):
    benchmark, loaded = kept(write(tmp_path, "good,bad", GERMAN), settings)
    assert benchmark.language == loaded.language == ""
    assert {one.language for one in loaded.instances} == {""}


def test_what_is_said_is_that_of_the_benchmark_and_of_each_instance(tmp_path, settings):
    benchmark, loaded = kept(write(tmp_path, "good,bad", GERMAN), settings, language="German")
    assert benchmark.language == loaded.language == "de"
    assert {one.language for one in loaded.instances} == {"de"}


@pytest.mark.parametrize("name", ["language", "lang", "Language Code"])
def test_a_column_says_it_for_all_rows(tmp_path, settings, name):
    path = write(tmp_path, f"good,bad,{name}", [(*pair, "de-DE") for pair in GERMAN])
    reading = table.guess_reading(path)
    assert reading.columns["language"] == name and reading.language == "de" and not reading.unused
    assert {one.language for one in kept(path, settings)[1].instances} == {"de"}


def test_rows_may_differ_and_an_empty_cell_is_unknown(tmp_path, settings):
    rows = [(*GERMAN[0], "de"), ("The dogs bark.", "The dogs barks.", "en"), ("Le chat dort.", "Le chat dorment.", "")]
    benchmark, loaded = kept(write(tmp_path, "good,bad,lang", rows), settings)
    assert benchmark.language == "mul"
    assert [one.language for one in loaded.instances] == ["de", "en", ""]


def test_programming_languages_are_no_languages(tmp_path):
    reading = table.guess_reading(write(tmp_path, "good,bad,language", [(*pair, "python") for pair in GERMAN]))
    assert reading.language == "" and reading.unused == ("language",)


def test_a_column_that_was_named_must_hold_languages(tmp_path):
    path = write(tmp_path, "good,bad,tongue", [(*pair, "spoken here") for pair in GERMAN])
    with pytest.raises(UsageError, match=r"'tongue' of pairs.csv holds 'spoken here', expected a language a row"):
        table.guess_reading(path, columns={"language": "tongue"})


def test_a_column_and_what_is_said_must_agree(tmp_path):
    path = write(tmp_path, "good,bad,lang", [(*pair, "de") for pair in GERMAN])
    assert table.guess_reading(path, language="de").language == "de"
    with pytest.raises(UsageError, match="says German, and the whole file was said to be French"):
        table.guess_reading(path, language="fr")


def test_every_kind_of_table_takes_a_column(tmp_path, settings):
    for number, (header, rows) in enumerate(
        [
            ("sentence,acceptable,item,lang", [("Er geht.", "1", "1", "de"), ("Er gehen.", "0", "1", "de")]),
            (
                "question,option1,option2,label,lang",
                [("Wer?", "Du", "Ich", "Du", "de"), ("Wo?", "Da", "Ab", "Da", "de")],
            ),
            ("sentence,rating,lang", [("Er geht.", "4.5", "de"), ("Er gehen.", "1.5", "de"), ("Wir.", "3.25", "de")]),
            ("item,condition,region,content,lang", [("1", "a", "1", "Er", "de"), ("1", "a", "2", "geht", "de")]),
        ]
    ):
        path = write(tmp_path, header, rows, f"t{number}.csv")
        said = {"kind": "suite", "formulas": ["((1;%a%) > (2;%a%))"]} if "region" in header else {}
        parsed = table.read_file(path, table.guess_reading(path, **said), "mine")
        assert {one.language for one in parsed.instances} == {"de"}, header


def test_causes_in_a_declared_language_ask_for_its_words(tmp_path):
    rows = [("I fell.", "I slept.", "I ran.", "cause", "0"), ("I left.", "I came.", "I ate.", "effect", "1")]
    path = write(tmp_path, "premise,choice1,choice2,question,label", rows)
    with pytest.raises(UsageError, match=r"joined by because and therefore; its language is German.*--connectors"):
        table.guess_reading(path, language="de", gold="0")
    assert table.guess_reading(path, language="en", gold="0").prompt == "copa"
    assert table.guess_reading(path, language="de", gold="0", connectors=("weil", "deshalb")).connectors


def test_the_command_tells_a_guess_as_one_and_keeps_what_is_said(tmp_path, settings, capsys):
    path = write(tmp_path, "good,bad", GERMAN)
    cache = ["--cache", str(settings.cache)]
    assert command.main(["import", *cache, str(path), "--name", "mine", "--dry-run"]) == 0
    assert (
        "language: unknown (1 of 2 instances looked at look German, which is a guess; if they are, say --language de)"
        in (capsys.readouterr().out)
    )
    assert command.main(["import", *cache, "--json", str(path), "--name", "mine", "--language", "de"]) == 0
    assert json.loads(capsys.readouterr().out)["language"] == "de"
    assert command.main(["benchmarks", *cache, "--json", "imported_mine"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["language"] == "de"


def test_a_look_is_at_most_instances(tmp_path, settings):
    _, loaded = kept(write(tmp_path, "good,bad", GERMAN), settings)
    assert language.look_at_language(loaded.instances).code == "de"
    assert language.look_at_language(loaded.instances[:0]).code == ""
    _, english = kept(write(tmp_path, "good,bad", [("The dogs bark.", "The dogs barks.")] * 3), settings)
    assert language.look_at_language(english.instances) == language.Look(
        "en", "3 of 3 instances looked at look English"
    )


def test_an_import_kept_before_languages_were_known_opens_as_unknown(tmp_path, settings):
    benchmark, _ = kept(write(tmp_path, "good,bad,lang", [(*pair, "de") for pair in GERMAN]), settings)
    manifest = benchmark.folder / table.MANIFEST
    stored = json.loads(manifest.read_text("utf-8"))
    del stored["reading"]["language"], stored["reading"]["columns"]["language"]
    manifest.write_text(json.dumps(stored), "utf-8")
    assert benchmarks.find("imported_mine", settings).language == ""
    assert {one.language for one in benchmarks.load("imported_mine", settings).instances} == {""}


def test_a_table_brings_the_words_of_its_sentences(tmp_path, settings):
    rows = [
        ("他是学生。", "他是学吃。", "他|是|学生|。", "他 是 学 吃 。", "zh"),
        ("我去。", "我去了去。", "", "", "zh"),
    ]
    path = write(tmp_path, "good,bad,good_words,bad_words,lang", rows)
    _, loaded = kept(path, settings)
    assert loaded.instances[0].extra["words"] == {"0": ["他", "是", "学生", "。"], "1": ["他", "是", "学", "吃", "。"]}
    assert "words" not in loaded.instances[1].extra


def test_words_that_are_not_those_of_the_sentence_leave_a_named_column_s_row_out(tmp_path):
    path = write(tmp_path, "good,bad,cut", [("a bc", "a b", "a|bc"), ("d e", "d f", "d|x")])
    parsed = table.read_file(path, table.guess_reading(path, columns={"good_words": "cut"}), "mine")
    assert len(parsed.instances) == 1 and parsed.instances[0].extra["words"] == {"0": ["a", "bc"]}
    assert (
        "cut: the given words do not make up the text: 'x' is not what stands at character 2"
        in parsed.left_out[0].reason
    )
    # Where nobody named it, a column that does not hold the words of all sentences is not used.
    other = write(tmp_path, "good,bad,good_words", [("a bc", "a b", "a|bc"), ("d e", "d f", "7")], "other.csv")
    assert table.guess_reading(other).unused == ("good_words",)


def test_ratings_take_words_as_a_list(tmp_path):
    rows = [{"sentence": "猫が寝た。", "rating": 4.5, "words": ["猫", "が", "寝た", "。"]},
            {"sentence": "猫を寝た。", "rating": 1.25, "words": ["猫", "を", "寝た", "。"]}]  # fmt: skip
    path = tmp_path / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    parsed = table.read_file(path, table.guess_reading(path, kind="rating"), "mine")
    assert [one.extra["words"]["0"][2] for one in parsed.instances] == ["寝た", "寝た"]
    assert [one.extra["rating"] for one in parsed.instances] == [4.5, 1.25]
