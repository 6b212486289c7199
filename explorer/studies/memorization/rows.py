"""What a memorization run stores, and how it is read back.

Tables and columns, beside what every run has:

instances   as ever
scores      role as in an accuracy run (option, target, region, label): the requests behind the verdict, from 0
            role "text", number 10,000 + option: a whole text (prompts.option_texts) after nothing; tokens kept
            role "extraction", 20,000 + option: the same text as it stands after a prompt, only where the scoring
              policy puts another token before a prompt than before a whole text
            role "neighbour", 1,000,000 + 1,000 * option + part; `part` numbers a text's neighbors from 0
variants    condition "neighbour", setting = who proposed ("masked LM roberta-base", "causal-LM infilling by NAME"),
            part as in scores; edit = JSON {option, start, original, substitute, logprob, weights (the proposer's)};
            payload = null: the neighbor's text is in scores.continuation
measures    option >= 0, one row per option and measure; nan has its reason:
              tde_accuracy      1 where the greedy completion of the first floor(L/2) tokens is the rest, else 0
              tde_likelihood    nats, log P of the rest after the first half
              tde_tokens        tokens of the rest
              mia_loss          nats a token, mean over the whole text
              mia_perplexity    exp(mia_loss)
              mia_neighbours    nats a token, mia_loss less the mean loss of the neighbors
              neighbour_loss    nats a token, that mean
              neighbours        how many neighbors it is the mean of
              min_k             nats a token, mean over the least likely tokens
              zlib              nats a token and compressed byte
              text_logprob      nats, log P of the whole text
              text_tokens       scored tokens of the text
              member            where labels=index: 1 where the index holds the whole text word for word, 0 where no
                                span of it holds half of its characters, else nan
              verbatim_share    the share of the text's characters in its longest span there
            option = -1: correct, margin, chosen, ... of the verdict, as in an accuracy run

findings    everything an accuracy run concludes, and for each group (popularity/groups.py) and attack, with
            setting = attack (a key of ATTACKS):
              memorization_score      mean over instances with its interval; condition = side: correct, wrong, text
              classifier_f1           macro-F1 of pooled out-of-fold predictions of correctness; condition = logistic,
                                      svm or majority; detail {in_sample, folds, right}; tasks and "overall" only
              classifier_auc          AUC of pooled out-of-fold decision scores with its bootstrap interval; condition =
                                      logistic or svm; detail {in_sample, roc: {false_positive, true_positive}}
              classifier_coefficient  unpenalized logit, log odds per unit; low, high (Wald), p; condition = side;
                                      detail {per_sd, stars, se, z, intercept, right, p_holm, tests}; where it cannot be
                                      fitted value is nan, there are no stars, and reason says why
              memorization_half       accuracy of the instances at or below the median of the splitting score
                                      (condition = low) and above it (high); detail {median, ties}
              memorization_difference      high - low, Newcombe interval, Fisher's p
              memorization_difference_over_paradigms, _rank_split, _slope, _auc, _curve: as in a popularity run
            The splitting score of pairs and choices is (correct - wrong) / |correct|. memorization_published_half and
            memorization_published_difference divide by the signed score of the correct option instead,
            memorization_plain_half and memorization_plain_difference by nothing. Passages, labeled texts, region items
            and texts are split by the score itself (of region items the mean over conditions), once.
              membership_auc, members_found_at_1, members_found_at_5  condition = labels: index, planted, control;
                                      grp = overall, or "seen once", "seen 4 times" ... beside all that were not seen;
                                      detail {members, others}; setting also min_k_plus and recall
              neighbours_by           grp "overall", setting = who proposed, value = instances with neighbors, reason
                                      names the cap; detail {method, weights, per_text, cap, beyond_cap, made}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from explorer.records import Score
from explorer.rows.builders import Row, measure_row
from explorer.scoring import attacks
from explorer.scoring.attacks import Signal

if TYPE_CHECKING:
    from explorer.runs.folder import RunFolder

Side = Literal["correct", "wrong", "text"]
TEXT, EXTRACTION, NEIGHBOR = "text", "extraction", "neighbour"
NUMBERS = {TEXT: 10_000, EXTRACTION: 20_000, NEIGHBOR: 1_000_000}
PER_OPTION = 1_000  # request numbers of the neighbors of one option
TWO_SIDED = ("pair", "choice")  # kinds with a correct and a wrong option
SMALLEST = 1e-6  # a score nearer to zero is no divisor


@dataclass(frozen=True, slots=True)
class Attack:
    """A score of memorization: what people call it, its unit, and which end of it speaks for having been seen."""

    title: str
    unit: str
    seen: Literal["high", "low"]


ATTACKS: Mapping[str, Attack] = {
    "tde_accuracy": Attack("TDE accuracy", "1 = extracted", "high"),
    "tde_likelihood": Attack("TDE likelihood", "nats", "high"),
    "mia_loss": Attack("MIA loss", "nats a token", "low"),
    "mia_perplexity": Attack("MIA perplexity", "exp of nats a token", "low"),
    "mia_neighbours": Attack("MIA neighbors", "nats a token", "low"),
    "min_k": Attack("Min-k %", "nats a token", "low"),
    "zlib": Attack("Zlib ratio", "nats a token and byte", "low"),
}


def text_measures(
    instance_id: str,
    option: int,
    text: str,
    whole: Score,
    prompted: Score,
    neighbors: Sequence[Score] | str,
    min_k: float,
) -> list[Row]:
    """Rows of `measures` about one text.

    `prompted` is its score as it stands after a prompt, from which extraction is read; `neighbors` the scores of its
    neighbors, or why there are none.
    """
    extracted = attacks.extraction(prompted)
    loss = attacks.loss(whole)
    signals: dict[str, Signal] = {
        "tde_accuracy": extracted.accuracy,
        "tde_likelihood": extracted.likelihood,
        "mia_loss": loss,
        "mia_perplexity": attacks.perplexity(whole),
        "min_k": attacks.min_k(whole, min_k),
        "zlib": attacks.zlib_ratio(whole, text),
        "text_logprob": Signal(whole.sum, whole.reason),
        "tde_tokens": Signal(float(extracted.tokens)),
        "text_tokens": Signal(float(whole.scored)),
    }
    if isinstance(neighbors, str):
        signals["mia_neighbours"] = Signal(math.nan, neighbors)
    else:
        losses = [attacks.loss(score) for score in neighbors]
        against = attacks.against_neighbours(loss, losses)
        signals["mia_neighbours"] = against
        signals["neighbour_loss"] = Signal(loss.value - against.value, against.reason)
        signals["neighbours"] = Signal(float(sum(not loss.reason for loss in losses)))
    return [
        measure_row(instance_id, name, signal.value, option=option, reason=signal.reason)
        for name, signal in signals.items()
    ]


def scored_instances(folder: RunFolder) -> pd.DataFrame:
    """A row per instance: group, kind, text_hash, correct, and for each attack a column "attack/side" of its scores."""
    frame = folder.read(
        "instances", ["instance_id", "benchmark", "grp", "phenomenon", "field", "kind", "gold", "text_hash"]
    )
    measures = folder.read("measures", ["instance_id", "option", "measure", "value", "part"])
    measures = measures[measures["part"].isna()]
    verdicts = measures[(measures["measure"] == "correct") & (measures["option"] == -1)]
    frame["correct"] = _of_instances(frame, verdicts.drop_duplicates("instance_id").set_index("instance_id")["value"])
    of_attacks = measures[measures["measure"].isin(list(ATTACKS)) & (measures["option"] >= 0)]
    gold = of_attacks["instance_id"].map(frame.set_index("instance_id")["gold"])
    kind = of_attacks["instance_id"].map(frame.set_index("instance_id")["kind"])
    two = kind.isin(TWO_SIDED) & gold.notna()
    of_attacks = of_attacks.assign(
        side=np.where(~two, "text", np.where(of_attacks["option"] == gold, "correct", "wrong"))
    )
    for (name, side), rows in of_attacks.groupby(["measure", "side"], sort=False):
        means = rows.groupby("instance_id")["value"].mean()
        # With a gap in one of several wrong options their mean is a gap, too.
        means[rows.loc[rows["value"].isna(), "instance_id"].unique()] = math.nan
        frame[f"{name}/{side}"] = _of_instances(frame, means)
    return frame


def sides_of(frame: pd.DataFrame, attack: str) -> tuple[Side, ...]:
    """Which sides of an attack the instances of a frame have scores of."""
    sides: tuple[Side, ...] = ("correct", "wrong", "text")
    return tuple(side for side in sides if f"{attack}/{side}" in frame and frame[f"{attack}/{side}"].notna().any())


def _of_instances(frame: pd.DataFrame, values: pd.Series) -> np.ndarray:
    return values.reindex(frame["instance_id"]).to_numpy(dtype=float)
