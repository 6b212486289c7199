"""What is known of an instance across studies: each measure with its unit, its direction and its query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that an instance has in a run.

    studies    whose runs hold it, the one that is wanted most first
    query      asks a run, whose id is $1, for instance_id and value
    of_text    whether it is about the text alone, so that a run of any model can tell it
    """

    title: str
    unit: str
    direction: str  # what more of it means
    studies: tuple[str, ...]
    query: str
    of_text: bool = False


def mean_of_all(value: str, among: str) -> str:
    """The mean of a value over the rows of a group that are meant; NULL where one of these has none."""
    gaps = f"count(*) FILTER (({among}) AND ({value} IS NULL OR NOT isfinite({value})))"
    return f"CASE WHEN {gaps} = 0 THEN avg({value}) FILTER ({among}) END"


def _of_whole(*names: str, where: str = "(condition IS NULL OR condition = 'original') AND setting IS NULL") -> str:
    """A measure of the whole instance."""
    return f"""
        SELECT instance_id, max(value) AS value
        FROM measures
        WHERE run_id = $1
            AND measure IN ({", ".join(f"'{name}'" for name in names)})
            AND option = -1
            AND part IS NULL
            AND length IS NULL
            AND k IS NULL
            AND language IS NULL
            AND {where}
        GROUP BY instance_id
    """


def _of_gold(name: str) -> str:
    """A measure of the right option's text, of the first text where none is right."""
    return f"""
        SELECT measures.instance_id, max(measures.value) AS value
        FROM measures
        JOIN instances USING (run_id, instance_id)
        WHERE measures.run_id = $1
            AND measures.measure = '{name}'
            AND measures.option = coalesce(instances.gold, 0)
            AND (measures.condition IS NULL OR measures.condition = 'original')
            AND measures.setting IS NULL
        GROUP BY measures.instance_id
    """


def _gold_less_others(name: str) -> str:
    """A measure of the right option less its mean over the others; of the only text where there is one.

    With a gap in one of the others their mean is a gap, too.
    """
    return f"""
        SELECT measures.instance_id,
            max(measures.value) FILTER (measures.option = coalesce(instances.gold, 0))
                - CASE
                    WHEN count(*) FILTER (measures.option <> coalesce(instances.gold, 0)) = 0 THEN 0
                    ELSE {mean_of_all("measures.value", "measures.option <> coalesce(instances.gold, 0)")}
                END AS value
        FROM measures
        JOIN instances USING (run_id, instance_id)
        WHERE measures.run_id = $1
            AND measures.measure = '{name}'
            AND measures.option >= 0
            AND measures.setting IS NULL
        GROUP BY measures.instance_id
    """


def _perturbed_measure(name: str, setting: str = "NV") -> str:
    """A measure of the perturbed version, of whichever option it was taken."""
    return f"""
        SELECT instance_id, max(value) AS value
        FROM measures
        WHERE run_id = $1
            AND measure = '{name}'
            AND condition = 'perturbed'
            AND setting = '{setting}'
            AND part IS NULL
        GROUP BY instance_id
    """


def _change_when_perturbed(*names: str, setting: str = "NV") -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return f"""
        SELECT instance_id,
            max(value) FILTER (condition = 'perturbed' AND setting = '{setting}')
                - max(value) FILTER (condition = 'original') AS value
        FROM measures
        WHERE run_id = $1
            AND measure IN ({listed})
            AND option = -1
            AND part IS NULL
        GROUP BY instance_id
    """


def _change_when_primed(condition: str) -> str:
    """The margin after the longest context of a condition less the margin without one."""
    return f"""
        SELECT instance_id,
            max_by(value, length) FILTER (condition = '{condition}' AND length > 0 AND NOT isnan(value))
                - max(value) FILTER (condition = 'baseline') AS value
        FROM measures
        WHERE run_id = $1
            AND measure = 'margin'
            AND option = -1
            AND part IS NULL
            AND setting IS NULL
            AND condition IN ('baseline', '{condition}')
        GROUP BY instance_id
    """


def _replicated_measure(aggregate: str) -> str:
    """How much of a text comes back from its first piece under full information, at the k that is asked for."""
    return f"""
        SELECT instance_id, {aggregate} AS value
        FROM measures
        WHERE run_id = $1
            AND measure = 'rouge_l_recall'
            AND setting = 'full'
        GROUP BY instance_id
    """


ROUGE = "ROUGE-L recall, by characters in scripts that part no words"
SCORED = ("accuracy", "popularity", "perturbation")  # studies that judge each instance as it stands
COUNTED = ("popularity", "perturbation")

