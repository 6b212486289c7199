"""The exceptions a reader may see.

    ExplorerError              anything below; its text is one sentence for the user
    ├── BenchmarkError         a data file is missing, damaged or not what its format says
    ├── ModelError             a model cannot be found, loaded or trusted
    ├── ScoringError           a request cannot be scored under the policy in force
    ├── CountError             an n-gram index or counting service cannot answer
    ├── LexiconError           WordNet or the tagger cannot be had
    ├── OntologyError          an ontology or a prediction file cannot be read
    ├── FetchError             the web did not give what was asked
    ├── RunError               a run's folder, spec or worker is not in order
    ├── LogError               a log of another harness cannot be read
    ├── StoreError             the database is damaged, locked or too new
    ├── StatisticsError        data on which a statistic is not defined
    └── UsageError             a command or a form was filled in wrongly

Every message says what was found, what was expected and what to do. A foreign error is turned into one of these at the
door.
"""


class ExplorerError(Exception):
    """Base of everything that is shown to a user as one sentence."""


class BenchmarkError(ExplorerError):
    """A benchmark file is missing, damaged or in another format."""


class ModelError(ExplorerError):
    """A model cannot be found, loaded or trusted."""


class ScoringError(ExplorerError):
    """A request cannot be scored under the policy in force."""


class CountError(ExplorerError):
    """An n-gram index or counting service cannot answer."""


class LexiconError(ExplorerError):
    """WordNet or the tagger cannot be had."""


class OntologyError(ExplorerError):
    """An ontology or a prediction file cannot be read."""


class FetchError(ExplorerError):
    """The web did not give what was asked."""


class RunError(ExplorerError):
    """A run's folder, spec or worker is not in order."""


class LogError(ExplorerError):
    """A log of another harness cannot be read."""


class StoreError(ExplorerError):
    """The database is damaged, locked or too new."""


class StatisticsError(ExplorerError):
    """The data do not allow the statistic."""


class UsageError(ExplorerError):
    """A command or a form was filled in wrongly."""
