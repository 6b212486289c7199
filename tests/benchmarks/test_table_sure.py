"""What an import may take for sure, and what it has to ask: gold, kinds, headers, gaps, and imports made before."""

import csv
import io
import json

import pytest

from explorer import benchmarks, gaps, prompts
from explorer.benchmarks.tables import preview as table_preview
from explorer.benchmarks.tables import table
from explorer.benchmarks.tables.questions import Question
from explorer.errors import ExplorerError, UsageError

QUESTION = "question,option1,option2,answer\n"


def parse(tmp_path, text, name="mine.csv", **said):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    reading = table.guess_reading(path, **said)
    return reading, table.read_file(path, reading, "mine")


def golds(parsed):
    return [instance.gold for instance in parsed.instances]


# --- which option is right


@pytest.mark.parametrize("column", ["answer", "label", "answer_idx", "gold", "correct"])
@pytest.mark.parametrize("kind", ["two options", "four options"])
def test_ones_alone_are_asked_and_never_turned_round(tmp_path, column, kind):
    many = 2 if kind == "two options" else 4
    heads = ",".join(f"option{n}" for n in range(1, many + 1))
    row = ",".join(f"text {n}" for n in range(1, many + 1))
    text = f"question,{heads},{column}\n" + f"What is it?,{row},1\n" * 3
    with pytest.raises(Question) as raised:
        parse(tmp_path, text)
    assert raised.value.asks == "gold"
    assert golds(parse(tmp_path, text, gold="1")[1]) == [0, 0, 0]
    assert golds(parse(tmp_path, text, gold="0")[1]) == [1, 1, 1]


@pytest.mark.parametrize(
    "answers, way, right",
    [
        ("0 1", "0", [0, 1]),
        ("0 0", "0", [0, 0]),
        ("1 2", "1", [0, 1]),
        ("2 2", "1", [1, 1]),
        ("1.0 0.0", "0", [1, 0]),
        ("A b", "letter", [0, 1]),
        ("(B) (A)", "letter", [1, 0]),
        ("B. A.", "letter", [1, 0]),
        ("red blue", "text", [0, 1]),
    ],
)
def test_a_value_that_one_way_cannot_mean_settles_how_options_are_counted(tmp_path, answers, way, right):
    rows = "".join(f"Which?,red,blue,{answer}\n" for answer in answers.split(" "))
    reading, parsed = parse(tmp_path, QUESTION + rows)
    assert (reading.gold, golds(parsed)) == (way, right)
    assert reading.why["gold"]


def test_zero_and_the_number_of_options_together_are_asked(tmp_path):
    with pytest.raises(Question, match="answer is 0 in line 2 and 2, the last, in line 3"):
        parse(tmp_path, QUESTION + "Which?,red,blue,0\nWhich?,red,blue,2\n")


def test_a_file_beside_with_the_same_columns_settles_it(tmp_path):
    ones = QUESTION + "Which?,red,blue,1\n" * 3
    (tmp_path / "train.csv").write_text(QUESTION + "Which?,red,blue,2\nWhich?,red,blue,1\n")
    (tmp_path / "other.csv").write_text("text,label\na b c,0\n")
    reading, parsed = parse(tmp_path, ones, "dev.csv")
    assert golds(parsed) == [0, 0, 0]
    assert reading.why["gold"] == "answer is 2 in train.csv beside it"
    (tmp_path / "train.csv").write_text(QUESTION + "Which?,red,blue,0\n")
    assert golds(parse(tmp_path, ones, "dev.csv")[1]) == [1, 1, 1]


def test_the_columns_of_a_published_table_settle_it_and_are_named(tmp_path):
    text = "sentence,option1,option2,answer\nThe _ fell.,cup,jar,1\nA _ broke.,lamp,bulb,1\n"
    reading, parsed = parse(tmp_path, text)
    assert golds(parsed) == [0, 0]
    assert reading.why["gold"] == "the columns are those of WinoGrande, which counts from 1"
    with pytest.raises(Question):  # COPA counts from 1, its edition in SuperGLUE from 0
        parse(tmp_path, "premise,choice1,choice2,question,label\nThe man fell.,He slipped.,He sang.,cause,1\n")


def test_options_that_are_numbers_are_taken_by_their_text_only_where_nothing_speaks_against_it(tmp_path):
    assert parse(tmp_path, "question,option1,option2,answer\n2+2?,3,4,4\n3+3?,6,7,6\n")[0].gold == "text"
    with pytest.raises(Question) as raised:
        parse(tmp_path, "question,option1,option2,answer\n2-1?,1,2,1\n3-1?,2,1,2\n")
    assert {"text", "1"} <= {answer.value for answer in raised.value.answers}


