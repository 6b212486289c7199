"""Where WordNet promises too much: verbs that do not stand in a pattern which their synset's frames give to all.

Found by reading what the frames let through on BLiMP, LAMBADA, PIQA, COPA and WinoGrande; a missing entry costs an
odd sentence, a needless one costs a candidate.
"""

from __future__ import annotations

# Use of the verb (a key of frames.FRAMES) → synonyms never offered in it.
UNFIT: dict[str, frozenset[str]] = {
    use: frozenset(words.split())
    for use, words in {
        "plain": """afford apparel apprise apprize bestow better bring contribute disclose duplicate employ enjoy
            evidence express feather find fraction free-base get gibe give impart incur inhabit lend make mishandle
            moot notice okay oppose populate realise realize recognise recognize regularise regularize regulate
            replete sanction sate satiate savor savour service surpass take tender trust unhorse utter""",
        "object": """account adhere advert amount apologise apologize appeal bask bump campaign care chance come
            comment consent contend crusade deal delve discourse dispose dissent dwell elapse empathise empathize
            enquire except expatiate fall fend fob go grapple happen inquire insist jaunt journey labor labour last
            listen look opt partake participate pertain refer rejoin reply respond rest sit speculate struggle tower
            vie wait yearn""",
        "thing as object": "instruct",
        "adjective": "behave come fare flow go hang move proceed read result savor savour",
        "object and adjective": "conceive maintain regard see view",
        "clause": """account append apprise apprize approximate break bring cipher compute concord control count
            cypher debate deliberate designate disregard enjoin exact expose facilitate gauge ignore image instruct
            iterate make notify order project retell snub supply support sustain teach tell translate unwrap weigh""",
        "question": """adventure assure break chance control enjoin ensure gamble hazard image insure instruct
            opine order pretend project reckon say state suppose teach translate trust unwrap venture""",
        "to-infinitive": """acquire anticipate assay concord drop enjoy essay facilitate hold labor labour look
            miss necessitate overlook project ready run set spoil think tug waffle waver""",
        "object and to-infinitive": """apprise apprize commit consecrate countenance dedicate devote evaluate hold
            learn let say see squeeze thrust witness""",
        "infinitive": "facilitate",
        "ing-form": "bask get proceed retrieve think",
    }.items()
}
# Uses that admit only these verbs ("made him go", "saw him going").
ONLY: dict[str, frozenset[str]] = {
    use: frozenset(words.split())
    for use, words in {
        "two objects": """accord allot allow ask assign award bequeath bet bring buy cable cede charge concede cook
            cost deny fax feed fetch forward get give grant guarantee hand leave lend loan mail make offer owe pass
            pay permit post pour proffer promise read refuse save sell send serve ship show spare teach tell throw
            toss will wire wish write yield""",
        "noun complement": "become remain",
        "object and infinitive": "feel hear help let make notice observe see watch",
        "object and ing-form": """catch discover feel find hear imagine keep leave notice observe see spot watch
            witness""",
    }.items()
}
# Pairs of one synset, nouns too, that do not stand in for each other in any pattern.
NEVER = frozenset(
    {
        ("agree", "concur"),
        ("authority", "potency"),
        ("change", "alter"),
        ("child", "fry"),
        ("go", "travel"),
        ("impress", "strike"),
        ("kid", "fry"),
        ("begin", "get"),
        ("commence", "get"),
        ("get", "acquire"),
        ("keep", "prevent"),
        ("listen", "hear"),
        ("need", "ask"),
        ("need", "involve"),
        ("need", "take"),
        ("say", "tell"),
        ("seek", "search"),
        ("serve", "function"),
        ("sound", "go"),
        ("speak", "utter"),
        ("start", "get"),
        ("state", "tell"),
        ("teach", "learn"),
        ("tell", "say"),
        ("tell", "state"),
    }
)


def is_unfit(lemma: str, substitute: str, use: str) -> bool:
    """True where the substitute is known not to stand in the verb's place."""
    if (lemma, substitute) in NEVER or substitute not in ONLY.get(use, (substitute,)):
        return True
    if use in ("object", "thing as object"):
        return substitute in UNFIT["object"] | UNFIT["thing as object"]
    if use == "person as object":
        return substitute in UNFIT["object"]
    if use == "plain or object":
        return substitute in UNFIT["plain"] and substitute in UNFIT["object"]
    return substitute in UNFIT.get(use, ())
