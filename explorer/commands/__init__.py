"""The command line, one family of commands a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the module whose `add(subparsers)` defines it, and what it does, as --help lists it.

    Both stand here, so that the list of the commands imports none of their modules.
    """

    module: str
    summary: str


COMMANDS: Mapping[str, Command] = {
    "models": Command("explorer.commands.models", "list the known language models, or fetch one"),
    "score": Command("explorer.commands.score", "score continuations given contexts"),
    "benchmarks": Command("explorer.commands.benchmarks", "list the benchmarks and where their files are"),
    "import": Command("explorer.commands.data", "import a CSV, TSV, JSON, JSON Lines or Parquet table as a benchmark"),
    "run": Command("explorer.commands.run", "run a study: python -m explorer run STUDY --model M --benchmark B"),
    "work": Command("explorer.commands.run", "do what is left of a run (the app starts this)"),
    "runs": Command("explorer.commands.runs", "list the runs here, the newest first, and those that came along"),
    "sweeps": Command("explorer.commands.sweeps", "list the sweeps, or the runs of one"),
    "trajectories": Command(
        "explorer.commands.trajectories", "findings along training, size or seed, and when instances were learned"
    ),
    "resume": Command("explorer.commands.runs", "do what is left of a run"),
    "cancel": Command("explorer.commands.runs", "stop a run; what is finished is kept"),
    "delete": Command("explorer.commands.runs", "remove a run from disk and from the database"),
    "rebuild": Command("explorer.commands.runs", "make the database again from the run folders"),
    "precompute": Command("explorer.commands.precompute", "do the planned runs and pack them into one small file"),
    "export": Command("explorer.commands.export", "write a run's rows to a file; by default a row per instance"),
    "import-run": Command("explorer.commands.export", "make runs of zip files that `export --format zip` wrote"),
    "import-log": Command("explorer.commands.logs", "make runs of logs of lm-evaluation-harness or Inspect"),
    "doctor": Command("explorer.commands.doctor", "say what works here, what is missing and what to do"),
    "app": Command(
        "explorer.commands.app", "prepare the embedded model and WordNet, then start the app in the browser"
    ),
    "index": Command("explorer.commands.index", "build, check, ask and share n-gram indexes"),
    "popularity": Command(
        "explorer.commands.popularity", "how popular texts are in a corpus: n-grams, counts, popularity and IPS"
    ),
    "corpus": Command(
        "explorer.commands.corpus", "what a corpus holds of texts: verbatim spans, n-gram counts and next tokens"
    ),
    "perturb": Command("explorer.commands.perturb", "swap nouns and verbs of texts for synonyms"),
    "glassbox": Command(
        "explorer.commands.glassbox", "build the glass box's corpus and index, plant texts, train its models"
    ),
    "import-predictions": Command("explorer.commands.ontology", "analyze ontology predictions made elsewhere"),
    "prediction-invariance": Command("explorer.commands.ontology", "say how often repeated answers agree"),
}