@pytest.mark.parametrize("mark", ["-1", "", "?", "NaN", "nan", "null", "-1.0", "-"])
def test_unlabeled_rows_are_left_out_and_counted(tmp_path, mark):
    _, parsed = parse(tmp_path, QUESTION + f"Which?,red,blue,0\nWhich?,red,blue,{mark}\nWhich?,red,blue,1\n")
    assert golds(parsed) == [0, 1]
    assert table_preview.left_out(parsed) == {"unlabeled": 1}
    _, parsed = parse(tmp_path, f"text,label\nA fine film.,good\nA bad film.,{mark}\nA bad film.,bad\n")
    assert {instance.options for instance in parsed.instances} == {("bad", "good")}
    assert table_preview.left_out(parsed) == {"unlabeled": 1}


def test_a_null_in_json_is_unlabeled(tmp_path):
    rows = [{"question": "Q?", "choices": ["a", "b"], "label": one} for one in (0, None, 1, float("nan"))]
    _, parsed = parse(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "mine.jsonl")
    assert golds(parsed) == [0, 1] and len(parsed.left_out) == 2


def test_a_table_without_any_label_asks_for_them(tmp_path):
    with pytest.raises(Question, match=r"No row says which option is right.*--labels"):
        parse(tmp_path, QUESTION + "Which?,red,blue,-1\nWhich?,red,blue,?\n")


# --- what a table holds

ASKED = {
    "unlabeled pairs": "sent_a,sent_b\nThe cat sleeps.,The cat sleep.\nThe dog barks.,The dog bark.\n",
    "two sentences": "sentence1,sentence2\nThe cat sleeps.,The cat sleep.\nThe dog barks.,The dog bark.\n",
    "pairs without a header": "The cat sleeps.,The cat sleep.\nThe dog barks.,The dog bark.\n",
    "a corpus": "text\nThe cat sleeps.\nThe dog barks loudly.\nNobody came.\n",
    "questions and answers": "question,answer\nWhat is it?,Paris\nWho is it?,Rome\nWhy is it?,Because\n",
    "numbers as labels": "sentence,label\nThe cat sleeps.,6.5\nThe dog bark.,2.25\nThe dog barks.,6.1\n",
    "which of two": "sentence1,sentence2,label\nThe cat sleeps.,The cat sleep.,1\nThe dog bark.,The dog barks.,2\n",
    "sentences by turns": "sentence\nThe cat sleeps.\nThe cat sleep.\nA dog barks.\nA dog bark.\n",
    "terms": "id\tlabel\n0006600\tcreatine metabolic process\n0006601\tcreatine biosynthetic process\n",
    "options of an unnamed text": "zzz,option1,option2,answer\nThe sun is in the,sky,sea,0\nA cat has soft,fur,tar,1\n",
    "ratings of two texts": "sentence1,sentence2,score\nA man sleeps.,A man rests.,4.5\nA dog eats.,A cat ran.,0.5\n",
}


@pytest.mark.parametrize("name", ASKED)
def test_where_no_rule_is_sure_nothing_is_read(tmp_path, name):
    with pytest.raises(UsageError, match=r"--\w+|explorer run ontology"):
        parse(tmp_path, ASKED[name])


def test_options_in_columns_of_letters_are_a_choice(tmp_path):
    reading, parsed = parse(tmp_path, "question,A,B,C,D,answer\nWhat barks?,cat,dog,cow,hen,B\nWho?,a,b,c,d,D\n")
    assert reading.kind == "choice" and reading.unused == ()
    assert parsed.instances[0].options == ("cat", "dog", "cow", "hen") and golds(parsed) == [1, 3]


@pytest.mark.parametrize("name", ["passage", "context", "article", "story", "support"])
def test_a_passage_keeps_its_question(tmp_path, name):
    text = f'{name},question,options,answer\nAnn has a dog.,What is it?,"[""cat"", ""dog""]",1\n'
    text += 'Tom ran.,Who is it?,"[""Tom"", ""Ann""]",0\n'
    reading, parsed = parse(tmp_path, text)
    assert parsed.instances[0].context == "Ann has a dog.\nWhat is it?"
    assert reading.unused == ()


def test_causes_and_effects_are_joined_by_their_connectors(tmp_path):
    heads = "premise,choice1,choice2,question,label\n"
    text = f"{heads}The cup fell.,It broke.,It sang.,effect,0\nI ran.,x y.,A dog came.,cause,1\n"
    reading, parsed = parse(tmp_path, text)
    assert reading.prompt == "copa" and reading.unused == ()
    asked = [prompts.requests(instance)[instance.gold] for instance in parsed.instances]
    assert [(one.context, one.continuation) for one in asked] == [
        ("The cup fell therefore", " it broke."),
        ("I ran because", " a dog came."),
    ]


