"""The n-gram indexes known by name, and which models were trained on the text they hold.

Names, sizes and tokenizers are those that the services publish; models and their data follow the models' own papers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

GLASSBOX = "glassbox"
GLASSBOX_INDEX = "glassbox-d86661ace5b0"  # of the corpus of the models that come along; see explorer/glassbox/index.py
MINI = "mini:"  # prefix of a character index of the infini-gram-mini service


@dataclass(frozen=True, slots=True)
class KnownIndex:
    """A public index: its corpus (a key of CORPORA), its tokenizer and its size in tokens, nan where unpublished."""

    corpus: str
    tokenizer: str
    tokens: float = math.nan
    documents: float = math.nan


@dataclass(frozen=True, slots=True)
class FormerIndex:
    """An index that earlier versions built: what people call it, what it held, and its usual length of n-grams."""

    title: str
    holds: str
    length: int


# Runs that were counted in one of these still open; none is counted in anew.
FORMER: Mapping[str, FormerIndex] = {
    "demo": FormerIndex(
        "the demonstration index of earlier versions", "WordNet's glosses and examples and texts of our own", 2
    )
}
# The length of n-grams that a small index is asked for, in tokens; a longer one mostly never occurs there. In that of
# the glass box 43% of the distinct 4-grams of the starter pairs never occur; 4 of its short tokens are about two words,
# and tell planted pairs apart.
SMALL = {GLASSBOX: 4, **{name: former.length for name, former in FORMER.items()}}

CORPORA: Mapping[str, str] = {
    "pile": "the Pile",
    "pile-deduplicated": "the deduplicated Pile",
    "pile-validation": "the Pile's validation split",
    "dolma-1.5": "Dolma 1.5",
    "dolma-1.6-sample": "a sample of Dolma 1.6",
    "dolma-1.7": "Dolma 1.7",
    "dclm-baseline": "DCLM-baseline",
    "dclm-all": "DCLM",
    "redpajama-1": "RedPajama 1",
    "c4": "C4",
    "olmo-mix-1124": "OLMo-mix-1124",
    "olmo-2-32b-all": "all training data of OLMo-2-0325-32B-Instruct",
    "olmo-2-13b-all": "all training data of OLMo-2-1124-13B-Instruct",
    "olmoe-all": "all training data of OLMoE-0125-1B-7B-Instruct",
    "common-crawl-2025": "a month of Common Crawl of 2025",
    "webtext": "WebText",
    "opt-mix": "OPT's mixture of RoBERTa's data, parts of the Pile and Reddit",
    "smollm2-mix": "SmolLM2's mixture of FineWeb-Edu, DCLM, code and mathematics",
    "olmo-3-mix": "Dolma 3",
    GLASSBOX: "the whole training text of the glass-box models",
    **{name: former.holds for name, former in FORMER.items()},
}

# A character index has no tokenizer; its `tokens` are unknown.
INDEXES: Mapping[str, KnownIndex] = {
    "v4_piletrain_llama": KnownIndex("pile", "llama-2", 383_299_322_520, 210_607_728),
    "v4_pileval_llama": KnownIndex("pile-validation", "llama-2", 393_769_120, 214_670),
    "v4_pileval_gpt2": KnownIndex("pile-validation", "gpt2", 383_326_404, 214_670),
    "v4_dolma-v1_7_llama": KnownIndex("dolma-1.7", "llama-2", 2_604_642_372_173, 3_403_336_408),
    "v4_dolma-v1_6-sample_llama": KnownIndex("dolma-1.6-sample", "llama-2", 9_178_218_956, 13_095_416),
    "v4_dolmasample_olmo": KnownIndex("dolma-1.6-sample", "olmo", 8_039_098_124, 13_095_416),
    "v4_dclm-baseline_llama": KnownIndex("dclm-baseline", "llama-2", 4.342e12),
    "v4_rpj_llama_s4": KnownIndex("redpajama-1", "llama-2", 1_385_942_948_192, 931_361_530),
    "v4_c4train_llama": KnownIndex("c4", "llama-2", 198_079_554_945, 364_868_892),
    "v4_olmo-mix-1124_llama": KnownIndex("olmo-mix-1124", "llama-2", 4.575e12),
    "v4_olmo-2-0325-32b-instruct_llama": KnownIndex("olmo-2-32b-all", "llama-2", 4_610_629_088_477, 3_163_901_920),
    "v4_olmo-2-1124-13b-instruct_llama": KnownIndex("olmo-2-13b-all", "llama-2", 4_610_749_614_285, 3_163_974_994),
    "v4_olmoe-0125-1b-7b-instruct_llama": KnownIndex("olmoe-all", "llama-2", 4_610_737_979_121, 3_163_953_717),
    "mini:v2_piletrain": KnownIndex("pile", "characters"),
    "mini:v2_pileval": KnownIndex("pile-validation", "characters"),
    "mini:v2_dclm_all": KnownIndex("dclm-all", "characters"),
    "mini:v2_cc_2025-05": KnownIndex("common-crawl-2025", "characters"),
    "mini:v2_cc_2025-08": KnownIndex("common-crawl-2025", "characters"),
    "mini:v2_cc_2025-13": KnownIndex("common-crawl-2025", "characters"),
    "mini:v2_cc_2025-18": KnownIndex("common-crawl-2025", "characters"),
    "mini:v2_cc_2025-21": KnownIndex("common-crawl-2025", "characters"),
    "mini:v2_cc_2025-26": KnownIndex("common-crawl-2025", "characters"),
    "mini:v2_cc_2025-30": KnownIndex("common-crawl-2025", "characters"),
}

# Model name without its owner, lower case → the corpus of its pre-training; the first pattern that fits counts.
# "" where the data were never published.
TRAINED_ON: Mapping[str, str] = {
    "pythia-*-deduped*": "pile-deduplicated",
    "pythia-*": "pile",
    "gpt-neo*": "pile",
    "gpt-j-6b*": "pile",
    "olmo-1b-0724*": "dolma-1.7",
    "olmo-7b-0424*": "dolma-1.7",
    "olmo-7b-0724*": "dolma-1.7",
    "olmo-1b*": "dolma-1.5",
    "olmo-7b*": "dolma-1.5",
    "olmo-2-0325-32b-*": "olmo-2-32b-all",
    "olmo-2-1124-13b-*": "olmo-2-13b-all",
    "olmoe-1b-7b-0125*": "olmoe-all",
    "olmo-2-*": "olmo-mix-1124",
    "olmo-3-*": "olmo-3-mix",
    "open_llama_*": "redpajama-1",
    "redpajama-incite-*": "redpajama-1",
    "dclm-*": "dclm-baseline",
    "smollm2-*": "smollm2-mix",
    "gpt2*": "webtext",
    "distilgpt2*": "webtext",
    "opt-*": "opt-mix",
    "glassbox-[sml]*": GLASSBOX,
    "glassbox-xs*": GLASSBOX,
    "gemma-*": "",
    "llama-*": "",
    "meta-llama-*": "",
    "gpt-3.5-*": "",
    "gpt-4*": "",
}

# (corpus of the index, corpus of the model) → how the one holds the other, where they are not the same.
KINSHIP: Mapping[tuple[str, str], str] = {
    ("pile", "pile-deduplicated"): "the full Pile, of which the model saw a deduplicated copy",
    ("dolma-1.7", "dolma-1.5"): "a later version of the same corpus",
    ("dolma-1.6-sample", "dolma-1.5"): "a sample of a later version of the same corpus",
    ("dolma-1.6-sample", "dolma-1.7"): "a sample of an earlier version of the same corpus",
    ("olmo-2-32b-all", "olmo-mix-1124"): "the data of a larger sister model, of the same mixture",
    ("olmo-2-13b-all", "olmo-mix-1124"): "the data of a sister model, of the same mixture",
    ("olmo-mix-1124", "olmo-2-32b-all"): "the first and largest part of its pre-training data",
    ("olmo-mix-1124", "olmo-2-13b-all"): "the first and largest part of its pre-training data",
    ("dclm-baseline", "olmo-mix-1124"): "the largest part of its pre-training data",
    ("dclm-baseline", "smollm2-mix"): "a part of its pre-training data",
    ("pile", "opt-mix"): "a corpus of which the model saw some parts",
}


def corpus_of(index: str) -> str:
    """The corpus that an index holds: a key of CORPORA, the name of a planted one, "" for an index that is unknown."""
    if former := re.fullmatch(rf"({'|'.join(FORMER)})(-[0-9a-f]{{12}})?", index):
        return former[1]
    if planted := re.fullmatch(r"(glassbox(?:-.+?)??)(?:-[0-9a-f]{12})?", index):
        return planted[1].lower()
    public_index = INDEXES.get(index)
    return public_index.corpus if public_index else ""


def short_name(index: str) -> str:
    """An index as it is chosen: without the hash that tells its version, where it is one of the small ones."""
    return corpus if (corpus := corpus_of(index)) in SMALL else index


def is_remote(index: str) -> bool:
    """Whether an index is another machine's."""
    return index in INDEXES or index.startswith(MINI) or "://" in index


