"""Is a text English? By its script, its function words and how many of its words an English dictionary knows.

Swapping, tagging and telling senses apart know English only, and other languages share enough words with it to be
swapped nonetheless: German "hat" (has) would become "lid".
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer import languages
from explorer.languages import ENGLISH
from explorer.records import Instance
from explorer.variants import fields, inflect

SAMPLE = 200  # instances looked at to tell a benchmark's language
ONLY = "Words are tagged and swapped in English only"
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LETTER = re.compile("[A-Za-z]")
LATIN_SHARE = 0.5  # of a text's letters; below it the text is in another script
KNOWN_SHARE = 0.5  # of a text's words that an English dictionary has; below it the text is not English
SHARED_WEIGHT = 0.5  # of an English function word that another language has too ("in", "is")
FEW = 3  # unknown words that are no evidence yet

_ENGLISH = """
    a about after again all am an and any are aren't as at be because been before being but by can can't could
    couldn't did didn't do does doesn't doing don't down each every few for from had hadn't has hasn't have haven't
    he he's her hers herself him himself his how i i'm i've if in into is isn't it it's its itself just me more most
    my myself no nor not of off on once only or other gonna gotta wanna cannot our ours out over own same she she's
    should shouldn't so some such than that that's the their theirs them themselves then there these they they're
    this those through to too under until up very was wasn't we were weren't what when where which while who whom
    whose why will with won't would wouldn't you you're your yours yourself
