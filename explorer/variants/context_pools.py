"""The sentences a context may be drawn from: by suite, acceptable or not, and unrelated ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorer import prompts
from explorer.errors import UsageError
from explorer.records import Instance
from explorer.variants.prefix_edits import common_words

CONDITIONS = (
    "matched_acceptable",
    "matched_unacceptable",
    "mismatched_acceptable",
    "mismatched_unacceptable",
    "unrelated",
)

_NUMBER = ("match_sing", "match_plural")
_NPI = ("neg_pos", "neg_neg")
_GAP = ("what_gap", "that_nogap")
_EMBEDDED_GAP = ("what_gap", "that_no-gap")
_SUBORDINATION = ("no-sub_no-matrix", "sub_matrix")
_CLEFT = ("np_match", "vp_match")
_REDUCED = ("reduced_ambig", "unreduced_ambig", "reduced_unambig", "unreduced_unambig")
_COMMA = ("ambig_nocomma", "unambig_nocomma", "ambig_comma", "unambig_comma")
_OBJECT = ("no-obj_no-comma", "obj_no-comma", "no-obj_comma", "obj_comma")

# The conditions of each SyntaxGym suite that are acceptable sentences; the others are not. Garden paths (mvrr, npz,
# nn-nv-rpl) are hard to read but acceptable in every condition, so they have no unacceptable form.
SYNTAXGYM_ACCEPTABLE: Mapping[str, tuple[str, ...]] = {
    "center_embed": ("plaus",),
    "center_embed_mod": ("plaus",),
    "cleft": _CLEFT,
    "cleft_modifier": _CLEFT,
    "fgd-embed3": _EMBEDDED_GAP,
    "fgd-embed4": _EMBEDDED_GAP,
    "fgd_hierarchy": ("what_subjgap", "what_matrixgap", "that_nogap"),
    "fgd_object": _GAP,
    "fgd_pp": _GAP,
    "fgd_subject": _GAP,
    "mvrr": _REDUCED,
    "mvrr_mod": _REDUCED,
    "nn-nv-rpl": ("nn_ambig", "nn_unambig", "nv_ambig", "nv_unambig"),
    "npi_orc_any": _NPI,
    "npi_orc_ever": _NPI,
    "npi_src_any": _NPI,
    "npi_src_ever": _NPI,
    "npz_ambig": _COMMA,
    "npz_ambig_mod": _COMMA,
    "npz_obj": _OBJECT,
    "npz_obj_mod": _OBJECT,
    "number_orc": _NUMBER,
    "number_prep": _NUMBER,
    "number_src": _NUMBER,
    "reflexive_orc_fem": _NUMBER,
    "reflexive_orc_masc": _NUMBER,
    "reflexive_prep_fem": _NUMBER,
    "reflexive_prep_masc": _NUMBER,
    "reflexive_src_fem": _NUMBER,
    "reflexive_src_masc": _NUMBER,
    "subordination": _SUBORDINATION,
    "subordination_orc-orc": _SUBORDINATION,
    "subordination_pp-pp": _SUBORDINATION,
    "subordination_src-src": _SUBORDINATION,
}

# The 23 suites of Sinha et al. (2023), inferred from its figure 14: the paper does not list them.
PAPER_SUITES_INFERRED = tuple(
    suite
    for suite in SYNTAXGYM_ACCEPTABLE
    if suite.startswith(("center_embed", "fgd_", "npi_", "number_", "reflexive_", "subordination"))
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that may stand in a context; its id is the instance's id and the option's number."""

    id: str
    text: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class Pools:
    """Sentences by suite and acceptability, each list sorted by id; `common` words are written small inside one."""

    acceptable: Mapping[str, tuple[Sentence, ...]]
    unacceptable: Mapping[str, tuple[Sentence, ...]]
    unrelated: tuple[Sentence, ...]
    phenomena: Mapping[str, str]  # by suite, "" where unknown
    by_id: Mapping[str, Sentence]
    common: frozenset[str]


