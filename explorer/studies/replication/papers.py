"""Where each table and figure of the four papers is in the app, or why it is not.

`docs/PAPERS.md` is this list as text; `markdown` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PAPERS: Mapping[str, str] = {
    "popularity": "Lexical Popularity",
    "priming": "Acceptability in context",
    "ontologies": "Do LLMs dream of ontologies?",
    "icl": "Memorization in in-context learning",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A table or figure of a paper and where a run's own is shown.

    page, choices   title of the page, and what its address chooses; no page where it is in none
    view            what is to be looked at there
    remark          what differs, or why it is not in the app
    """

    paper: str
    number: str
    what: str
    page: str = ""
    view: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""


def _popularity(number: str, what: str, page: str, view: str = "", remark: str = "", **choices: str) -> Place:
    return Place("popularity", number, what, page, view, choices, remark)


def _priming(number: str, what: str, view: str, remark: str = "", **choices: str) -> Place:
    return Place("priming", number, what, "Priming", view, {"priming": view, **choices}, remark)


def _icl(number: str, what: str, view: str, remark: str = "", **choices: str) -> Place:
    return Place("icl", number, what, "In-context", view, {"facet": view, **choices}, remark)


def _printed(paper: str, number: str, what: str, table: str = "", remark: str = "") -> Place:
    """A table whose printed figures stand on the replication board."""
    return Place(
        paper, number, what, "Replication", table or number, {"source": paper, "table": table or number}, remark
    )


_LABELS = "carries OLMo-7B's labels: a target for OLMo-7B alone"
_NO_COEFFICIENTS = f"{_LABELS}; its coefficients are left out, their scale and sign being unknown"
_SLIP = "does not follow from the released files: shown with our value, no target"

