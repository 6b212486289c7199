"""Encodings of users' files: the right letters, or a question, never other letters."""

import unicodedata

import pytest

from explorer.benchmarks.tables import table
from explorer.benchmarks.tables.encoding import decode
from explorer.benchmarks.tables.questions import Question

# Pairs of our own, as many as a small table has.
TEXTS = {
    "ru": "Кошка спит на окне.;Кошка спят на окне.\nДети играют во дворе.;Дети играет во дворе.\n"
    "Моя сестра читает книгу.;Моя сестра читают книгу.\n",
    "uk": "Кішка спить на вікні.;Кішка сплять на вікні.\nДіти граються у дворі, її.;Діти грається у дворі.\n",
    "ja": "猫は窓の上で寝ている。;猫は窓の上が寝ている。\n子供たちは庭で遊んでいる。;子供たちは庭に遊んでいる。\n",
    "zh": "猫在窗台上睡觉。;猫在窗台上睡觉们。\n孩子们在院子里玩。;孩子们在玩院子里。\n"
    "我妹妹在读一本书。;我妹妹在读一书本。\n",
    "tw": "貓在窗台上睡覺。;貓在窗台上睡覺們。\n孩子們在院子裡玩。;孩子們在玩院子裡。\n"
    "我妹妹在讀一本書。;我妹妹在讀一書本。\n",
    "ko": "고양이가 창문 위에서 잔다.;고양이가 창문 위에서 자다.\n아이들이 마당에서 논다.;아이들이 마당을 논다.\n",
    "tr": "Kedi pencerede uyuyor, değil mi?;Kedi pencerede uyuyorlar, değil mi?\nÇocuklar bahçede oynuyor.;"
    "Çocuk bahçede oynuyorlar.\nKız kardeşim kitap okuyor, işte şu.;Kız kardeşim kitap okuyorum.\n",
    "cs": "Kočka spí na okně.;Kočka spím na okně.\nDěti si hrají na dvoře.;Děti si hraje na dvoře.\n"
    "Moje sestra čte knížku, že?;Moje sestra čtou knížku.\n",
    "pl": "Kot śpi na oknie.;Kot śpią na oknie.\nDzieci bawią się w ogrodzie.;Dzieci bawi się w ogrodzie.\n"
    "Moja siostra czyta książkę.;Moja siostra czytają książkę.\n",
    "el": "Η γάτα κοιμάται στο παράθυρο.;Η γάτα κοιμούνται στο παράθυρο.\nΤα παιδιά παίζουν.;Τα παιδιά παίζει.\n",
    "he": "החתול ישן על החלון.;החתול ישנים על החלון.\nהילדים משחקים בחצר.;הילדים משחק בחצר.\n",
    "ar": "القطة نائمة على النافذة.;القطة نائمون على النافذة.\nالأطفال يلعبون في الفناء.;الأطفال يلعب في الفناء.\n",
    "th": "แมวนอนอยู่บนหน้าต่าง;แมวนอนอยู่บนหน้าต่างๆ\nเด็กๆ เล่นอยู่ในสนาม;เด็กๆ อยู่เล่นในสนาม\n",
    "fr": "Le chat dort à la fenêtre.;Le chat dorment à la fenêtre.\n"
    "Les élèves sont allés dehors.;Les élèves est allé.\n"
    "Où êtes-vous né ? Çà et là.;Où êtes-vous nés ?\nElle a déjà reçu la réponse.;Elle ont déjà reçu la réponse.\n",
    "de": "Die Katze schläft am Fenster.;Die Katze schlafen am Fenster.\nDie Kinder spielen draußen für sich.;"
    "Die Kinder spielt draußen für sich.\n",
    "es": "El niño está aquí.;El niño están aquí.\n¿Dónde está mañana?;¿Dónde están mañana?\n",
    "en": "The cat sleeps – “well”.;The cat sleep – “well”.\nThe café isn’t open.;The café aren’t open.\n",
}
SURE = [
    ("ru", "cp1251"), ("ru", "koi8-r"), ("ru", "iso8859-5"), ("ru", "cp866"), ("uk", "cp1251"), ("uk", "koi8-u"),
    ("ja", "shift_jis"), ("ja", "euc_jp"), ("ja", "iso2022_jp"), ("zh", "gb18030"), ("zh", "gbk"), ("tw", "big5"),
    ("ko", "euc_kr"), ("tr", "cp1254"), ("cs", "cp1250"), ("pl", "cp1250"), ("pl", "iso8859-2"), ("el", "cp1253"),
    ("el", "iso8859-7"), ("he", "cp1255"), ("ar", "cp1256"), ("th", "cp874"), ("de", "cp1252"), ("es", "cp1252"),
    ("en", "cp1252"),
]  # fmt: skip
WIDE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("language, encoding", SURE)
def test_the_letters_of_an_older_encoding_are_right(language, encoding):
    text = "good;bad\n" + TEXTS[language]
    found = decode(text.encode(encoding), "mine.csv")
    assert found.text == text
    assert found.why.startswith(f"detected as {found.encoding}")


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", TEXTS)
def test_the_encodings_of_unicode_are_recognized_in_every_script(language, encoding):
    text = "good;bad\n" + TEXTS[language]
    assert decode(text.encode(encoding), "mine.csv").text.removeprefix("\ufeff") == text


