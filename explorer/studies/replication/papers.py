"""Where each table and figure of the four papers is in the app, or why it is not.

`docs/PAPERS.md` is this list as text; `markdown` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.studies.priming.declared import TOKEN_F1

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
    shows           how what is to be looked at is described there: the words beside the picture, a headline
    comes_along     whether a run that comes with the explorer shows it
    """

    paper: str
    number: str
    what: str
    page: str = ""
    view: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""
    shows: str = ""
    comes_along: bool = True


NOT_HERE = "no run of it comes along: the page says how to make one, or opens the nearest and says so"
EXAMPLE = "gemma-3-270m"  # the model whose runs a link opens


def _popularity(
    number: str, what: str, page: str, view: str, shows: str, remark: str = "", benchmark: str = "lambada",
    **choices: str,
) -> Place:  # fmt: skip
    chosen = {"model": EXAMPLE, "benchmark": benchmark, **choices}
    return Place("popularity", number, what, page, view, chosen, remark, shows)


def _priming(number: str, what: str, view: str, shows: str, remark: str = "", benchmark: str = "blimp",
             comes_along: bool = True, **choices: str) -> Place:  # fmt: skip
    remark = "; ".join(filter(None, (remark, "" if comes_along else NOT_HERE)))
    chosen = {"priming": view, "model": EXAMPLE, "benchmark": benchmark, **choices}
    return Place("priming", number, what, "Priming", view, chosen, remark, shows, comes_along)


def _ontologies(number: str, what: str, shows: str, remark: str = "", comes_along: bool = True) -> Place:
    remark = "; ".join(filter(None, (remark, "" if comes_along else NOT_HERE)))
    chosen = {"model": "EleutherAI/pythia-12b-deduped", "benchmark": "go"}
    return Place("ontologies", number, what, "Ontologies", "Results", chosen, remark, shows, comes_along)


def _icl(number: str, what: str, view: str, shows: str, remark: str = "", **choices: str) -> Place:
    chosen = {"facet": view, "model": EXAMPLE, "benchmark": "rte", **choices}
    return Place("icl", number, what, "In-context", view, chosen, remark, shows)


def _printed(paper: str, number: str, what: str, table: str = "", remark: str = "") -> Place:
    """A table whose printed figures stand on the replication board."""
    return Place(
        paper, number, what, "Replication", table or number, {"source": paper, "table": table or number}, remark
    )


_LABELS = "carries OLMo-7B's labels: a target for OLMo-7B alone"
_NO_COEFFICIENTS = f"{_LABELS}; its coefficients are left out, their scale and sign being unknown"
_SLIP = "does not follow from the released files: shown with our value, no target"

HALVES = "Accuracy of the less and the more popular half of each task"
OVER_LENGTH = "over the tokens of context, one line per condition"
BEFORE_AND_AFTER = "Each suite's accuracy without a context against that after its longest matched context"
TOGETHER = "over the number of demonstrations, all data sets together"