PLACES: tuple[Place, ...] = (
    _popularity("Figure 1", "accuracy of unpopular and popular halves, Pythia 6.9B", "Popularity",
                "Unpopular and popular halves"),
    _popularity("Figure 2", "frequency of words and their synonyms", "Perturbation", "Full runs", facet="Full runs"),
    _popularity("Figure 3", "BERTScore and ROUGE-L of original and perturbed", "Perturbation", "Full runs",
                "all tasks in one picture, as quantiles", facet="Full runs"),
    _printed("popularity", "Table 1", "functional tasks before and after swaps", "",
             "perplexities printed 100 times too large are mended"),
    _printed("popularity", "Table 2", "formal tasks before and after swaps", "",
             "its anaphor column contradicts Table D, whose originals are shown; argument structure is of "
             "paradigms that the paper does not name"),
    _popularity("Figure 4", "popularity before and after swaps, LAMBADA", "Perturbation", "Full runs",
                facet="Full runs", benchmark="lambada"),
    _printed("popularity", "Table 3", "popularity of instances that flip"),
    _popularity("Figure 5", "macro-F1 of correctness from memorization, Pythia 6.9B", "Memorization", "All tasks",
                f"it draws figures of Tables E and G; {_LABELS}", facet="All tasks"),
    _printed("popularity", "Table 4", "accuracy of halves by memorization, Pythia 6.9B", "", _LABELS),
    _popularity("Table A", "tasks with an example of a swap each", "Perturbation", "Full runs",
                "its sentences are the benchmarks'; the pairs of a run are shown instead", facet="Full runs"),
    _popularity("Figure A", "accuracy of unpopular and popular halves, the other models", "Popularity",
                "Unpopular and popular halves"),
    _printed("popularity", "Table B", "swaps judged to keep the meaning", "",
             "the judge of a run is on the page Perturbation, view Same meaning?"),
    _printed("popularity", "Table C", "functional tasks, nouns and verbs apart"),
    _printed("popularity", "Table D", "formal tasks, nouns and verbs apart"),
    _printed("popularity", "Table E", "logistic regression, functional tasks, Pythia", "", _NO_COEFFICIENTS),
    _printed("popularity", "Table F", "logistic regression, functional tasks, OLMo", "", _NO_COEFFICIENTS),
    _printed("popularity", "Table G", "logistic regression, formal tasks, Pythia", "", _NO_COEFFICIENTS),
    _printed("popularity", "Table H", "logistic regression, formal tasks, OLMo", "", _NO_COEFFICIENTS),
    _printed("popularity", "Table I", "support vector machine, functional tasks, Pythia", "", _LABELS),
    _printed("popularity", "Table J", "support vector machine, functional tasks, OLMo", "", _LABELS),
    _printed("popularity", "Table K", "accuracy of halves by memorization, the other models", "", _LABELS),
    _priming("Figure 1", "scheme of contexts before a pair", "Live lab", "the lab lays out a real context"),
    _priming("Figure 2", "change of accuracy by condition and length", "Curves"),
    _priming("Figure 3", "acceptable and unacceptable contexts, match collapsed", "Curves",
             lines="Acceptable and unacceptable, matched or not"),
    _priming("Figure 4", "matched and mismatched contexts apart", "Curves",
             lines="Matched and mismatched, side by side"),
    _priming("Figure 5", "perturbed contexts", "Perturbed contexts"),
    _priming("Figure 6", "stereotypical contexts, CrowS-Pairs", "Curves", benchmark="crows_pairs"),
    _priming("Figure 7", "anti-stereotypical contexts, CrowS-Pairs", "Curves", benchmark="crows_pairs"),
    _priming("Figure 8", "anti-stereotypical matched contexts against the ideal", "Curves", benchmark="crows_pairs",
             measure="Accuracy"),
    _priming("Figure 9", "token similarity of perturbed contexts and their effect", "Perturbed contexts"),
    _priming("Figure 10", "baseline and longest acceptable context, suite by suite", "Suites"),
    _priming("Figure 11", "baseline and longest unacceptable context, suite by suite", "Suites"),
    _priming("Figure 12", "token and dependency overlap of suites", "Heat maps"),
    _priming("Figure 13", "accuracy and change after ten sentences of another suite", "Heat maps"),
    _priming("Figure 14", "the same for SyntaxGym", "Heat maps", benchmark="syntaxgym"),
    _priming("Figure 15", "perplexity margins", "Curves", measure="Perplexity margin"),
    _priming("Figure 16", "acceptable and unacceptable contexts, SyntaxGym", "Curves",
             lines="Acceptable and unacceptable, matched or not", benchmark="syntaxgym"),
    _priming("Figure 17", "matched and mismatched contexts apart, SyntaxGym", "Curves", benchmark="syntaxgym",
             lines="Matched and mismatched, side by side"),
    _priming("Table 1", "suites that gain most from acceptable contexts", "Suites",
             "the text edition at hand prints no figures for it; a run's own suites are ranked",
             contexts="matched_acceptable"),
    _printed("priming", "Table 2", "suites that lose most from unacceptable contexts"),
    Place("ontologies", "Figure 1", "concepts and mean count of each bucket", "Ontologies", "Results"),
    _printed("ontologies", "Table 1", "accuracy"),
    _printed("ontologies", "Table 2", "nearness of wrong answers", "", _SLIP),
    _printed("ontologies", "Table 3", "distinct predicted IDs"),
    Place("ontologies", "Figure 2", "accuracy by popularity", "Ontologies", "Results"),
    _printed("ontologies", "Table 4", "nearness and popularity", "", _SLIP),
    Place("ontologies", "Figure 3", "the 500 most repeated IDs by bucket", "Ontologies", "Results"),
    Place("ontologies", "Figure 4", "prediction invariance and accuracy by bucket", "Ontologies", "Results", {},
          "of runs with the setting invariance"),
    _icl("Figure 1", "prompt with two demonstrations", "Live lab", "the lab shows the prompt of any item"),
    _icl("Table 1", "near-exact matches that become exact", "Over k",
         "its texts are the data sets'; a run's own transitions are shown, and its completions under Review verdicts"),
    _icl("Figure 2", "memorization over the number of demonstrations", "All data sets", picture="memorization"),
    _icl("Figure 3", "exact and near-exact matches", "All data sets", picture="matches"),
    _icl("Figure 4", "performance and memorization", "All data sets", picture="performance"),
    _printed("icl", "Table 2", "correlation of performance and memorization"),
    _printed("icl", "Table 3", "the same with exact matches alone"),
    _icl("Figure 5", "prompt of the judge", "Review verdicts",
         "opened there, beside the verdicts of the run's judge and of the rule"),
)  # fmt: skip


def describe(place: Place) -> str:
    """Where it is, in words: the page and the view."""
    if not place.page:
        return "not in the app"
    return f"{place.page}, {place.view}" if place.view else place.page


def markdown() -> str:
    """The list as a page of the documentation."""
    lines = [
        "# Where each table and figure of the papers is",
        "",
        "Every table and figure of the four papers that Lexiscope builds on, and the page that shows it for a run of",
        "your own. Printed figures stand on the page Replication, beside those of a run of the same model. The page",
        "shows this list, too, with links. It is written from `explorer/studies/replication/papers.py` by",
        "`python -m explorer.studies.replication.papers > docs/PAPERS.md`.",
    ]
    for paper, title in PAPERS.items():
        lines += ["", f"## {title}", "", "| number | what | page and view | remark |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {place.number} | {place.what} | {describe(place)} | {place.remark} |"
            for place in PLACES
            if place.paper == paper
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
