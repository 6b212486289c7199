"""The command line, one family of commands a file."""

# Command → the module whose `add(subparsers)` defines it.
COMMANDS = {
    "models": "explorer.commands.models",
    "score": "explorer.commands.score",
    "benchmarks": "explorer.commands.benchmarks",
    "import": "explorer.commands.data",
    "run": "explorer.commands.run",
    "work": "explorer.commands.run",
    "runs": "explorer.commands.runs",
    "resume": "explorer.commands.runs",
    "cancel": "explorer.commands.runs",
    "delete": "explorer.commands.runs",
    "rebuild": "explorer.commands.runs",
    "precompute": "explorer.commands.precompute",
    "export": "explorer.commands.export",
    "import-run": "explorer.commands.export",
    "import-log": "explorer.commands.logs",
    "doctor": "explorer.commands.doctor",
    "app": "explorer.commands.app",
    "index": "explorer.commands.index",
    "popularity": "explorer.commands.popularity",
    "perturb": "explorer.commands.perturb",
    "import-predictions": "explorer.commands.ontology",
    "prediction-invariance": "explorer.commands.ontology",
}
