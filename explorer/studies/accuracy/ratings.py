"""What an accuracy run over rated sentences concludes: do sentences that people rate higher score higher?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorer.rows.builders import Row, finding_row
from explorer.stats.pearson import pearson
from explorer.stats.spearman import spearman
from explorer.studies.accuracy import declared

# Reduction → the column of `scores` that a sum is divided by.
FOR_LENGTH = {"mean_token": "scored", "per_char": "chars", "per_byte": "bytes"}


def correlations(instances: pd.DataFrame, measures: pd.DataFrame, scores: pd.DataFrame) -> list[Row]:
    """Pearson and Spearman correlations of ratings with scores, of all sentences and of each group.

    Only scores for their length are correlated: the sum falls with every token, whatever people think of a sentence.
    """
    by_id = measures[measures["measure"] == "rating"].drop_duplicates("instance_id").set_index("instance_id")["value"]
    rated = by_id.reindex(instances["instance_id"]).to_numpy()
    of_sentences = scores[scores["role"] == "option"].drop_duplicates("instance_id").set_index("instance_id")
    of_sentences = of_sentences.reindex(instances["instance_id"])
    groups = instances["grp"].to_numpy()
    names = list(dict.fromkeys(groups)) if len(set(groups)) > 1 else []
    rows = []
    for name, column in FOR_LENGTH.items():
        values = (of_sentences["logprob"] / of_sentences[column]).to_numpy(dtype=float)
        for group in ("overall", *names):
            chosen = np.ones(len(groups), dtype=bool) if group == "overall" else groups == group
            line, order = pearson(values[chosen], rated[chosen]), spearman(values[chosen], rated[chosen])
            rows.append(finding_row(declared.RATING_PEARSON, group, line, factors={"setting": name}))
            rows.append(finding_row(declared.RATING_SPEARMAN, group, order, factors={"setting": name}))
    return rows