PLACES: tuple[Place, ...] = (
    _popularity("Figure 1", "accuracy of unpopular and popular halves, Pythia 6.9B", "Popularity",
                "Unpopular and popular halves", HALVES),
    _popularity("Figure 2", "frequency of words and their synonyms", "Perturbation", "Full runs",
                "Words and their synonyms in the corpus", facet="Full runs"),
    _popularity("Figure 3", "BERTScore and ROUGE-L of original and perturbed", "Perturbation", "Full runs",
                "BERTScore and ROUGE-L of original and swapped texts, a box per task",
                "all tasks in one picture, as quantiles", facet="Full runs"),
    _printed("popularity", "Table 1", "functional tasks before and after swaps", "",
             "perplexities printed 100 times too large are mended"),
    _printed("popularity", "Table 2", "formal tasks before and after swaps", "",
             "its anaphor column contradicts Table D, whose originals are shown; argument structure is of "
             "paradigms that the paper does not name"),
    _popularity("Figure 4", "popularity before and after swaps, LAMBADA", "Perturbation", "Full runs",
                "Distribution of IPS, original and perturbed", facet="Full runs"),
    _printed("popularity", "Table 3", "popularity of instances that flip"),
    _popularity("Figure 5", "macro-F1 of correctness from memorization, Pythia 6.9B", "Memorization", "All tasks",
                "Macro-F1 of right answers from each score of memorization, task by task",
                f"it draws figures of Tables E and G; {_LABELS}", facet="All tasks"),
    _printed("popularity", "Table 4", "accuracy of halves by memorization, Pythia 6.9B", "", _LABELS),
    _popularity("Table A", "tasks with an example of a swap each", "Perturbation", "Full runs", "Pairs",
                "its sentences are the benchmarks'; the pairs of a run are shown instead", "starter_pairs",
                facet="Full runs"),
    _popularity("Figure A", "accuracy of unpopular and popular halves, the other models", "Popularity",
                "Unpopular and popular halves", HALVES),
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
    _priming("Figure 1", "scheme of contexts before a pair", "Live lab", "", "the lab lays out a real context",
             benchmark="starter_pairs"),
    _priming("Figure 2", "change of accuracy by condition and length", "Curves", OVER_LENGTH),
    _priming("Figure 3", "acceptable and unacceptable contexts, match collapsed", "Curves", OVER_LENGTH,
             lines="Acceptable and unacceptable, matched or not"),
    _priming("Figure 4", "matched and mismatched contexts apart", "Curves", OVER_LENGTH,
             lines="Matched and mismatched, side by side"),
    _priming("Figure 5", "perturbed contexts", "Perturbed contexts", "a line per edit of the context sentences",
             comes_along=False),
    _priming("Figure 6", "stereotypical contexts, CrowS-Pairs", "Curves", OVER_LENGTH,
             benchmark="crows_pairs", comes_along=False),
    _priming("Figure 7", "anti-stereotypical contexts, CrowS-Pairs", "Curves", OVER_LENGTH,
             benchmark="crows_pairs", comes_along=False),
    _priming("Figure 8", "anti-stereotypical matched contexts against the ideal", "Curves", OVER_LENGTH,
             benchmark="crows_pairs", comes_along=False, measure="Accuracy"),
    _priming("Figure 9", "token similarity of perturbed contexts and their effect", "Perturbed contexts",
             "Likeness of the changed to the plain context sentences against the change of accuracy",
             comes_along=False),
    _priming("Figure 10", "baseline and longest acceptable context, suite by suite", "Suites", BEFORE_AND_AFTER),
    _priming("Figure 11", "baseline and longest unacceptable context, suite by suite", "Suites", BEFORE_AND_AFTER),
    _priming("Figure 12", "token and dependency overlap of suites", "Heat maps",
             "for each suite after each suite", matrix=TOKEN_F1.name),
    _priming("Figure 13", "accuracy and change after ten sentences of another suite", "Heat maps",
             "for each suite after each suite", comes_along=False),
    _priming("Figure 14", "the same for SyntaxGym", "Heat maps", "for each suite after each suite",
             benchmark="syntaxgym", comes_along=False),
    _priming("Figure 15", "perplexity margins", "Curves", f"Perplexity, acceptable − unacceptable {OVER_LENGTH}",
             measure="Perplexity margin"),
    _priming("Figure 16", "acceptable and unacceptable contexts, SyntaxGym", "Curves", OVER_LENGTH,
             lines="Acceptable and unacceptable, matched or not", benchmark="syntaxgym", comes_along=False),
    _priming("Figure 17", "matched and mismatched contexts apart, SyntaxGym", "Curves", OVER_LENGTH,
             benchmark="syntaxgym", comes_along=False, lines="Matched and mismatched, side by side"),
    _priming("Table 1", "suites that gain most from acceptable contexts", "Suites",
             "The suites with the largest rise and the largest fall of accuracy",
             "the text edition at hand prints no figures for it; a run's own suites are ranked",
             contexts="matched_acceptable"),
    _printed("priming", "Table 2", "suites that lose most from unacceptable contexts"),
    _ontologies("Figure 1", "concepts and mean count of each bucket",
                "Concepts and mean count of each popularity bucket"),
    _printed("ontologies", "Table 1", "accuracy"),
    _printed("ontologies", "Table 2", "nearness of wrong answers", "", _SLIP),
    _printed("ontologies", "Table 3", "distinct predicted IDs"),
    _ontologies("Figure 2", "accuracy by popularity", "Accuracy of each popularity bucket"),
    _printed("ontologies", "Table 4", "nearness and popularity", "", _SLIP),
    _ontologies("Figure 3", "the 500 most repeated IDs by bucket", "Repeated ids in each bucket, over its due"),
    _ontologies("Figure 4", "prediction invariance and accuracy by bucket", "Average prediction invariance",
                "of runs with the setting invariance", comes_along=False),
    _icl("Figure 1", "prompt with two demonstrations", "Live lab", "", "the lab shows the prompt of any item"),
    _icl("Table 1", "near-exact matches that become exact", "Over k",
         "how many are exact with the next",
         "its texts are the data sets'; a run's own transitions are shown, and its completions under Review verdicts"),
    _icl("Figure 2", "memorization over the number of demonstrations", "All data sets", TOGETHER,
         picture="memorization"),
    _icl("Figure 3", "exact and near-exact matches", "All data sets", TOGETHER, picture="matches"),
    _icl("Figure 4", "performance and memorization", "All data sets", TOGETHER, picture="performance"),
    _printed("icl", "Table 2", "correlation of performance and memorization"),
    _printed("icl", "Table 3", "the same with exact matches alone"),
    _icl("Figure 5", "prompt of the judge", "Review verdicts", "Word for word the paper's (figure 5)",
         "opened there, beside the verdicts of the run's judge and of the rule", benchmark="starter_entailment"),
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