def title_of(index: str) -> str:
    """What people call an index: what the small ones hold, else its name."""
    corpus = corpus_of(index)
    return FORMER[corpus].title if corpus in FORMER else "the corpus of the glass box" if corpus == GLASSBOX else index


def default_length(index: str, otherwise: int) -> int:
    """The length of n-grams for an index of this name, in tokens: a small one's own, else the other."""
    return SMALL.get(corpus_of(index), otherwise)


def is_former(index: str) -> bool:
    """Whether an index of this name was built by an earlier version, and is no longer."""
    return corpus_of(index) in FORMER


def is_planted(corpus: str) -> bool:
    """Whether a corpus is the glass box's, or that with texts of one's own planted in it."""
    return corpus == GLASSBOX or corpus.startswith(f"{GLASSBOX}-")


def training_corpus(model: str) -> str | None:
    """The corpus a model was pre-trained on: a key of CORPORA, "" where never published, none for an unlisted model.

    Of a glass-box model on a planted corpus of one's own (glassbox-mine-s) it is that corpus (glassbox-mine).
    """
    name = model.rsplit("/", 1)[-1].lower()
    if planted := re.fullmatch(r"(glassbox(?:-.+)?)-(?:xs|[sml])(?:@step\d+)?", name):
        return planted[1]
    return next((corpus for pattern, corpus in TRAINED_ON.items() if fnmatchcase(name, pattern)), None)


