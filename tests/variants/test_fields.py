from hypothesis import given
from hypothesis import strategies as st

from explorer.records import Condition, Instance
from explorer.variants.fields import Edit, apply_edits, locate, rebuild_instance, running_texts


def instance(kind, **fields):
    return Instance("set/group/1", "set", "test", "group", kind, fields.pop("format", kind), **fields)


def test_a_cloze_reads_as_one_text_and_its_last_word_is_the_option():
    (text,) = running_texts(instance("cloze", context="He fed the", options=("dog",)))
    assert text.text == "He fed the dog"
    assert locate(text, 11, 14) == ("option 0", 0, 3)
    assert locate(text, 7, 14) is None  # across the border


def test_a_gap_is_filled_and_what_follows_it_keeps_its_place():
    first, second = running_texts(
        instance("choice", format="winogrande", context="The cup broke the _ again.", options=("jug", "plate"))
    )
    assert first.text == "The cup broke the jug again." and second.text == "The cup broke the plate again."
    assert locate(second, 18, 23) == ("option 1", 0, 5)
    assert locate(second, 24, 29) == ("context", 20, 25)
    assert "The cup broke the _ again."[20:25] == "again"


def test_regions_are_joined_as_they_are_read_and_found_again():
    conditions = (Condition("a", ("The cat ", "", "sleeps", ".")), Condition("b", ("The cats", "", " sleep", ".")))
    first, second = running_texts(instance("regions", conditions=conditions))
    assert first.text == "The cat sleeps." and second.text == "The cats sleep."
    assert locate(second, 9, 14) == ("condition 1 region 2", 1, 6)


def test_edits_change_nothing_but_their_own_place():
    item = instance("choice", context="A dog\n", options=("It  barks.", "It purrs."))
    made = rebuild_instance(item, [Edit("context", 2, 5, "hound"), Edit("option 1", 3, 8, "hums")], id="new")
    assert (made.context, made.options, made.id) == ("A hound\n", ("It  barks.", "It hums."), "new")


@given(st.text(max_size=40), st.data())
def test_text_between_edits_stays_character_for_character(text, data):
    cut = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    made = apply_edits(text, [Edit("context", cut[0], cut[1], "<swap>")])
    assert made == text[: cut[0]] + "<swap>" + text[cut[1] :]