def test_one_column_has_one_role(tmp_path):
    for columns in ({"good": "good", "bad": "good"}, {"good": "good", "id": "good"}):
        with pytest.raises(UsageError, match="The column 'good' cannot be both"):
            parse(tmp_path, "good,bad\na b,b a\n", kind="pair", columns=columns)


def test_columns_that_are_not_used_are_named_before_it_is_kept(tmp_path):
    reading, parsed = parse(tmp_path, "good,bad,author,year\nIt is.,It are.,Ann,1999\n")
    assert reading.unused == ("author", "year")
    lines = table_preview.preview_lines(reading, parsed)
    assert "columns not used: author, year" in lines
    assert any(">>It is." in line and "right" in line for line in lines)


def test_rows_of_other_splits_and_empty_rows_are_counted(tmp_path):
    pair = {"good": "It is.", "bad": "It are."}
    text = json.dumps({"train": [pair, pair], "test": [pair]})
    _, parsed = parse(tmp_path, text, "mine.json")
    assert len(parsed.instances) == 2 and table_preview.left_out(parsed) == {"of another split": 1}
    assert len(parse(tmp_path, text, "mine.json", split="test")[1].instances) == 1
    with pytest.raises(UsageError, match="no list 'dev'; it has train, test"):
        parse(tmp_path, text, "mine.json", split="dev")
    _, parsed = parse(tmp_path, "good,bad\n\nIt is.,It are.\n,\n\nWe are.,We is.\n\n\n")
    assert table_preview.left_out(parsed) == {"an empty row": 3}


def test_items_of_several_sentences_each_are_paired_only_where_it_is_said(tmp_path):
    text = "item,sentence,acceptable\n"
    text += "1,A b.,1\n1,A c.,0\n1,A d.,0\n2,E f.,1\n2,E g.,1\n2,E h.,0\n2,E i.,0\n3,J k.,1\n"
    _, parsed = parse(tmp_path, text)
    assert [instance.options for instance in parsed.instances] == [("A b.", "A c."), ("A b.", "A d.")]
    reasons = [left.reason for left in parsed.left_out]
    assert reasons[0].startswith("item 2 has 2 acceptable and 2 unacceptable sentences") and len(reasons) == 5
    assert reasons[-1] == "item 3 has no unacceptable sentence beside this one"


@pytest.mark.parametrize(
    "words",
    ["1 0", "True False", "ok *", "good bad", "acceptable unacceptable", "yes no", "correct incorrect", "TRUE FALSE"],
)
def test_the_usual_words_for_acceptable_are_known(tmp_path, words):
    good, bad = words.split()
    _, parsed = parse(tmp_path, f"item,sentence,judgment\n1,A b.,{bad}\n1,A c.,{good}\n2,D e.,{good}\n2,D f.,{bad}\n")
    assert [instance.options[0] for instance in parsed.instances] == ["A c.", "D e."]


def test_words_that_are_not_known_are_asked(tmp_path):
    text = "item,sentence,judgment\n1,A b.,nee\n1,A c.,ja\n"
    with pytest.raises(Question) as raised:
        parse(tmp_path, text)
    assert raised.value.asks == "acceptable"
    assert parse(tmp_path, text, acceptable="ja")[1].instances[0].options == ("A c.", "A b.")


# --- options in many columns, in objects, and inside the question


@pytest.mark.parametrize("stem", ["option", "choice_", "option_", "Answer ", "ending"])
def test_ten_options_are_all_read_in_the_order_of_their_numbers(tmp_path, stem):
    numbers = [1, 10, 2, 3, 4, 5, 6, 7, 8, 9, 12, 11]
    heads = ",".join(f"{stem}{n}" for n in numbers)
    text = f"question,{heads},gold\nWhich?,{','.join(f'o{n}' for n in numbers)},"
    _, parsed = parse(tmp_path, text + "12\n" + text.splitlines()[1] + "2\n")
    assert parsed.instances[0].options == tuple(f"o{n}" for n in range(1, 13))
    assert golds(parsed) == [11, 1]
    with pytest.raises(Question) as raised:
        parse(tmp_path, text + "2\n" + text.splitlines()[1] + "9\n")
    assert raised.value.asks == "gold"


def test_twelve_options_in_columns_of_letters_are_all_read(tmp_path):
    letters = "ABCDEFGHIJKL"
    text = f"question,{','.join(letters)},answer\nWhich?,{','.join('o' + one for one in letters)},L\n"
    _, parsed = parse(tmp_path, text)
    assert parsed.instances[0].options == tuple("o" + one for one in letters) and golds(parsed) == [11]


