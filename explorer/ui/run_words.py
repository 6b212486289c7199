"""What the settings of studies and their choices are called where a run is started."""

from __future__ import annotations

from collections.abc import Mapping

# Study → the settings that are asked first; the others stand under "Advanced".
ESSENTIALS: Mapping[str, tuple[str, ...]] = {
    "accuracy": ("normalization",),
    "popularity": ("index", "n"),
    "perturbation": ("pos", "similarity"),
    "memorization": ("neighbours",),
    "priming": ("lengths", "chains"),
    "ontology": ("languages", "gold"),
    "icl": ("k", "instances"),
}

LABELS: Mapping[str, str] = {
    "method": "How words are swapped",
    "draws": "Draws of swaps",
    "again_per_bucket": "Concepts of each popularity bucket asked again",
    "ask": "How pairs are asked",
    "bos": "Beginning-of-sequence token (BOS)",
    "buckets": "Popularity buckets",
    "chains": "Contexts that the items of a suite share",
    "chat": "Ask as a chat",
    "conditions": "Contexts drawn from",
    "cosine": "Cosine that a near-exact completion reaches",
    "counts": "Where popularity is counted",
    "edges_from": "Decile edges of another run",
    "edit_halves": "Choose suites on one half, measure on the other",
    "edits": "Changes to the sentences before",
    "edits_from": "Most affected suites of another run",
    "encoder": "Encoder that compares meanings",
    "folders": "Folders of models that settings name",
    "form": "Form of the prompt",
    "frequencies": "Count the swapped words in the corpus",
    "gold": "Score the right ID too",
    "index": "Corpus in which n-grams are counted",
    "initial": "Form of the first word",
    "instances": "Test items",
    "invariance": "Ask again",
    "item_intercept": "Regression with an intercept for each item",
    "judge": "Model that judges answers",
    "judge_sample": "Instances of each group that are judged",
    "k": "Numbers of demonstrations",
    "labels": "Where it is told which texts were seen",
    "languages": "Languages of the question",
    "lengths": "Tokens of context before the pair",
    "matrix": "Items asked after every suite",
    "max_new_tokens": "Tokens an answer may have",
    "min_k": "Percent of tokens that Min-k % looks at",
    "more": "Further attacks",
    "n": "Length of an n-gram (0: what suits the corpus)",
    "neighbours": "Neighbors of each text",
    "neighbours_by": "Who proposes the neighbors' words",
    "neighbours_cap": "Instances of each task with neighbors",
    "normalization": "What is compared between options",
    "orders": "Orders of the demonstrations",
    "other_phenomenon": "Mismatched sentences of another phenomenon",
    "others": "Wrong IDs among which the right one is ranked",
    "overlap": "Sentences compared for the likeness of suites",
    "per_bucket": "Concepts of each popularity bucket",
    "per_group": "How much of it",
    "performance": "How the labels are asked for",
    "pos": "Words that are swapped",
    "preset": "Convention of the prompts",
    "prompt": "How the ID is asked for",
    "rouge": "ROUGE-L that a near-exact completion reaches",
    "rows": "Keep a row for every n-gram",
    "samples": "Answers drawn at random beside the likeliest",
    "senses": "How the sense of a word is told",
    "senses_model": "Model that tells senses",
    "settings": "What a prompt holds",
    "similarity": "Compare the meaning of both versions",
    "split": "Split of the benchmark",
    "system": "System prompt of the chat",
    "template": "Chat template of the model's folder",
    "tokens": "Keep the log-probability of each token",
    "unrelated": "Source of unrelated sentences",
    "veto": "Words that stay",
}

# Setting → its choices in words; what is not here is shown as it is.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "preset": {
        "natural": "Natural",
        "lm-eval": "As in lm-evaluation-harness",
        "minicons": "As in minicons",
        "pll": "Pseudo-log-likelihood, for masked models",
        "seq2seq": "Encoder-decoder: the context is the source",
        "decoder": "Encoder-decoder: an empty source",
    },
    "bos": {"preset": "As the convention says", "auto": "The tokenizer's own", "always": "Always", "never": "Never"},
    "chat": {"never": "Never: plain text", "auto": "Where the model was tuned for it", "always": "Always"},
    "ask": {"plain": "Which sentence is likelier", "judge": "Is it well-formed? Yes against no"},
    "normalization": {
        "preset": "As the convention says",
        "sum": "The probability of the whole text",
        "mean_token": "The mean of its tokens",
        "per_char": "Per character",
        "per_byte": "Per byte",
        "pmi": "What the context adds (pointwise mutual information)",
    },
    "initial": {"running": "As in running text", "both": "Also at the beginning of a text"},
    "labels": {"none": "Nowhere", "index": "An n-gram index"},
    "more": {"min_k_plus": "Min-K%++", "recall": "ReCaLL"},
    "pos": {"N": "Nouns", "V": "Verbs", "NV": "Nouns and verbs"},
    "senses": {
        "blend": "Definition and frequency together",
        "gloss": "Nearest definition",
        "first": "The most frequent sense",
        "lesk": "Lesk: shared words",
        "lm": "A model scores them",
        "lm-choice": "A model chooses",
        "chat": "A chat model chooses",
    },
    "conditions": {
        "matched_acceptable": "Like the pair, acceptable",
        "matched_unacceptable": "Like the pair, unacceptable",
        "mismatched_acceptable": "Of another kind, acceptable",
        "mismatched_unacceptable": "Of another kind, unacceptable",
        "unrelated": "Unrelated text",
    },
    "unrelated": {"wikitext": "Wikipedia (WikiText)", "starter": "Sentences that come with Lexiscope"},
    "edits": {
        "none": "As it is",
        "prefix_adverb": "An adverb before",
        "suffix_adverb": "An adverb after",
        "long_prefix_adverb": "A long adverbial before",
        "clause": "A clause before",
        "quotation": "In quotation marks",
        "all": "All of these",
    },
    "prompt": {
        "auto": "What suits the model",
        "best": "The most accurate on 100 concepts",
        "chat": "As a chat",
        "completion": "To be completed",
        "chat-question": "As a question in a chat",
        "completion-open": "To be completed, open",
        "completion-short": "To be completed, short",
        "completion-brackets": "To be completed, in brackets",
        "completion-obo": "To be completed, as an ontology file",
    },
    "form": {
        "corrected": "Ours, corrected",
        "released": "The authors', as released",
        "auto": "What suits the model",
        "completion": "Plain text",
        "chat": "A user's message",
    },
    "languages": {"en": "English", "it": "Italian", "fr": "French", "de": "German", "es": "Spanish"},
    "invariance": {
        "PI-1": "The same question (PI-1)",
        "PI-2": "At a higher temperature (PI-2)",
        "PI-3": "In five languages (PI-3)",
    },
    "counts": {
        "file": "A file of counts",
        "index": "An n-gram index",
        "google": "Google (closes on January 1, 2027)",
        "europe-pmc": "Europe PMC",
    },
    "settings": {
        "full": "Instruction, texts and labels",
        "pairs_labels": "Texts and labels",
        "pairs": "Texts alone",
        "general": "A general instruction",
    },
    "performance": {
        "auto": "What suits the model",
        "scored": "Labels are scored",
        "published": "Labels are written",
        "both": "Both",
        "none": "Not at all",
    },
}


def label(name: str) -> str:
    """What people call a setting."""
    return LABELS.get(name, name.replace("_", " ").capitalize())


def choice(name: str, value: str) -> str:
    """What people call one choice of a setting."""
    return CHOICES.get(name, {}).get(value, value)