"""
# Function words of other languages that are no English words; shared ones ("die", "hat", "on") tell nothing.
_OTHERS = {
    "German": """
        die hat war was will so in an am bin aber als auch auf aus bei bist dann das dass daß dem den der des dich
        dir doch durch ein eine einem einen einer eines er es euch für gegen habe haben hast hatte ich ihm ihn ihr
        ihre im ist ja jetzt kann kein keine mein meine mich mir mit nach nicht nichts noch nur oder ohne schon sehr
        sein seine sich sie sind über um und uns unser unter vom von vor waren wenn werden wie wieder wir wird wo
        wurde zu zum zur zwei
    """,
    "French": """
        alors au aussi aux avec avait avons bien ce ces cette c'est chez dans de des du elle elles est était et été
        eux fait font il ils j'ai je la le les leur lui mais même mes moi mon n'est ne nos notre nous où par pas
        peut peu plus pour qu'il quand que quel qui sa sans ses sont sous sur ta très tu un une vos votre vous y
    """,
    "Spanish": """
        al algo antes aquí como cuando de del desde donde dos el él ella ellos en entre era eres es esa ese esta
        está están este esto estaba fue ha hace hay hasta la las le les lo los más mi mis muy nada ni nos nosotros
        pero por porque que qué quien se ser si sí sin sobre son su sus también tan tiene todo tu un una uno y ya yo
    """,
    "Italian": """
        in abbiamo alla alle anche ancora che chi ci come con cosa da dal dalla degli dei del della delle di dove è ed
        era erano fare fatto gli ha hai hanno ho il io la le lei lo loro lui ma mi mia mio molto nel nella noi non
        nostro o per perché più poi quando quella quello questa questo se sei si sia sono su sua suo tra tu un una
        uno voi
    """,
    "Portuguese": """
        ao aos as até com como da das de dele dela do dos e ela ele eles em era essa esse esta está este eu foi já
        lhe mais mas meu minha muito na não nas nem no nos nós o os ou para pela pelo por qual quando que quem se
        sem ser seu seus sua são também tem um uma você
    """,
    "Dutch": """
        in is was we he aan als bij dan dat de deze die dit door een en er geen had heb hebben heeft het hij hoe hun
        ik ja je jij kan maar me meer met mijn naar niet nog nu of om omdat onder ons onze ook op over te tegen toch
        toen tot uit uw van veel voor waar wat wel werd wij worden wordt zal ze zich zij zijn zo zou
    """,
    "Swedish": """
        alla att av blev bara de dem den denna det dig där du efter eller en ett från för ha hade han hans har
        hennes hon här i inte jag kan man med men mig min mot mycket ni nu när och också om oss på sedan sig sin ska
        skulle så till under upp ut utan vad var vara vi vid vill är än över
    """,
    "Danish or Norwegian": """
        af alle at av blev ble da de dem den der det dig deg du efter eller en er et etter fra før for ham han hans
        har hende henne hun hvad hva hvor i ikke jeg jer kan kun man med meg mig min mot når og også om os oss på
        sig seg sin skal som så til ud ut var ved vi vil være
    """,
    "Polish": """
        ale bardzo bez bo był była było być ci co czy dla do gdy gdzie go i ich ja jak jako jego jej jest jeszcze
        już kiedy kto która które który ma mi mnie może my na nad nie niż o od on ona one oni po pod przed przez
        przy się są swoje ta tak także tam te tego tej ten to tu tylko ty w we wszystko z za ze że
    """,
    "Czech or Slovak": """
        ale ani ako aby až bez bol bola byl byla být co či do ho i já jak je jeho její jen jsem jsme jsou k kde když
        která které který ktorý ma má mi mu my na nad ne nebo není o od on ona oni po pod pro proto při s sa se si
        som sú své ta tak také tam te ten to tu už v ve však všechno z za ze že
    """,
    "Turkish": """
        ama ancak bana ben beni benim bir biz bu bunu çok da daha de değil diye en gibi hem her için ile ise kadar
        ki kim mi mı ne neden nasıl o olan olarak oldu onu onun sana sen şey şu siz sonra var ve veya ya yok
    """,
    "Finnish": """
        ei eikä eivät en että hän hänen he heidän ihan ja jo joka jos jotka kanssa kuin kun kuten me minä minun
        missä mitä mutta myös ne niin nyt ole olen oli olivat on ovat se sen siellä siinä sinä sitten sitä tai tämä
        tässä te vain vielä
    """,
    "Hungarian": """
        a az azt csak de egy ember és ez ezt én ha hogy is itt kell ki le meg mert mi mint most nagyon nem nincs ő
        olyan pedig s sem szerint te vagy van volt
    """,
    "Romanian": """
        a acest ai al am ar are au ca că ce cel cu cum când da dar de din după ea ei el este eu fi fost i-a în între
        la lui mai mea nu o pe pentru prin sa să sau se si și sunt un unde unei
    """,
    "Indonesian or Malay": """
        ada adalah akan aku anda atau bagi bahwa bisa dalam dan dari dengan di dia ini itu juga kami karena ke
        kepada kita lebih mereka oleh orang pada saya sebagai sudah tidak untuk yang
    """,
}
NAMES = {"ben", "dan", "ella", "elle", "kim", "lui", "sara"}  # among the above; written with a capital no evidence
# Scripts that one language alone is mostly written in; Cyrillic, Arabic or Devanagari letters tell none.
_OF_SCRIPT = {
    "JAPANESE": "Japanese", "HANGUL": "Korean", "GREEK": "Greek", "HEBREW": "Hebrew", "THAI": "Thai",
    "ARMENIAN": "Armenian", "GEORGIAN": "Georgian", "TAMIL": "Tamil", "TELUGU": "Telugu", "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam", "GUJARATI": "Gujarati", "KHMER": "Khmer", "LAO": "Lao", "MYANMAR": "Burmese",
}  # fmt: skip
ENGLISH_WORDS = frozenset(_ENGLISH.split())
# English words that the dictionary lacks, and words of other languages that it has.
UNLISTED = {"al", "cafe", "cafes", "icicle", "icicles", "jen", "mentee", "mentees", "oncologist", "oncologists", "ten"}
LISTED = {"der", "des", "el", "er", "il", "les"}
OTHERS = {name: frozenset(words.split()) for name, words in _OTHERS.items()}
STRONG = ENGLISH_WORDS - frozenset().union(*OTHERS.values())  # function words that only English has
FUNCTION_WORDS = STRONG.union(*OTHERS.values()) - NAMES  # of any language, whatever their first letter
KNOWN_WORDS = ENGLISH_WORDS | UNLISTED


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a text is English: True, False, or None where it cannot be told; `why` says what was found."""

    english: bool | None
    why: str = ""
    like: str = ""  # the language that it looks like, where one is told apart

    @property
    def refusal(self) -> str:
        """Why nothing is swapped, "" where the text is English."""
        if self.english:
            return ""
        doubt = "is not English" if self.english is False else "may not be English"
        return f"This text {doubt}: {self.why}. {ONLY}."


def judge_language(texts: Iterable[str]) -> Verdict:
    """What the texts of an instance, taken together, are written in."""
    text = "\n".join(texts)
    if (script := _main_script(text)) != "LATIN":
        if not script:
            return Verdict(True)
        return Verdict(False, f"it is written in {script.capitalize()} letters", _OF_SCRIPT.get(script, ""))
    words = _plain_words(text)
    if not words:
        return Verdict(True)
    english = sum(1.0 if word in STRONG else SHARED_WEIGHT for word in words if word in ENGLISH_WORDS)
    unknown = [word for word in words if not _is_english(word)]
    if not unknown:
        return Verdict(True)
    share_known = 1 - len(unknown) / len(words)
    # A word that English has too ("die", "hat", "door") is no evidence for another language.
    foreign = {name: [word for word in unknown if word in vocabulary] for name, vocabulary in OTHERS.items()}
    name = max(foreign, key=lambda language: len(foreign[language]))
    foreign_words = len(foreign[name])
    if foreign_words > english or (foreign_words and foreign_words == english and share_known < KNOWN_SHARE):
        return Verdict(False, f"{_quote_words(foreign[name])} as in {name}", name)
    if share_known <= KNOWN_SHARE and english < len(words) / 4:
        why = f"an English dictionary lacks {len(unknown)} of {len(words)} words ({_quote_words(unknown)})"
        return Verdict(False if len(unknown) >= FEW else None, why)
    return Verdict(True)