@pytest.mark.parametrize("name", ["options", "choices", "answers"])
@pytest.mark.parametrize("keys", ["ABCD", "abcd", "1234"])
def test_options_in_an_object_are_a_choice_with_gold_by_key_or_text(tmp_path, name, keys):
    fruit = ("a plum", "a pear", "a fig", "a lime")
    turned = dict(reversed(list(zip(keys, fruit, strict=True))))
    rows = [
        {"question": "What is sour?", name: turned, "answer_idx": keys[3]},
        {"question": "What is blue?", name: dict(zip(keys, fruit, strict=True)), "answer_idx": keys[0]},
    ]
    _, parsed = parse(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "mine.jsonl")
    assert parsed.instances[0].options == fruit and golds(parsed) == [3, 0]
    rows = [{**row, "answer": row[name][row["answer_idx"]]} for row in rows]
    reading, parsed = parse(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "mine.jsonl")
    assert reading.gold == "text" and golds(parsed) == [3, 0]


@pytest.mark.parametrize(
    "texts",
    [
        ("Which is sour? (A) a plum (B) a lime", "Which is blue? (A) a plum (B) a lime"),
        ("Which is sour? A) a plum B) a lime", "Which is blue? A) a plum B) a lime"),
        ("Which is sour? A. a plum B. a lime", "Which is blue? A. a plum B. a lime"),
        ("Which is sour? (1) a plum (2) a lime", "Which is blue? (1) a plum (2) a lime"),
    ],
)
@pytest.mark.parametrize("column", ["AnswerKey", "answer", "label", "class"])
def test_options_inside_the_question_are_refused_and_their_letters_are_no_classes(tmp_path, texts, column):
    letters = "12" if "(1)" in texts[0] else "BA"
    text = f"id,question,{column},category\n"
    text += "".join(f"{n},{texts[n % 2]},{letters[n % 2]},Train\n" for n in range(6))
    with pytest.raises(UsageError, match=rf"options inside the text of question.*the right one in {column}"):
        parse(tmp_path, text)


def test_options_inside_the_question_are_refused_where_the_right_one_stands_by_its_text(tmp_path):
    text = (
        "question,answer\n" + "What is sour? A) a plum B) a lime,a lime\n" * 3 + "Or blue? A) a plum B) a fig,a plum\n"
    )
    with pytest.raises(UsageError, match="options inside the text of question"):
        parse(tmp_path, text)


@pytest.mark.parametrize("heads", ["option_b,option_c,option_d", "option1,option2,option4", "option2,option3,option4"])
@pytest.mark.parametrize("kind", [None, "choice"])
def test_options_of_which_some_are_left_out_are_not_counted_by_their_place(tmp_path, heads, kind):
    text = f"question,{heads},answer\nWhich is sour?,plum,lime,fig,C\nWhich is blue?,plum,lime,fig,B\n"
    with pytest.raises(UsageError, match=r"left out.*--column option1=COLUMN"):
        parse(tmp_path, text, kind=kind)
    columns = {f"option{n}": head for n, head in enumerate(heads.split(","), 1)}
    assert golds(parse(tmp_path, text, kind=kind, columns=columns)[1]) == [2, 1]


# --- what is no set of classes


def test_one_class_alone_is_asked(tmp_path):
    with pytest.raises(Question, match="one class only, 'fine'") as raised:
        parse(tmp_path, "text,label\n" + "A film I saw.,fine\n" * 5)
    assert raised.value.asks == "kind"


@pytest.mark.parametrize("name", ["label", "class", "answer", "target"])
def test_labels_that_do_not_come_again_are_no_classes(tmp_path, name):
    rows = "".join(f"A text of number {n}.,a word{n} here\n" for n in range(8))
    with pytest.raises(Question):
        parse(tmp_path, f"text,{name}\n{rows}")
    rows = "".join(f"A text of number {n}.,word{n % 3}\n" for n in range(8))
    reading, parsed = parse(tmp_path, f"text,{name}\n{rows}")
    assert reading.kind == "labelled" and parsed.instances[0].options == ("word0", "word1", "word2")


@pytest.mark.parametrize("mark", ["target.span1_text", "target_span1_text", "span1_text"])
def test_schemas_with_two_spans_are_refused_however_they_are_nested(tmp_path, mark):
    other = mark.replace("1", "2")
    row = {"text": "Ann saw Eve as she left.", "label": True}
    nested = {"target": {"span1_text": "Ann", "span2_text": "she"}} if "." in mark else {mark: "Ann", other: "she"}
    text = "".join(json.dumps({**row, **nested, "label": label}) + "\n" for label in (True, False))
    with pytest.raises(UsageError, match="two spans"):
        parse(tmp_path, text, "val.jsonl")