OLD = [
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp874", "koi8-r", "koi8-u", "iso8859-2",
    "iso8859-5", "iso8859-7", "iso8859-9", "iso8859-15", "mac-roman", "mac-cyrillic", "cp850", "cp866", "shift_jis",
    "euc_jp", "gb18030", "big5", "euc_kr",
]  # fmt: skip


# The encodings of East Asia hold Greek or Turkish letters too, but nobody uses them for these.
EAST = {"shift_jis": ("ja", "ru"), "euc_jp": ("ja", "ru"), "gb18030": ("zh", "ru"), "big5": ("tw",), "euc_kr": ("ko",)}


def encodable(language: str, encoding: str) -> bytes | None:
    try:
        return unicodedata.normalize("NFC", TEXTS[language]).encode(encoding)
    except UnicodeEncodeError:
        return None


@pytest.mark.parametrize("encoding", OLD)
def test_a_text_however_short_is_never_read_as_other_letters(encoding):
    seen = 0
    for language, text in TEXTS.items():
        if encodable(language, encoding) is None or language not in EAST.get(encoding, (language,)):
            continue
        lines = text.splitlines()
        for piece in (text, lines[0], lines[-1]):
            data = f"good;bad\n{piece}\n".encode(encoding)
            try:
                assert decode(data, "t").text == f"good;bad\n{piece}\n", (language, encoding, piece)
            except Question as question:
                assert question.asks == "encoding"
                # What it may be is among the readings shown, so that one can be chosen by looking.
                shown = {data.decode(answer.value) for answer in question.answers}
                assert f"good;bad\n{piece}\n" in shown or len(shown) != 1
            seen += 1
    assert seen


def test_what_cannot_be_told_is_asked_with_a_line_of_each_reading():
    with pytest.raises(Question, match=r"--encoding cp1250 would read 'good.*'|--encoding cp1250") as raised:
        decode(("good;bad\n" + TEXTS["cs"]).encode("iso8859-2"), "mine.csv")
    assert {answer.value for answer in raised.value.answers} >= {"cp1250", "iso8859-2"}
    assert any("Děti" in answer.shown or "Kočka" in answer.shown for answer in raised.value.answers)


def test_one_strange_byte_is_no_evidence():
    with pytest.raises(Question):
        decode(b"good,bad\nbl\xfc,x\n\xb9\xe6\n", "mine.csv")


def test_an_import_says_how_it_was_decoded_and_shows_a_line(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(("good;bad\n" + TEXTS["ru"]).encode("cp1251"))
    reading = table.guess_reading(path)
    assert reading.encoding == "cp1251"
    assert "detected as cp1251" in reading.why["encoding"] and "Кошка спит на окне." in reading.why["encoding"]
    assert table.read_file(path, reading, "x").instances[0].options == ("Кошка спит на окне.", "Кошка спят на окне.")


def test_quotes_and_dashes_of_windows_alone_are_no_riddle():
    data = "good,bad\nThe cat doesn’t sleep.,The cat don’t sleep.\nIt’s “new” – so…,x\n".encode("cp1252")
    found = decode(data, "t")
    assert found.text == data.decode("cp1252")
