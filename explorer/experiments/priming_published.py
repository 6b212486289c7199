"""What Sinha et al. (2023) report, beside the finding of ours that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "Sinha et al. (2023), ACL"

# Table 2: mean change of accuracy over the whole window after unacceptable matched contexts, (mean, sd over lengths)
# for each model; "mean" is over the six models, its sd over them.
COLUMNS = (
    "openai-community/gpt2",
    "facebook/opt-125m",
    "facebook/opt-350m",
    "facebook/opt-1.3b",
    "facebook/opt-2.7b",
    "facebook/opt-6.7b",
    "mean",
)
_TABLE_2 = """
only_npi_licensor_present                -.693 .21 -.726 .16 -.934 .19 -.953 .14 -.945 .10 -.961 .07 -.869 .11
existential_there_quantifiers_1          -.783 .27 -.871 .21 -.869 .21 -.856 .20 -.911 .21 -.906 .21 -.866 .04
principle_A_case_1                       -.782 .42 -.863 .35 -.813 .33 -.871 .34 -.867 .35 -.872 .34 -.845 .03
superlative_quantifiers_2                -.817 .10 -.822 .07 -.847 .06 -.832 .05 -.862 .05 -.845 .04 -.837 .02
sentential_negation_npi_licensor_present -.637 .25 -.733 .23 -.882 .23 -.907 .24 -.904 .22 -.911 .22 -.829 .11
wh_questions_subject_gap                 -.731 .32 -.811 .27 -.804 .29 -.839 .28 -.837 .27 -.832 .27 -.809 .04
wh_vs_that_no_gap_long_distance          -.715 .33 -.806 .24 -.742 .23 -.806 .24 -.852 .25 -.889 .25 -.801 .06
wh_questions_subject_gap_long_distance   -.782 .24 -.802 .22 -.781 .22 -.828 .22 -.784 .23 -.833 .24 -.801 .02
superlative_quantifiers_1                -.685 .15 -.746 .06 -.832 .07 -.836 .11 -.849 .11 -.806 .07 -.792 .06
irregular_past_participle_adjectives     -.671 .33 -.788 .23 -.838 .24 -.834 .23 -.786 .22 -.829 .23 -.791 .06
"""


def _read(table: str) -> dict[str, dict[str, tuple[float, float]]]:
    found = {}
    for line in table.strip().splitlines():
        suite, *numbers = line.split()
        values = list(map(float, numbers))
        found[suite] = dict(zip(COLUMNS, zip(values[::2], values[1::2])))
    return found


# Suite → model → (mean change, sd), after unacceptable matched contexts on BLiMP.
UNACCEPTABLE_TABLE: Mapping[str, Mapping[str, tuple[float, float]]] = _read(_TABLE_2)


@dataclass(frozen=True, slots=True)
class Published:
    """A figure of the paper: what it is about, what the paper says, where, and which finding of a run answers it.

    `takes` is "largest" or "smallest" for the extreme over lengths of a curve, "value" or "p" for a single finding.
    """

    benchmarks: tuple[str, ...]
    what: str
    said: str
    place: str
    finding: str
    takes: str
    condition: str = ""
    setting: str = ""
    group: str = "overall"


_GRAMMAR = ("blimp", "syntaxgym")
_EVERY = ("blimp", "syntaxgym", "crows_pairs")
_DELTA = "priming_delta"

PUBLISHED = (
    Published(
        ("blimp",), "acceptable contexts", "up to +12 points", "section 4", _DELTA, "largest", condition="acceptable"
    ),
    Published(
        ("blimp",), "matched acceptable contexts", "+15 points or more", "section 4", _DELTA, "largest",
        condition="matched_acceptable",
    ),
    Published(
        ("blimp",), "mismatched acceptable contexts", "up to +5 points", "section 4", _DELTA, "largest",
        condition="mismatched_acceptable",
    ),
    Published(
        ("blimp",), "unacceptable contexts", "−30 to −40 points", "section 4", _DELTA, "smallest",
        condition="unacceptable",
    ),
    Published(
        ("blimp",), "matched unacceptable contexts", "−50 to −80 points", "section 4", _DELTA, "smallest",
        condition="matched_unacceptable",
    ),
    Published(
        ("blimp",), "mismatched unacceptable contexts", "down to −20 points", "section 4", _DELTA, "smallest",
        condition="mismatched_unacceptable",
    ),
    Published(
        ("syntaxgym", "crows_pairs"), "acceptable matched contexts", "up to +10 to +20 points", "section 4, figure 2",
        _DELTA, "largest", condition="matched_acceptable",
    ),
    Published(
        _EVERY, "length of unrelated contexts", "no effect, p > 0.2 for all models", "section 4", "regression", "p",
        setting="unrelated", group="log_length",
    ),
    Published(
        _GRAMMAR, "length and acceptability", "p < 0.002 for all models", "section 4", "regression", "p",
        setting="suite", group="log_length:acceptable",
    ),
    Published(
        _GRAMMAR, "length, match and acceptability", "p < 0.007 for all models", "section 4", "regression", "p",
        setting="suite", group="log_length:match:acceptable",
    ),
    Published(
        ("blimp",), "similarity of edited acceptable contexts and effect", "ρ 0.93, p < 0.001 (OPT 6.7B)", "section 5",
        "edit_correlation", "value", condition="matched_acceptable",
    ),
    Published(
        ("blimp",), "similarity of edited unacceptable contexts and effect", "ρ −0.7, p < 0.05 (OPT 6.7B)", "section 5",
        "edit_correlation", "value", condition="matched_unacceptable",
    ),
    Published(
        _EVERY, "accuracy before and after matched acceptable contexts", "r 0.85 (GPT-2), 0.59 (OPT 2.7B)",
        "appendix C, mean of three sets", "baseline_against_longest", "value", condition="matched_acceptable",
    ),
    Published(
        _EVERY, "accuracy before and after matched unacceptable contexts", "r 0.79 (GPT-2), 0.52 (OPT 2.7B)",
        "appendix C, mean of three sets", "baseline_against_longest", "value", condition="matched_unacceptable",
    ),
    Published(
        ("blimp",), "shared tokens and a judgement, mismatched contexts", "r < 0.05, p > 0.1 for all models",
        "appendix D", "overlap_and_judgement", "value", condition="mismatched_acceptable", setting="token_f1",
    ),
    Published(
        ("blimp",), "shared dependency labels and a judgement, mismatched contexts", "r < 0.05, p > 0.1 for all models",
        "appendix D", "overlap_and_judgement", "value", condition="mismatched_acceptable", setting="dependency_f1",
    ),
    Published(
        ("blimp",), "shared tokens and accuracy, suite by suite", "ρ 0.18, p < 0.001 (GPT-2)", "appendix D",
        "matrix_correlation", "value", setting="token_f1 and accuracy",
    ),
    Published(
        ("blimp",), "shared dependency labels and accuracy, suite by suite", "ρ 0.11, p < 0.001 (GPT-2)", "appendix D",
        "matrix_correlation", "value", setting="dependency_f1 and accuracy",
    ),
)  # fmt: skip
