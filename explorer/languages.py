"""Languages of texts: their codes (ISO 639), their names in English, and what a reader may call them."""

from __future__ import annotations

import re

from explorer.errors import UsageError

ENGLISH = "en"
UNKNOWN = ""  # nobody said; a language is never guessed in silence
SEVERAL = "mul"  # ISO 639-2: texts in more than one language

_NAMES = """
    af Afrikaans; am Amharic; ar Arabic; az Azerbaijani; be Belarusian; bg Bulgarian; bn Bengali; bs Bosnian; ca
    Catalan; cs Czech; cy Welsh; da Danish; de German; el Greek; en English; eo Esperanto; es Spanish; et Estonian;
    eu Basque; fa Persian; fi Finnish; fo Faroese; fr French; ga Irish; gl Galician; gu Gujarati; ha Hausa; he
    Hebrew; hi Hindi; hr Croatian; ht Haitian Creole; hu Hungarian; hy Armenian; id Indonesian; ig Igbo; is
    Icelandic; it Italian; ja Japanese; jv Javanese; ka Georgian; kk Kazakh; km Khmer; kn Kannada; ko Korean; ku
    Kurdish; ky Kyrgyz; la Latin; lo Lao; lt Lithuanian; lv Latvian; mk Macedonian; ml Malayalam; mn Mongolian; mr
    Marathi; ms Malay; mt Maltese; my Burmese; nb Norwegian Bokmål; ne Nepali; nl Dutch; nn Norwegian Nynorsk; no
    Norwegian; pa Punjabi; pl Polish; ps Pashto; pt Portuguese; qu Quechua; ro Romanian; ru Russian; sa Sanskrit; sd
    Sindhi; si Sinhala; sk Slovak; sl Slovenian; so Somali; sq Albanian; sr Serbian; su Sundanese; sv Swedish; sw
    Swahili; ta Tamil; te Telugu; tg Tajik; th Thai; ti Tigrinya; tl Tagalog; tr Turkish; tt Tatar; ug Uyghur; uk
    Ukrainian; ur Urdu; uz Uzbek; vi Vietnamese; xh Xhosa; yi Yiddish; yo Yoruba; zh Chinese; zu Zulu; mul several
    languages
"""
NAMES = dict(entry.strip().split(" ", 1) for entry in " ".join(_NAMES.split()).split(";"))
_CODES = {name.casefold(): code for code, name in NAMES.items()} | {"several": SEVERAL, "mandarin": "zh", "farsi": "fa"}
# ISO 639-2 and -3 codes of three letters for languages that have one of two.
_SHORT = {
    "ara": "ar", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs", "cmn": "zh", "cze": "cs", "dan": "da", "deu": "de",
    "dut": "nl", "ell": "el", "eng": "en", "est": "et", "eus": "eu", "fas": "fa", "fin": "fi", "fra": "fr", "fre": "fr",
    "ger": "de", "gre": "el", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ind": "id", "isl": "is",
    "ita": "it", "jpn": "ja", "kat": "ka", "kor": "ko", "lat": "la", "lav": "lv", "lit": "lt", "nld": "nl", "nob": "nb",
    "nor": "no", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slv": "sl", "spa": "es",
    "srp": "sr", "swe": "sv", "tam": "ta", "tel": "te", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi",
    "zho": "zh",
}  # fmt: skip
_NOBODY_KNOWS = {"", "und", "unknown", "?", "-", "none", "nan"}  # "und" is ISO 639 for undetermined


def find_code(text: str) -> str | None:
    """The code of a language as people write it ("de", "de-AT", "deu", "German"), "" for unknown, None for no language.

    Any code of two or three letters is taken, since there are some eight thousand.
    """
    said = text.strip().casefold()
    if said in _NOBODY_KNOWS:
        return UNKNOWN
    if said in _CODES:
        return _CODES[said]
    code = re.split(r"[-_]", said)[0]
    code = _SHORT.get(code, code)
    return code if code in NAMES or re.fullmatch(r"[a-z]{2,3}", code) else None


def is_known(text: str) -> bool:
    """Whether a language is called so that nothing else can be meant: a listed code or a name."""
    code = find_code(text)
    return code is not None and code in NAMES


def code_of(text: str) -> str:
    """The code of a language; UsageError for what is none."""
    code = find_code(text)
    if code is None:
        raise UsageError(
            f"{text[:40]!r} is no language, expected a code of ISO 639 like en, de or zh, or its name in English."
        )
    return code


def in_words(code: str) -> str:
    """The language's name in English: "German"; "unknown" where nobody said; a code that has no name here as it is."""
    return NAMES.get(code, code) if code else "unknown"
