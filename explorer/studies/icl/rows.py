"""The in-context study's rows: what is stored where, and how a verdict is put together.

instances     the test items, in the order drawn (balanced by label in every beginning)
variants      condition "instance": a test item's two pieces; condition "demonstration": one of the demonstrations
              (`instance_id` is its own; not among `instances`), payload = the whole Instance.
              edit = JSON {"first": ..., "second": ..., "blank": n, "blanks": n}, demonstrations also
              {"places": [place in order 0, in order 1, ...], "label": "1 (entailment)"}
generations   role "replication", factors setting (full, pairs_labels, pairs, general) and k: prompt = the item's own
              part of the prompt (`prompts.full_prompt` rebuilds the whole), text = the raw answer, verdict = the
              rule's: exact, near-exact, inexact; null with a reason where there was no answer
              role "judge", same factors: prompt = what the judge read, text = its raw answer, verdict = exact,
              near-exact, inexact or unparsed; only for completions that are neither exact nor empty
              role "label_answer" (performance=published), factors k and part (repeat): text = the raw answer,
              verdict = the label's name that it gives, or "unparsed"
scores        role "label", factors k and part (order of the demonstrations, from 0), option = label; no context
measures      of replications (setting, k): rouge_l_recall, cosine, same_names (1 or 0; reason lists what differs)
              of labels (k, part): correct, margin, chosen (as in the accuracy study); of written labels (k, part):
              correct_written
findings      by verdict in the factor condition: rule, judge, people, final (people, else judge, else rule)
  replication            setting, k, condition: share exact + near-exact, Wilson interval; grp overall and each label
  replication_exact      the same, exact alone
  label_accuracy         k, part: by label scoring in one order; part null: mean over orders (low, high over orders)
  label_accuracy_written k, part (repeat), part null: mean over repeats
  accuracy_memorized, accuracy_other, accuracy_gap     setting, k, condition: label accuracy (order 0) of items that are
                         exact or near-exact and of the others; the gap with Newcombe interval and Fisher's p
  pearson, pearson_exact setting, condition: over k, replication and mean label accuracy
  transition             setting, condition, k (the larger), grp "near-exact to exact": of the near-exact items at the
                         k before, the share that is exact now; detail {"from": k before, "counts": {"a → b": n}}
  kappa                  grp "rule, judge", "rule, people", "judge, people": over completions that both have judged and
                         that are not equal to the reference; detail {"agreed": share, "of": [kinds]}
  skipped_k              grp replication or labels, setting, k: value = the largest k that fits; reason says why
  drawn                  grp instances or demonstrations: value = how many; left_out = how many too few; reason
  prefill                grp replication, judge (setting, k), labels or written (k, part): value = tokens read; detail
                         {"prompt_tokens": as if every prompt had been read alone, "new_tokens", "seconds"}

People's verdicts are lines of reviews.jsonl: {"kind": "icl_verdict", "instance_id", "setting", "k", "verdict": exact,
near-exact or inexact, "by": who or ""}; the last one about a completion counts, a verdict "" takes it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from explorer import prompts_icl
from explorer.rows.builders import Row, payload
from explorer.similarity.replication import UNPARSED
from explorer.variants.demonstrations import Pieces

Key = tuple[str, str, int]
Read = Callable[[str, Sequence[str]], pd.DataFrame]

REVIEW = "icl_verdict"
SOURCES = ("rule", "judge", "people", "final")
KEYS = ["instance_id", "setting", "k"]
# Column of the verdict table, measure, and which column of it.
MEASURED = (
    ("rouge", "rouge_l_recall", "value"),
    ("rouge_by", "rouge_l_recall", "reason"),
    ("cosine", "cosine", "value"),
    ("differing", "same_names", "reason"),
)


def piece_row(pieces: Pieces) -> Row:
    """A test item's pieces as a row of `variants`."""
    return _variant(pieces, "instance", {})


def demonstration_rows(orders: Sequence[Sequence[Pieces]]) -> list[Row]:
    """The demonstrations as rows of `variants`, in the first order, each with its place in every order."""
    places: list[dict[str, int]] = [{pieces.instance.id: i for i, pieces in enumerate(order)} for order in orders]
    return [
        _variant(
            pieces,
            "demonstration",
            {
                "places": [place[pieces.instance.id] for place in places],
                "label": prompts_icl.numbered_label(pieces.instance),
            },
        )
        for pieces in orders[0]
    ]


def _variant(pieces: Pieces, condition: str, more: Mapping[str, Any]) -> Row:
    edit = {"first": pieces.first, "second": pieces.second, "blank": pieces.blank, "blanks": pieces.blanks, **more}
    return {
        "instance_id": pieces.instance.id,
        "variant_id": f"{pieces.instance.id}#{condition}",
        "condition": condition,
        "edit": json.dumps(edit, ensure_ascii=False),
        "accepted": True,
        "reason": "",
        "payload": payload(pieces.instance),
    }