def is_pretraining_data(index: str, model: str) -> bool | None:
    """Whether the index holds the model's pre-training data, or a version or part of it; none where that is unknown."""
    index_corpus, model_corpus = corpus_of(index), training_corpus(model)
    if index_corpus in FORMER or (is_planted(index_corpus) and not is_planted(model_corpus or "")):
        return False
    if index_corpus == GLASSBOX and is_planted(model_corpus or ""):
        return True
    if not index_corpus or not model_corpus:
        return None
    return index_corpus == model_corpus or (index_corpus, model_corpus) in KINSHIP


def describe_relation(index: str, model: str) -> str:
    """The sentence the app shows about an index and a model."""
    index_corpus, model_corpus = corpus_of(index), training_corpus(model)
    if index_corpus in FORMER:
        return (
            f"This was counted in {FORMER[index_corpus].title}, of {FORMER[index_corpus].holds}. It is not the "
            f"pre-training data of {model}: its counts show how the method works, no more."
        )
    if is_planted(index_corpus) and not is_planted(model_corpus or ""):
        return (
            f"This index holds {CORPORA[GLASSBOX]}. It is not the pre-training data of {model}: its counts show how "
            "the method works, no more."
        )
    if not index_corpus:
        return f"Whether {index} holds what {model} was trained on is not known here."
    if index_corpus == model_corpus and index_corpus not in CORPORA:
        return f"{index} holds the whole training text of {model}, what was planted in it included."
    if index_corpus == GLASSBOX and model_corpus != GLASSBOX and is_planted(model_corpus or ""):
        return f"{model} was trained on all that {index} holds, and on texts that were planted beside it."
    if index_corpus not in CORPORA or (model_corpus and model_corpus not in CORPORA):
        return f"{index} is not the training text of {model}."
    name = CORPORA[index_corpus]
    if model_corpus is None:
        return f"{index} holds {name}; what {model} was trained on is not known here."
    if not model_corpus:
        return f"{index} holds {name}; what {model} was trained on was never published."
    if index_corpus == model_corpus:
        return f"{index} holds {name}, the pre-training data of {model}."
    if kin := KINSHIP.get((index_corpus, model_corpus)):
        return f"{model} was trained on {CORPORA[model_corpus]}; {index} holds {name}: {kin}."
    return (
        f"{index} is not the pre-training data of {model}: it holds {name}, the model was trained on "
        f"{CORPORA[model_corpus]}."
    )


def models_of(index: str) -> list[str]:
    """Name patterns of the models that were trained on an index's corpus, or on a version or part of it."""
    index_corpus = corpus_of(index)
    return [
        name
        for name, model_corpus in TRAINED_ON.items()
        if model_corpus and (index_corpus == model_corpus or (index_corpus, model_corpus) in KINSHIP)
    ]


def suggest_index(model: str) -> str | None:
    """The public index that fits a model best: its own corpus first, else a kin of it, else none."""
    model_corpus = training_corpus(model)
    if not model_corpus:
        return None
    same = [name for name, public_index in INDEXES.items() if public_index.corpus == model_corpus]
    kin = [name for name, public_index in INDEXES.items() if (public_index.corpus, model_corpus) in KINSHIP]
    return next(iter(same + kin), None)