GLUE = "sentence,label,idx\nThe boat sank.,1,0\nSank boat the.,0,1\nWe all left.,1,2\n"


def test_a_sentence_with_a_label_of_0_or_1_is_asked_unless_the_file_is_called_by_its_task(tmp_path):
    for heads in ("sentence,label,idx", "idx,sentence,label"):
        with pytest.raises(Question, match=r"CoLA.*SST-2") as raised:
            parse(tmp_path, _turned(GLUE, heads), "chocolate.csv")
        assert raised.value.asks == "kind"
    for said in ({"name": "cola_dev.csv"}, {"kind": "rating"}):
        reading, parsed = parse(tmp_path, GLUE, **said)
        assert reading.kind == "rating" and [one.extra["rating"] for one in parsed.instances] == [1, 0, 1]
    for said in ({"name": "SST-2.csv"}, {"kind": "labelled"}):
        reading, parsed = parse(tmp_path, GLUE, **said)
        assert reading.kind == "labelled" and parsed.instances[0].options == ("0", "1")


def _turned(text, heads):
    rows = [
        dict(zip(text.split("\n")[0].split(","), line.split(","), strict=True)) for line in text.strip().split("\n")
    ]
    return "".join(",".join(row[head] for head in heads.split(",")) + "\n" for row in rows)


@pytest.mark.parametrize("column", ["label", "judgment", "condition", "class"])
@pytest.mark.parametrize("marks", ["12", "GU", "xy"])
def test_items_with_one_sentence_of_each_mark_ask_which_is_acceptable(tmp_path, column, marks):
    text = f"item,sentence,{column}\n"
    for n, (good, bad) in enumerate([("We all left.", "We all leaves."), ("She runs.", "She run.")]):
        text += f"{n},{good},{marks[0]}\n{n},{bad},{marks[1]}\n"
    with pytest.raises(Question) as raised:
        parse(tmp_path, text)
    assert raised.value.asks == "acceptable"
    _, parsed = parse(tmp_path, text, acceptable=marks[0])
    assert parsed.instances[1].options == ("She runs.", "She run.")


def test_an_item_may_have_several_sentences_of_one_mark(tmp_path):
    text = "item,sentence,label\n1,We left.,1\n1,We leaves.,2\n1,We leave.,1\n2,She ran.,1\n2,She run.,2\n"
    with pytest.raises(Question) as raised:
        parse(tmp_path, text)
    assert raised.value.asks == "acceptable"


@pytest.mark.parametrize("gap", ["____", "_", "[MASK]"])
def test_good_and_bad_words_fill_the_gap_of_their_frame(tmp_path, gap):
    _, parsed = parse(tmp_path, f"sentence,good,bad\nThe boy {gap} well.,sings,sing\nThe girls {gap} far.,run,runs\n")
    assert prompts.option_texts(parsed.instances[0]) == ("The boy sings well.", "The boy sing well.")
    assert golds(parsed) == [0, 0]


@pytest.mark.parametrize("end", ["", ".", " ?"])
def test_a_frame_that_ends_with_its_gap_is_not_scored_by_its_full_stop(tmp_path, end):
    text = f"sentence,good,bad\nThe boy ____{end},sings,sing\nThe girls ____ far.,run,runs\n"
    _, parsed = parse(tmp_path, text)
    asked = [[(one.context, one.continuation) for one in prompts.requests(item)] for item in parsed.instances]
    assert asked[0] == [("The boy", f" sings{end}"), ("The boy", f" sing{end}")]
    assert asked[1] == [("The girls run", " far."), ("The girls runs", " far.")]
    with pytest.raises(UsageError, match="gap"):
        parse(tmp_path, text, kind="pair", columns={"context": "sentence"})


@pytest.mark.parametrize("column", ["target", "answer", "word", "label"])
@pytest.mark.parametrize("many", [2, 8])
def test_a_gap_without_options_is_neither_a_last_word_nor_a_class(tmp_path, column, many):
    rows = "".join(f"The boy ____ well on day {n}.,{('sings', 'runs')[n % 2]}\n" for n in range(many))
    with pytest.raises(UsageError, match="gap" if column != "answer" or many > 2 else "--kind"):
        parse(tmp_path, f"sentence,{column}\n{rows}")
    with pytest.raises(UsageError, match="gap"):
        parse(tmp_path, f"sentence,{column}\n{rows}", kind="cloze", columns={"text": "sentence", "target": column})


# --- headers

