"""WikiText as plain sentences."""

import hashlib
import re
from collections import Counter

import pytest

from explorer.benchmarks import wikitext
from explorer.benchmarks.published import CHECKSUMS
from explorer.errors import BenchmarkError


@pytest.mark.parametrize(
    "tokens, text",
    [
        ("A well @-@ known film , made for 1 @,@ 500 dollars .", "A well-known film, made for 1,500 dollars."),
        ("It is 3 @.@ 5 m ( 11 ft ) wide .", "It is 3.5 m (11 ft) wide."),
        ("Nora 's dog did n't bark ; it 's old .", "Nora's dog did n't bark; it's old."),
        ("It isn 't the miners ' strike .", "It isn't the miners' strike."),
        ("The chargé d 'affaires of Chang 'an left .", "The chargé d'affaires of Chang'an left."),
        ('He called it " a fine day " , then left .', 'He called it "a fine day", then left.'),
        ('She said , " Go . "', 'She said, "Go."'),
        ("A ' peace ring ' was built .", "A 'peace ring' was built."),
        ("It left at 10 : 30 for $ 5 .", "It left at 10:30 for $5."),
        ("He wrote : a [ short ] note — twice .", "He wrote: a [short] note — twice."),
    ],
)
def test_spacing_of_the_tokenizer_is_undone(tokens, text):
    assert wikitext.detokenize(tokens) == text


@pytest.mark.parametrize(
    "line, found",
    [
        (" One ends here . Two ends there ! Three ? ", ["One ends here.", "Two ends there!", "Three?"]),
        (" Col. Brown met Mr. Lee . He left ", ["Col. Brown met Mr. Lee."]),
        (' " Go home . " she said . ', ['"Go home." she said.']),
        (' He said , " Go home . " Then he left . ', ['He said, "Go home."', "Then he left."]),
        (" Parts ( coils , wires , etc . ) fail . ", ["Parts (coils, wires, etc.) fail."]),
        (' " I left . I came back . " It rained . ', ["It rained."]),
        (" no stop at all ", []),
        (" . ", ["."]),
    ],
)
def test_sentences_end_at_stops_that_stand_alone(line, found):
    assert wikitext.split_sentences(line) == found


@pytest.mark.parametrize("line", [" = Title = ", " = = Career = = ", " ", ""])
def test_headings_and_empty_lines_are_no_text(line):
    assert not wikitext.is_text(line)
    assert wikitext.is_text(" = National record ")


def test_only_sentences_of_4_to_40_words_are_kept_and_each_once(written):
    lines = [" = Title = ", " Too short now . A sentence of five words . ", " ", " A sentence of five words . "]
    lines.append(" " + "word " * 41 + ". ")
    lines.append(" " + "word " * 40 + ". ")
    found = wikitext.load_sentences(written({wikitext.PATH: "\n".join(lines) + "\n"}))
    assert found == ["A sentence of five words.", " ".join(["word"] * 40) + "."]


def test_a_file_without_sentences_is_told(written):
    with pytest.raises(BenchmarkError, match="no sentence"):
        wikitext.load_sentences(written({wikitext.PATH: " = Title = \n"}))


# --- the real file


def test_the_real_text_has_the_published_size_and_headings(data_folder):
    text = (data_folder / wikitext.PATH).read_bytes()
    assert len(text) == 1_290_590
    lines = text.decode("utf-8").split("\n")[:-1]
    assert len(lines) == 4_358 and sum(line == " " for line in lines) == 1_467
    assert sum(bool(re.fullmatch(r" = [^=].* = ", line)) for line in lines) == 62
    assert len(text.decode("utf-8").split()) == 241_211
    assert sum(not wikitext.is_text(line) for line in lines) == 1_467 + 708 - 2  # two lines begin with "=" as text


def test_the_real_sentences_look_like_running_text(real_settings):
    found = wikitext.load_sentences(real_settings)
    assert 8_000 < len(found) == len(set(found))
    assert all(4 <= len(text.split()) <= 40 and text == text.strip() for text in found)
    assert not any(re.search(r"@[-,.]@| [,.;?!] |\( | \)|^= | =$", text) for text in found if "..." not in text)
    assert all(text.count('"') % 2 == 0 for text in found)
    assert Counter(text[-1] for text in found).most_common(1)[0][0] == "."


def test_the_published_pieces_become_the_first_publishers_file(data_folder, tmp_path):
    lines = (data_folder / wikitext.PATH).read_text("utf-8").split("\n")[:-1]
    (tmp_path / "text").write_text("".join(f"{line}\r\n" for line in lines if line.strip()), "utf-8", newline="")
    layout = "".join(f"{line if not line.strip() else ' <unk> word '}\n" for line in lines)
    (tmp_path / "layout").write_text(layout, "utf-8")
    joined = wikitext.join_lines([tmp_path / "text", tmp_path / "layout"])
    assert hashlib.sha256(joined).hexdigest() == CHECKSUMS[wikitext.PATH][0]


def test_sentences_with_unknown_words_are_left_out_and_counted(written):
    lines = [
        " The old <unk> stood near the river . ",
        " The old mill stood near the river . ",
        " It had a <unk> roof . ",
    ]
    found = wikitext.load(written({wikitext.TOKENS: "\n".join(lines) + "\n"}))
    assert found == wikitext.Sentences(("The old mill stood near the river.",), 2)
    with pytest.raises(BenchmarkError, match="no sentence without <unk>"):
        wikitext.load(written({wikitext.TOKENS: lines[0] + "\n"}))