def review(instance_id: str, setting: str, k: int, verdict: str, by: str = "") -> Row:
    """A person's verdict on a completion, for `RunFolder.add_review`; "" takes an earlier one back."""
    return {"kind": REVIEW, "instance_id": instance_id, "setting": setting, "k": int(k), "verdict": verdict, "by": by}


READ = ("generations", "instances", "measures")  # the tables that `verdict_table` reads


def verdict_table(read: Read, reviews: Sequence[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """A row per completion with all verdicts side by side, in run order, for tables, review and findings.

    `read` gives columns of a run's table: `RunFolder.read`, or `queries.rows` for a stored run. Columns:
    instance_id, setting, k, grp, label, position, first, reference, raw, completion, rule, judge, people, final (None
    where nobody has judged), rouge, rouge_by ("by characters" or ""), cosine, differing, reason.
    """
    answers = read("generations", [*KEYS, "role", "text", "verdict", "reason"])
    completions = answers[answers["role"] == "replication"].drop(columns=["role"])
    table = completions.rename(columns={"text": "raw", "verdict": "rule"}).astype({"k": int})
    instances = read("instances", ["instance_id", "grp", "label", "position"])
    table = table.merge(_pieces(read), on="instance_id").merge(instances, on="instance_id")
    table["completion"] = [prompts_icl.completion(text) if isinstance(text, str) else "" for text in table["raw"]]
    keys = list(zip(table["instance_id"], table["setting"], table["k"], strict=True))
    judged = _by_key(answers[answers["role"] == "judge"], "verdict")
    people = people_verdicts(reviews)
    rule = [_none_for_nan(kind) for kind in table["rule"]]
    judge = [
        as_judged(kind, _none_for_nan(judged.get(key))) if judged else None
        for key, kind in zip(keys, rule, strict=True)
    ]
    own_eyes = [people.get(key) for key in keys]
    counts = [final(*kinds) for kinds in zip(rule, judge, own_eyes, strict=True)]
    for source, kinds in zip(SOURCES, (rule, judge, own_eyes, counts), strict=True):
        # Of objects, so that a verdict that nobody gave stays None.
        table[source] = pd.Series(kinds, index=table.index, dtype=object)
    measures = read("measures", [*KEYS, "measure", "value", "reason"])
    for name, measure, column in MEASURED:
        values = _by_key(measures[measures["measure"] == measure], column)
        table[name] = [values.get(key) for key in keys]
    table["differing"] = table["differing"].fillna("")
    # "by characters" where a script parts no words; a reason why there is no number stands elsewhere
    table["rouge_by"] = table["rouge_by"].fillna("").where(table["rouge"].notna(), "")
    return table.sort_values(["setting", "k", "position"], kind="stable").reset_index(drop=True)


def people_verdicts(reviews: Sequence[Mapping[str, Any]]) -> dict[Key, str]:
    """The last verdict of people on each completion."""
    by_completion: dict[Key, str] = {}
    for review in reviews:
        if review.get("kind") == REVIEW:
            key = (str(review["instance_id"]), str(review["setting"]), int(review["k"]))
            by_completion.pop(key, None)
            if review["verdict"]:
                by_completion[key] = str(review["verdict"])
    return by_completion


def as_judged(rule: str | None, answer: str | None) -> str | None:
    """A judge's verdict: exact is what is equal, so that "exact" about texts that differ counts as near-exact."""
    if rule == "exact":
        return "exact"
    return "near-exact" if answer == "exact" else answer


def final(rule: str | None, judge: str | None, people: str | None) -> str | None:
    """The verdict that counts: people's, else the judge's where it could be read, else the rule's."""
    if people:
        return people
    return judge if judge and judge != UNPARSED else rule


def _pieces(read: Read) -> pd.DataFrame:
    variants = read("variants", ["instance_id", "condition", "edit"])
    of_items = variants[variants["condition"] == "instance"]
    edits = [json.loads(text) for text in of_items["edit"]]
    return pd.DataFrame(
        {
            "instance_id": of_items["instance_id"].to_numpy(),
            "first": [edit["first"] for edit in edits],
            "reference": [edit["second"] for edit in edits],
        }
    )


def _by_key(rows: pd.DataFrame, column: str) -> dict[Key, Any]:
    keys = zip(rows["instance_id"], rows["setting"], rows["k"].astype(int), strict=True)
    return dict(zip(keys, rows[column], strict=True))


def _none_for_nan(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