PAIR = "The cat sleeps.{0}The cat sleep.\nThe dog barks.{0}The dog bark.\n"
HEADED = {
    "brackets": "sentence (good),sentence (bad),score (0-1)\n"
    "The cat sleeps.,The cat sleep.,1\nA dog barks.,A dog bark.,0\n",
    "equals": "good,bad,x == y\nThe cat sleeps.,The cat sleep.,1\nA dog barks.,A dog bark.,0\n",
    "a line for Excel": "sep=;\ngood;bad\n" + PAIR.format(";"),
    "a quoted line for Excel": '"sep=;"\r\ngood;bad\r\n' + PAIR.format(";"),
    "a hash": "#good\tbad\n" + PAIR.format("\t"),
    "comments": "# made by us\n# 2020, version 1\ngood,bad\n" + PAIR.format(","),
    "quotes": '"good","bad"\n' + PAIR.format(","),
    "a mark and empty lines": "\ufeff\n\n\ngood,bad\n" + PAIR.format(","),
    "no other column": "good,bad\n" + PAIR.format(","),
    "a question mark": "good?,bad?\n" + PAIR.format(","),
}


@pytest.mark.parametrize("name", HEADED)
def test_a_header_is_not_lost(tmp_path, name):
    reading, parsed = parse(tmp_path, HEADED[name], "mine.csv" if name != "a hash" else "mine.tsv")
    assert reading.header and reading.kind == "pair"
    assert parsed.instances[0].options == ("The cat sleeps.", "The cat sleep.")
    assert len(parsed.instances) == 2