MEASURES: Mapping[str, Measure] = {
    "correct": Measure(
        "Correct", "0 or 1, a tie 0.5", "more often right", SCORED, _of_whole("correct"),
    ),
    "margin": Measure(
        "Margin", "nats", "surer of the right option", SCORED, _of_whole("margin", "logprob"),
    ),
    "ips": Measure(
        "Popularity (IPS)", "1 to 10", "n-grams more frequent in the corpus", COUNTED, _of_gold("ips"), of_text=True,
    ),
    "relative_difference": Measure(
        "Popularity, relative difference", "share", "right option more popular than the others", COUNTED,
        _of_whole("relative_difference"), of_text=True,
    ),
    "swaps": Measure(
        "Swapped words", "words", "more words swapped", ("perturbation",), _perturbed_measure("swaps"), of_text=True,
    ),
    "bertscore": Measure(
        "BERTScore of the swap", "F1", "meaning kept better", ("perturbation",), _perturbed_measure("bertscore"),
        of_text=True,
    ),
    "perturbed_correct": Measure(
        "Correct after swaps", "0 or 1, a tie 0.5", "more often right", ("perturbation",),
        _perturbed_measure("correct"),
    ),
    "perturbed_change": Measure(
        "Swapped, change of the margin", "nats", "surer after the swaps", ("perturbation",),
        _change_when_perturbed("margin", "logprob"),
    ),
    **{
        f"primed_{condition}": Measure(
            f"Primed, {name}", "nats, change of the margin", "surer after the longest context", ("priming",),
            _change_when_primed(condition),
        )
        for condition, name in {
            "matched_acceptable": "matched acceptable",
            "matched_unacceptable": "matched unacceptable",
            "mismatched_acceptable": "mismatched acceptable",
            "mismatched_unacceptable": "mismatched unacceptable",
            "unrelated": "unrelated",
        }.items()
    },
    "tde_likelihood": Measure(
        "TDE likelihood", "nats, right less wrong", "right option's second half likelier after its first",
        ("memorization",), _gold_less_others("tde_likelihood"),
    ),
    "mia_loss": Measure(
        "MIA loss", "nats a token, right less wrong", "right option's text less expected",
        ("memorization",), _gold_less_others("mia_loss"),
    ),
    "mia_neighbours": Measure(
        "MIA neighbors", "nats a token, right less wrong", "right option's text less expected than its neighbors",
        ("memorization",), _gold_less_others("mia_neighbours"),
    ),
    "min_k": Measure(
        "Min-k %", "nats a token, right less wrong", "right option's rarest tokens less expected",
        ("memorization",), _gold_less_others("min_k"),
    ),
    "replicated_zero": Measure(
        "Replicated without demonstrations", ROUGE, "more of the text comes back", ("icl",),
        _replicated_measure("max(value) FILTER (k = 0)"),
    ),
    "replicated_many": Measure(
        "Replicated after the most demonstrations", ROUGE, "more of the text comes back", ("icl",),
        _replicated_measure("arg_max_null(value, k)"),
    ),
    "label_correct": Measure(
        "Label right after the most demonstrations", "0 or 1, a tie 0.5", "more often right", ("icl",),
        """
        SELECT instance_id, arg_max_null(value, k) AS value
        FROM measures
        WHERE run_id = $1
            AND measure = 'correct'
            AND k IS NOT NULL
            AND coalesce(part, 0) = 0
        GROUP BY instance_id
        """,
    ),
    "known": Measure(
        "ID known", "0 or 1", "the answer is the right ID", ("ontology",), _of_whole("correct", where="TRUE"),
    ),
    "web_count": Measure(
        "Web count", "log10 of 1 + hits", "concept more popular", ("ontology",),
        f"SELECT instance_id, log10(1 + value) AS value FROM ({_of_whole('web_count', where='TRUE')})", of_text=True,
    ),
    "label_jaccard": Measure(
        "Label overlap of a wrong ID", "Jaccard", "wrong ID nearer by its label", ("ontology",),
        _of_whole("label_jaccard", where="TRUE"),
    ),
    "id_levenshtein": Measure(
        "Edits from a wrong ID", "edits", "wrong ID further away", ("ontology",),
        _of_whole("id_levenshtein", where="TRUE"),
    ),
    "gold_logprob": Measure(
        "Log-probability of the right ID", "nats", "right ID likelier", ("ontology",),
        _of_whole("gold_logprob", where="TRUE"),
    ),
    "gold_gain": Measure(
        "What the label adds to the right ID", "nats", "label speaks more for the right ID", ("ontology",),
        _of_whole("gold_gain", where="TRUE"),
    ),
}  # fmt: skip