def make_pools(instances: Iterable[Instance], unrelated: Sequence[str] = ()) -> Pools:
    """The pools of a benchmark of pairs or SyntaxGym items, with unrelated sentences in a fixed order beside them.

    A pair's gold option is the acceptable one, so in CrowS-Pairs it is the less stereotypical sentence.
    """
    acceptable: dict[str, list[Sentence]] = {}
    unacceptable: dict[str, list[Sentence]] = {}
    phenomena: dict[str, str] = {}
    for instance in instances:
        phenomena.setdefault(instance.group, instance.phenomenon)
        good = _acceptable_options(instance)
        for i, text in enumerate(prompts.option_texts(instance)):
            by_suite = acceptable if i in good else unacceptable
            by_suite.setdefault(instance.group, []).append(Sentence(f"{instance.id}#{i}", text, instance.id))
    unrelated_sentences = tuple(Sentence(f"unrelated/{i:06d}", text, "") for i, text in enumerate(unrelated))
    all_sentences = [
        sentence for by_suite in (acceptable, unacceptable) for suite in by_suite.values() for sentence in suite
    ]
    all_sentences += unrelated_sentences
    return Pools(
        acceptable=_in_order_of_id(acceptable),
        unacceptable=_in_order_of_id(unacceptable),
        unrelated=unrelated_sentences,
        phenomena=phenomena,
        by_id={sentence.id: sentence for sentence in all_sentences},
        common=common_words(sentence.text for sentence in all_sentences),
    )


# For an item of the suite `anaphor_gender` (phenomenon anaphor agreement):
#
#     matched_acceptable        the right sentences of anaphor_gender
#     matched_unacceptable      the wrong sentences of anaphor_gender
#     mismatched_acceptable     the right sentences of all other suites; with other_phenomenon not of anaphor_number
#     unrelated                 sentences of another source, in a fixed order
#
# The item's own two sentences are in its suite's pool, too; who draws from the pool leaves them out.
def candidate_sentences(
    pools: Pools, suite: str, condition: str, *, other_phenomenon: bool = False
) -> tuple[Sentence, ...]:
    """What a context of a condition is drawn from, for an item of a suite.

    Matched: the same suite; mismatched: all others, with `other_phenomenon` only those of another phenomenon.
    """
    if condition not in CONDITIONS:
        raise UsageError(f"There is no condition {condition!r}; there are {', '.join(CONDITIONS)}.")
    if condition == "unrelated":
        return pools.unrelated
    match, _, acceptability = condition.partition("_")
    by_suite = pools.acceptable if acceptability == "acceptable" else pools.unacceptable
    if match == "matched":
        return by_suite.get(suite, ())
    phenomenon = pools.phenomena.get(suite, "")
    other_suites = (name for name in sorted(by_suite) if name != suite)
    if other_phenomenon and phenomenon:
        other_suites = (name for name in other_suites if pools.phenomena[name] != phenomenon)
    return tuple(sentence for name in other_suites for sentence in by_suite[name])


def _acceptable_options(instance: Instance) -> set[int]:
    if instance.kind == "pair" and instance.gold is not None:
        return {instance.gold}
    if instance.kind == "regions" and instance.group in SYNTAXGYM_ACCEPTABLE:
        good = SYNTAXGYM_ACCEPTABLE[instance.group]
        return {i for i, condition in enumerate(instance.conditions) if condition.name in good}
    expected = "a pair with a gold option or an item of a known SyntaxGym suite"
    raise UsageError(f"{instance.id} is a {instance.kind} of {instance.group}, expected {expected}. Leave it out.")


def _in_order_of_id(pool: Mapping[str, list[Sentence]]) -> dict[str, tuple[Sentence, ...]]:
    return {suite: tuple(sorted(pool[suite], key=lambda sentence: sentence.id)) for suite in sorted(pool)}