@pytest.mark.parametrize(
    "text",
    [
        PAIR.format(","),
        "the cat sleeps,the cat sleep\nthe dog barks,the dog bark\n",
        "True,the cat sleeps\nFalse,the cat sleep\nTrue,a dog barks\nFalse,a dog bark\n",
        "good,The cat sleeps.\nbad,The cat sleep.\ngood,A dog barks.\nbad,A dog bark.\n",
    ],
)
def test_the_first_pair_is_not_taken_for_a_header(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    assert table.column_names(path) == ("column 1", "column 2")


def test_columns_that_are_named_settle_whether_there_is_a_header(tmp_path):
    text = "sang,singed\nran,runned\n"
    _, parsed = parse(tmp_path, text, kind="pair", columns={"good": "column 1", "bad": "column 2"})
    assert parsed.instances[0].options == ("sang", "singed")
    _, parsed = parse(tmp_path, text, kind="pair", columns={"good": "sang", "bad": "singed"})
    assert parsed.instances[0].options == ("ran", "runned")


# --- gaps


@pytest.mark.parametrize("gap", ["_", "__", "____", "[MASK]", "<mask>", "[BLANK]"])
def test_a_gap_is_filled_whole(tmp_path, gap):
    text = f"sentence;option1;option2;answer\nThe {gap} fell down.;cup;jar;1\nA {gap}, then.;a b;c d;2\n"
    _, parsed = parse(tmp_path, text)
    asked = prompts.requests(parsed.instances[0])
    assert [(one.context, one.continuation) for one in asked] == [
        ("The cup", " fell down."),
        ("The jar", " fell down."),
    ]
    assert prompts.option_texts(parsed.instances[1]) == ("A a b, then.", "A c d, then.")


def test_a_row_without_a_gap_is_left_out_and_changes_no_other(tmp_path):
    rows = "The _ fell.,cup,jar,1\nNo gap here.,cup,jar,1\n"
    rows += "A _ and a _ fell.,cup,jar,2\nThe my_var is a _ name.,good,bad,2\n"
    reading, parsed = parse(tmp_path, "sentence,option1,option2,answer\n" + rows)
    assert reading.prompt == "winogrande" and len(parsed.instances) == 2
    assert [left.reason for left in parsed.left_out] == [
        "sentence has 0 gaps, expected one _",
        "sentence has 2 gaps, expected one _",
    ]
    assert prompts.requests(parsed.instances[1])[1].context == "The my_var is a bad"


def test_an_underscore_in_a_word_is_no_gap(tmp_path):
    assert gaps.find_gaps("my_var and __init__x") == []
    reading, _ = parse(tmp_path, "question,option1,option2,answer\nmy_var is,one,two,0\nthe snake_case is,a,b,1\n")
    assert reading.prompt == "choice"


# --- imports made before


def test_an_import_made_before_stays_as_it_was_read(bare):
    """Manifests of the first version know no rules: their labels, gaps and options are read as they were then."""
    tables = {
        "gaps": ("sentence,option1,option2,answer\nThe my_var fell.,cup,jar,1\nA _ broke.,lamp,bulb,2\n", "choice",
                 {"context": "sentence", "option1": "option1", "option2": "option2", "gold": "answer"}, "1",
                 "winogrande"),
        "classes": ("text,label\n\na b,-1\nc d,0\n,1\ne f,?\n", "labelled", {"text": "text", "label": "label"}, "",
                    "labelled"),
    }  # fmt: skip
    for name, (text, kind, columns, gold, prompt) in tables.items():
        folder = bare.imports / name
        folder.mkdir(parents=True)
        (folder / "table.csv").write_text(text)
        reading = {
            "format": "csv", "kind": kind, "columns": columns, "names": text.split("\n")[0].split(","),
            "encoding": "utf-8", "delimiter": ",", "quoting": True, "header": True, "gold": gold, "prompt": prompt,
        }  # fmt: skip
        manifest = {"version": 1, "title": name, "file": "table.csv", "reading": reading}
        (folder / table.MANIFEST).write_text(json.dumps(manifest))
    made = benchmarks.load("imported_gaps", bare).instances
    assert [instance.context for instance in made] == ["The my_var fell.", "A _ broke."]
    assert prompts.option_texts(made[0]) == ("The mycupvar fell.", "The myjarvar fell.")
    classes = benchmarks.load("imported_classes", bare).instances
    assert [(one.id.rpartition("/")[2], one.label, one.options) for one in classes] == [
        ("0", "-1", ("0", "1", "-1", "?")),
        ("1", "0", ("0", "1", "-1", "?")),
        ("3", "?", ("0", "1", "-1", "?")),
    ]


def test_every_refusal_is_a_sentence(tmp_path):
    for text in ASKED.values():
        with pytest.raises(ExplorerError) as raised:
            parse(tmp_path, text)
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 900


# --- options written into cells, and nested objects

QUESTIONS = (
    ("What melts in the sun?", ("ice", "stone", "iron"), 0), ("What do cows eat?", ("wood", "grass", "sand"), 1),
    ("Where do fish live?", ("water", "air", "fire"), 0), ("What is cold?", ("sun", "lava", "snow"), 2),
)  # fmt: skip
WRITTEN = {
    "a list": list,
    "a list of objects": lambda texts: [{"text": text, "label": mark} for mark, text in zip("ABC", texts, strict=True)],
    "an object of lists": lambda texts: {"text": list(texts), "label": list("ABC")},
    "an object with a letter each": lambda texts: dict(zip("ABC", texts, strict=True)),
    "an object of objects": lambda texts: {mark: {"text": text} for mark, text in zip("ABC", texts, strict=True)},
}


@pytest.mark.parametrize("write", [json.dumps, str], ids=["JSON", "Python"])
@pytest.mark.parametrize("name", ["choices", "given"])
@pytest.mark.parametrize("shape", WRITTEN)
def test_options_written_into_one_cell_are_read_whatever_their_column_is_called(tmp_path, shape, name, write):
    lines = io.StringIO()
    csv.writer(lines).writerows(
        [
            ("question", name, "answer"),
            *((q, write(WRITTEN[shape](texts)), "ABC"[gold]) for q, texts, gold in QUESTIONS),
        ]
    )
    _, parsed = parse(tmp_path, lines.getvalue())
    assert [(one.context, one.options, one.gold) for one in parsed.instances] == list(QUESTIONS)


@pytest.mark.parametrize("shape", WRITTEN)
@pytest.mark.parametrize(
    "nest",
    [
        lambda question, options: {"question": question, "options": options},
        lambda question, options: {"question": {"stem": question, "choices": options}},
        lambda question, options: {"data": {"question": {"stem": question, "choices": options}}},
    ],
    ids=["one level", "two levels", "three levels"],
)
def test_options_inside_nested_objects_are_read(tmp_path, shape, nest):
    rows = ({**nest(q, WRITTEN[shape](texts)), "answerKey": "ABC"[gold]} for q, texts, gold in QUESTIONS)
    _, parsed = parse(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), name="file.jsonl")
    assert [(one.context, one.options, one.gold) for one in parsed.instances] == list(QUESTIONS)


@pytest.mark.parametrize("cell", ['{"note": "old", "by": "us"}', "[1, 2]", '["one"]', '{"A": "x"}', "a; b"])
def test_other_cells_in_a_column_of_any_name_are_no_options(tmp_path, cell):
    lines = io.StringIO()
    csv.writer(lines).writerows([("question", "given", "answer"), *((q, cell, "A") for q, _, _ in QUESTIONS)])
    with pytest.raises(UsageError):
        parse(tmp_path, lines.getvalue())


SPANS = (
    {"text": "TEXT", "target": {"span1_text": "Ann", "span2_text": "she"}},
    {"data": {"text": "TEXT", "target": {"span1_text": "Ann", "span2_text": "she"}}},
    {
        "inputs": {
            "text": "TEXT",
            "target": {"span1": {"text": "Ann", "index": 0}, "span2": {"text": "she", "index": 4}},
        }
    },
)


