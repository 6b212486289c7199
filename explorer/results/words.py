"""A run's stored tokens as words: one row per word of each scored text, with its surprisal in nats."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from explorer.errors import RunError
from explorer.results.packed_run import Run
from explorer.rows.schema import FACTORS
from explorer.scoring.word_scores import By, sum_by_word

ABOUT = ("instance_id", "request", "option", "role", *FACTORS)
# What a row says beyond which scored text it is of.
COLUMNS = {
    "word": "its number in the text, from 1",
    "covers": "how many words it is: more than one where a token reaches over several",
    "text": "the word, with the marks attached to it",
    "start": "its first character in the scored text",
    "tokens": "how many tokens were added up",
    "surprisal": "minus the sum of their log-probabilities, in nats",
    "straddles": "whether the text's first token began in the context",
    "reason": "why there is no surprisal",
}
NO_TOKENS = "the run kept no tokens of it"


def word_table(run: Run, by: By = "auto") -> pd.DataFrame:
    """A row per word, in the order of the run; a text without tokens has one row, with the reason.

    Words that an instance brings with it stand for those that `by` would find. RunError where no token was kept.
    """
    scores = run.read("scores")
    has_tokens = scores["token_texts"].notna() if len(scores) else pd.Series(dtype=bool)
    if not has_tokens.any():
        raise RunError(
            f"{run.run_id} holds no scored tokens, from which words are added up. Do the run on this machine, in a "
            "study that keeps them (accuracy does, unless told --set tokens=false)."
        )
    words_given = _words_given(run)
    rows: list[dict[str, Any]] = []
    for score in scores.to_dict("records"):
        about = {name: score[name] for name in ABOUT} | {"straddles": score["straddles"]}
        texts, logprobs = score["token_texts"], score["token_logprobs"]
        if texts is None or not hasattr(texts, "__len__"):
            rows.append({**about, "word": 1, "reason": score["reason"] or NO_TOKENS})
            continue
        option_words = words_given.get(score["instance_id"], {}).get(str(score["option"]), ())
        words = sum_by_word(
            list(texts), [float("nan") if value is None else float(value) for value in logprobs], by, option_words
        )
        if isinstance(words, str):
            rows.append({**about, "word": 1, "reason": score["reason"] or words})
            continue
        number = 1
        for word in words:
            rows.append(
                {
                    **about, "word": number, "covers": word.covers, "text": word.text, "start": word.start,
                    "tokens": word.tokens, "surprisal": -word.logprob, "reason": word.reason,
                }
            )  # fmt: skip
            number += word.covers
    return pd.DataFrame(rows, columns=[*ABOUT, *COLUMNS])


def _words_given(run: Run) -> dict[str, dict[str, list[str]]]:
    """By instance the words of its options, by number, where its source gave them."""
    instances = run.read("instances", ["instance_id", "payload"])
    words_given = {}
    for name, payload in zip(instances["instance_id"], instances["payload"], strict=True):
        if payload and '"words"' in payload and (words := json.loads(payload)["extra"].get("words")):
            words_given[name] = words
    return words_given