def why_refused(instance: Instance) -> str:
    """Why no word of an instance is tagged or swapped, "" where it is English; what is declared is believed."""
    if instance.language:
        name = languages.in_words(instance.language)
        return "" if instance.language == ENGLISH else f"The language of this text is {name}. {ONLY}."
    return judge_language(text.text for text in fields.running_texts(instance)).refusal


def other_language(instances: Sequence[Instance], declared: str) -> str:
    """Why instances are taken for another language than English, "" where they are not; what is declared is believed.

    A short text in English may be taken for none ("Cheney cursed at Leahy"), so that most of many must agree.
    """
    if declared and declared != languages.SEVERAL:
        return "" if declared == ENGLISH else f"its language is {languages.in_words(declared)}"
    looked_at = instances[:: max(1, len(instances) // SAMPLE)]
    others = [why for instance in looked_at if (why := _why_not_english(instance))]
    if 2 * len(others) <= len(looked_at):
        return ""
    return f"{len(others)} of {len(looked_at)} instances looked at are not (the first: {others[0]})"


def _why_not_english(instance: Instance) -> str:
    if instance.language:
        return "" if instance.language == ENGLISH else f"its language is {languages.in_words(instance.language)}"
    verdict = judge_language(text.text for text in fields.running_texts(instance))
    return "" if verdict.english else verdict.why


@dataclass(frozen=True, slots=True)
class Look:
    """What language texts look like: a guess, to be shown as one; the code is "" where it names none."""

    code: str
    why: str


def look_at_language(instances: Sequence[Instance]) -> Look:
    """A guess at the language of instances, by function words and script; an offer, never taken in silence.

    English is told where most look so; any other by those that have its small words, since not every sentence has one.
    """
    looked_at = instances[:: max(1, len(instances) // SAMPLE)]
    languages_found: Counter[str] = Counter()
    for instance in looked_at:
        verdict = judge_language(text.text for text in fields.running_texts(instance))
        languages_found[ENGLISH if verdict.english else verdict.like or "?"] += 1
    if not languages_found:
        return Look("", "there is no text to look at")
    if 2 * languages_found[ENGLISH] <= len(looked_at):
        languages_found.pop(ENGLISH, None)  # short texts look English easily
        languages_found.pop("?", None)
    if not languages_found:
        return Look("", "they look like no language that is known here by its small words")
    like, count = languages_found.most_common(1)[0]
    code = languages.find_code(like)
    share = f"{count} of {len(looked_at)} instances looked at"
    return Look(code if code in languages.NAMES else "", f"{share} look {languages.in_words(code or like)}")


def _quote_words(words: Iterable[str]) -> str:
    return ", ".join(f"“{word}”" for word in dict.fromkeys(words))[:80]


def _main_script(text: str) -> str:
    """The script of most letters as Unicode names it ("CYRILLIC"), "" for a text without letters."""
    if text.isascii():
        return "LATIN" if _LETTER.search(text) else ""
    letters = [letter for letter in text if letter.isalpha()]
    scripts = Counter("LATIN" if letter.isascii() else unicodedata.name(letter, "?").split()[0] for letter in letters)
    if not scripts:
        return ""
    if scripts["LATIN"] >= LATIN_SHARE * len(letters):
        return "LATIN"
    del scripts["LATIN"]
    script = scripts.most_common(1)[0][0]
    return {"CJK": "CHINESE", "HIRAGANA": "JAPANESE", "KATAKANA": "JAPANESE"}.get(script, script)


def _plain_words(text: str) -> list[str]:
    """The words in lower case, without those that may be names."""
    words = []
    shouted = text.isupper()
    for match in WORD.finditer(text):
        word = match[0].lower().replace("’", "'")
        # A capital makes a name, a German noun or the start of a sentence: no evidence unless it is a function word.
        if match[0][0].islower() or shouted or word in FUNCTION_WORDS:
            words.append(word)
    return words


def _is_english(word: str) -> bool:
    """True for a word that an English dictionary has in some form."""
    bare = word.removesuffix("'s")
    if word in LISTED:
        return False
    return len(bare) == 1 or bare in ENGLISH_WORDS or word in KNOWN_WORDS or inflect.is_listed(bare)