@pytest.mark.parametrize("shape", SPANS, ids=["one level", "two levels", "three levels"])
def test_winograd_schemas_with_spans_are_named_however_deep_they_are_nested(tmp_path, shape):
    texts = ("Ann thanked Bea because she helped.", "Ann thanked Bea because she was glad.")
    lines = (
        json.dumps({**shape, "label": label}).replace("TEXT", text)
        for text, label in zip(texts, (False, True), strict=True)
    )
    with pytest.raises(UsageError, match="the Winograd schemas of SuperGLUE, which cannot be read as they are"):
        parse(tmp_path, "\n".join(lines), name="file.jsonl")


# --- what was said of another table, and tables that are none


def test_a_sign_that_parts_nothing_is_refused_where_another_parts_the_lines(tmp_path):
    text = "good,bad\n" + "The cats sleep.,The cats sleeps.\n" * 3
    with pytest.raises(UsageError, match=r"holds no ';'.*',' parts its lines"):
        parse(tmp_path, text, delimiter=";")
    assert parse(tmp_path, text, delimiter=",")[0].kind == "pair"
    texts = "text\nShe opened the door.\nHe closed the window.\n"
    assert parse(tmp_path, texts, kind="cloze", delimiter=",")[0].names == (
        "text",
    )  # one column has no sign between cells


@pytest.mark.parametrize(
    "name, text, told",
    [
        ("a.obo", "format-version: 1.2\n\n[Term]\nid: GO:0000001\nname: one\n", "in OBO"),
        ("a.txt", "[Term]\nid: GO:0000001\nname: one\n", "in OBO"),
        ("a.owl", '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="r"></rdf:RDF>', "in OWL"),
        ("a.owl", '<?xml version="1.0"?>\n<Ontology xmlns="o"></Ontology>', "in OWL"),
        ("a.json", '{"graphs": [{"id": "go", "nodes": [{"id": "GO_0000001", "lbl": "one"}]}]}', "in OBO-JSON"),
        (
            "a.json",
            json.dumps({"graphs": [{"nodes": [{"id": "GO_1"}], "edges": [], "id": "go", "meta": {"v": "1"}}]}),
            "in OBO-JSON",
        ),
        ("a.csv", "GO:0000001;one;3;4\nGO:0000002;two;5;6\n", "ids like GO:0000001"),
        ("a.csv", "one;GO:0000001\ntwo;GO:0000002\n", "ids like GO:000000"),
        ("a.csv", "id,label\nGO:0000001,one\n", "an id and a label a row"),
    ],
)
def test_terms_of_an_ontology_are_sent_to_their_study_in_any_form(tmp_path, name, text, told):
    with pytest.raises(ExplorerError, match=rf"{told}.*run ontology --benchmark FILE"):
        parse(tmp_path, text, name)


@pytest.mark.parametrize(
    "text, kind",
    [
        ("id,sentence_good,sentence_bad\nAgr:0001,The cats sleep.,The cats sleeps.\n", "pair"),
        ("id,question,choices,answer\nMMLU:0001,What?,\"['a', 'b']\",0\nMMLU:0002,Who?,\"['c', 'd']\",1\n", "choice"),
    ],
)
def test_texts_whose_ids_look_like_terms_are_read_as_what_they_are(tmp_path, text, kind):
    assert parse(tmp_path, text)[0].kind == kind


def test_a_column_called_nodes_makes_no_ontology(tmp_path):
    with pytest.raises(ExplorerError) as refused:
        parse(tmp_path, "id,question,answer,nodes\nq1,How many?,two,3\nq2,How much?,one,4\n")
    assert "OBO-JSON" not in str(refused.value)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_called_json_lines_is_read_as_the_list_it_is(tmp_path, indent):
    rows = [{"good": "The cats sleep.", "bad": "The cats sleeps."}, {"good": "He is here.", "bad": "He are here."}]
    _, plain = parse(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "mine.jsonl")
    reading, parsed = parse(tmp_path, json.dumps(rows, indent=indent), "mine.jsonl")
    assert reading.format == "json" and parsed.instances == plain.instances


def test_a_broken_line_that_begins_with_a_bracket_costs_itself_alone(tmp_path):
    row = json.dumps({"good": "He is here.", "bad": "He are here."})
    _, parsed = parse(tmp_path, f"[1, 2\n{row}\nnull\n", "mine.jsonl")
    assert len(parsed.instances) == 1
    assert [row.reason for row in parsed.left_out] == ["no JSON", "JSON's null, expected an object"]
