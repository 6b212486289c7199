"""The only builder of real models, counters, encoders and stores; everything else is handed what it needs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer import stopping
from explorer.errors import ModelError
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.admission import Admit
    from explorer.benchmarks.core.benchmark import Loaded
    from explorer.fetch import Patience
    from explorer.popularity.counter import Counter
    from explorer.results.store import Store
    from explorer.runs.folder import RunFolder
    from explorer.scoring.generate import ModelGenerator
    from explorer.scoring.hf import HFModel
    from explorer.scoring.hf_encoder_decoder import EncoderDecoderModel
    from explorer.scoring.hf_light import LightModel
    from explorer.scoring.hf_masked import MaskedLM
    from explorer.scoring.hf_source import Source
    from explorer.scoring.hf_text_model import TextModel
    from explorer.scoring.http import Endpoint
    from explorer.scoring.http_calls import Limits
    from explorer.scoring.model import Encoder, Generator, Proposer, Scorer
    from explorer.scoring.model_process import ModelProcess
    from explorer.similarity.bertscore import BertScore

Progress = Callable[[str, int, int], None]  # what is being prepared, done, in all

SECONDS_TO_INGEST = 60.0  # seconds for parts that are being put into the database when a run has its findings
LIVE_WAIT = 20.0  # seconds for an index that another process builds, where a visitor looks on


class Resources:
    """Builds on demand and keeps: one language model at a time, any number of the small things. Thread-safe."""

    def __init__(
        self,
        settings: Settings,
        progress: Progress | None = None,
        limits: Limits | None = None,
        patience: Patience | None = None,
        admit: Admit | None = None,
    ) -> None:
        self.settings = settings
        self.admit = admit or (lambda name: False)  # which names may be used; all, for the owner
        self._limits = limits  # how hard endpoints may be worked; none for those of a run
        self._patience = patience  # with those who count n-grams; none for that of a run
        self._progress = progress or (lambda what, done, total: None)
        self._lock = threading.RLock()
        self._kept: dict[tuple[Any, ...], Any] = {}
        self._making: dict[tuple[Any, ...], threading.RLock] = {}
        self._fetched: dict[tuple[str, str, str], Source] = {}  # found, and not yet loaded
        self._model: tuple[tuple[str, str, str], TextModel] | None = None
        self._other: tuple[tuple[str, str, str], MaskedLM | EncoderDecoderModel] | None = None  # no causal one
        self._ahead: tuple[tuple[str, str, str], stopping.Begun[LightModel | None]] | None = None  # being loaded here
        self._process: ModelProcess | None = None  # in which a run's model is, or will be
        self._process_for: tuple[str, str, str] | None = None
        self._ending: threading.Thread | None = None
        self.cards: tuple[str, ...] = ()  # of this machine, on each of which a process has the model; () = one of them
        self.keeps_process = False  # from one run to the next, where that has the same model
        self._generator: ModelGenerator | None = None
        self._ingesting: stopping.Begun[None] | None = None  # the parts of the run that is being made or concluded
        self._all_made = threading.Event()  # whether these are all there
        self._second: Resources | None = None

    def instances(self, benchmark: str, splits: Sequence[str] = ()) -> Loaded:
        """A benchmark's or an ontology file's instances, from the user's folder, the cache or the published address."""
        from explorer import benchmarks
        from explorer.ontologies import as_benchmark

        if as_benchmark.is_ontology(benchmark):
            if benchmark not in as_benchmark.NAMES:
                self.admit(benchmark)
            return self.once(
                ("instances", benchmark),
                lambda: as_benchmark.load(benchmark, self.settings, self._telling(benchmark)),
            )
        return self.once(
            ("instances", benchmark, tuple(splits)),
            lambda: benchmarks.load(
                benchmark, self.settings, splits=tuple(splits) or None, progress=self._telling(benchmark)
            ),
        )

    def model(self, name: str, dtype: str = "auto", device: str = "auto") -> TextModel:
        """The language model, loaded; the one before it is let go first.

        It scores and writes. On a GPU its layers are the engine's own, where it has them.
        """
        from explorer.scoring import hf_light

        wanted = (name, dtype, device)
        self.fetch(*wanted)
        with stopping.turn(self._lock):
            if not self._has(wanted):
                self._model = self._generator = self._other = None
                source = self._fetched.pop(wanted, None) or self._find(*wanted)
                light = self._take_ahead(wanted, source) or hf_light.load(
                    source, self.settings, device, dtype, self._steps()
                )
                self._model = (wanted, light or self._load_whole(source, dtype, device))
            assert self._model is not None
            return self._model[1]

    def whole_model(self, name: str, dtype: str = "auto", device: str = "auto") -> HFModel:
        """The language model as transformers has it, for those who ask it for more than scores and answers."""
        from explorer.scoring.hf import HFModel

        self.fetch(name, dtype, device)
        with stopping.turn(self._lock):
            loaded = self.model(name, dtype, device)
            if not isinstance(loaded, HFModel):
                source = loaded.source
                del loaded
                self._model = self._generator = None  # two would not fit
                loaded = self._load_whole(source, dtype, device)
                self._model = ((name, dtype, device), loaded)
            return loaded

    def _load_whole(self, source: Source, dtype: str, device: str) -> HFModel:
        from explorer.scoring import hf  # takes seconds, which a model of the engine's own families is spared

        return hf.load(source.name, self.settings, device=device, dtype=dtype, progress=self._steps(), source=source)

    def load_here_ahead(self, name: str, dtype: str = "auto") -> None:
        """As `load_ahead`, into this process: for a run whose model cannot be in one of its own."""
        from explorer.scoring import hf_source, own_process

        # Beside a model that is still there it may not fit.
        if own_process.is_worthwhile() and not (self._ahead or self._model or self._other or self.settings.shard):
            source = hf_source.find_unhashed_folder(name)
            if source is not None:
                self.admit(name)
                loading = stopping.Begun(partial(_load_light, source, self.settings, dtype), "load ahead")
                self._ahead = ((source.name, dtype, "auto"), loading)

    def _take_ahead(self, wanted: tuple[str, str, str], source: Source) -> LightModel | None:
        """The model that was begun ahead, if it is this one and the engine has its layers."""
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return None
        model, loading = ahead
        if model != wanted:
            loading.leave()
            return None
        light = loading.result()
        if light is not None:
            light.identify(source)  # its weights are hashed now
        return light

    def start_process(self) -> None:
        """Starts a process for the model of a run to come, where that is faster; it begins with imports."""
        from explorer.scoring import own_process
        from explorer.scoring.model_process import ModelProcess

        if self._process is None and own_process.is_worthwhile():
            self._process = ModelProcess(cards=self.cards)

    def begin_process(self, name: str, dtype: str = "auto") -> None:
        """Gives the model of this name a process of its own, where that is faster.

        From then on `reader`, `scorer` and `generator` (for short greedy answers) give that one, until `end_process`.
        """
        from explorer.scoring import http

        wanted = (name, dtype, "auto")
        if self._process_for not in (None, wanted) or http.is_endpoint(name) or self._has(wanted):
            self.end_process()
        if not http.is_endpoint(name) and not self._has(wanted):
            self.admit(name)
            self.start_process()
            self._process_for = wanted

    def load_ahead(self, name: str, dtype: str = "auto") -> None:
        """Has the model of a run to come loaded while the run is made out, where its files are loaded as they lie.

        Its weights are hashed meanwhile, which who names the run waits for.
        """
        from explorer.scoring import hf_kind, hf_source

        self.start_process()
        source = hf_source.find_unhashed_folder(name) if self._process else None
        if source is None or hf_kind.is_encoder_decoder_folder(source.path) or hf_kind.is_masked_folder(source.path):
            return
        self.begin_process(source.name, dtype)
        if self._process:
            self._process.load(source, self.settings, dtype)
            threading.Thread(target=_hash, args=(source.path, self.settings), name="hash", daemon=True).start()

    def use_process(self, process: ModelProcess, name: str, dtype: str = "auto") -> None:
        """Has the model of this name be the one of a process that is there already, told what to load."""
        self._process, self._process_for = process, (name, dtype, "auto")

    def process_of(self, name: str, dtype: str = "auto") -> ModelProcess | None:
        """The process that has this causal model, once texts can be encoded; none where it has none of its own."""
        return self._told_process((name, dtype, "auto"))

    @property
    def has_process(self) -> bool:
        """Whether the model is in a process of its own."""
        return self._process is not None

    def end_process(self, *, wait: bool = True) -> None:
        """Ends the process that was begun, if there is one; a card takes a third of a second to give back its memory.

        One that was not waited for is waited for the next time.
        """
        process, self._process, self._process_for = self._process, None, None
        if self._ending:
            self._ending.join()
            self._ending = None
        if process and wait:
            process.close()
        elif process:
            self._ending = threading.Thread(target=process.close, name="ending the model's process")
            self._ending.start()

    def _has(self, wanted: tuple[str, str, str]) -> bool:
        return self._model is not None and self._model[0] == wanted

    def _told_process(self, wanted: tuple[str, str, str]) -> ModelProcess | None:
        """The process of this model, told what to load; none where there is none, or its model is not causal."""
        from explorer.scoring import hf_kind

        with stopping.turn(self._lock_of(("process",))):
            process = self._process
            if process is None or self._process_for != wanted:
                return None
            if process.source is None or not process.source.weights:
                self.fetch(*wanted)
                source = self._fetched.get(wanted)
                if (
                    source is None
                    or hf_kind.is_encoder_decoder_folder(source.path)
                    or hf_kind.is_masked_folder(source.path)
                ):
                    self.end_process()
                    return None
                if process.source is None:
                    process.load(source, self.settings, wanted[1], wanted[2])
                else:
                    process.identify(source)
                threading.Thread(target=_import_ahead, name="import ahead", daemon=True).start()
            process.wait_for_tokenizer()
            return process

    def reader(
        self, name: str, dtype: str = "auto", device: str = "auto"
    ) -> TextModel | ModelProcess | MaskedLM | EncoderDecoderModel:
        """The model of this name, loaded: a causal one, or one of another kind, which has presets of its own."""
        from explorer.scoring import hf_kind

        self.admit(name)
        wanted = (name, dtype, device)
        if process := self._told_process(wanted):
            return process
        if self._other and self._other[0] == wanted:
            return self._other[1]
        if self._model is None or self._model[0] != wanted:
            self.fetch(name, dtype, device)
            source = self._fetched.get(wanted)
            is_encoder_decoder = source is not None and hf_kind.is_encoder_decoder_folder(source.path)
            if source and (is_encoder_decoder or hf_kind.is_masked_folder(source.path)):
                from explorer.scoring import hf_encoder_decoder, hf_masked

                with stopping.turn(self._lock):
                    self._model = self._generator = self._other = None  # one at a time
                    loader = hf_encoder_decoder if is_encoder_decoder else hf_masked
                    self._other = (wanted, loader.load(source, device, dtype))
                    return self._other[1]
        return self.model(name, dtype, device)

    def fetch(self, name: str, dtype: str = "auto", device: str = "auto") -> None:
        """Brings what the model needs onto this machine; until then what is loaded stays, and nobody else waits."""
        self.admit(name)
        wanted = (name, dtype, device)
        with stopping.turn(self._lock_of(("model", *wanted))):
            if wanted not in self._fetched and (self._model is None or self._model[0] != wanted):
                self._fetched[wanted] = self._find(*wanted)

    def _find(self, name: str, dtype: str, device: str) -> Source:
        from explorer.scoring import hf_source

        return hf_source.find(name, self.settings, device=device, dtype=dtype, progress=self._steps())

    def let_go(self) -> None:
        """Forgets the loaded models, whose files may have changed since; what is asked next loads them anew."""
        with stopping.turn(self._lock):
            self._model = self._generator = self._other = None
            self._fetched.clear()
        if self._second is not None:
            self._second.let_go()

    def embedded(self, name: str) -> Path:
        """The folder of an embedded model, fetched and converted where it is new."""
        from explorer.scoring import embedded

        return embedded.ensure(name, self.settings, progress=self._steps())

    def scorer(self, name: str, dtype: str = "auto", device: str = "auto") -> Scorer:
        """Scores requests with the model of this name, or the one behind an endpoint (http://host/v1#model)."""
        from explorer.scoring import http
        from explorer.scoring.model_process import ModelProcess
        from explorer.scoring.score import ModelScorer

        if http.is_endpoint(name):
            return self.endpoint(name)
        loaded = self.reader(name, dtype, device)
        if isinstance(loaded, ModelProcess):
            return ModelScorer(loaded)
        from explorer.scoring.hf_encoder_decoder import EncoderDecoderModel, EncoderDecoderScorer
        from explorer.scoring.hf_masked import MaskedLM, MaskedScorer  # all that follows has torch imported already

        if isinstance(loaded, EncoderDecoderModel):
            return EncoderDecoderScorer(loaded)
        return MaskedScorer(loaded) if isinstance(loaded, MaskedLM) else ModelScorer(loaded)

    def generator(self, name: str, dtype: str = "auto", device: str = "auto") -> Generator:
        """Writes text with the model of this name, or the one behind an endpoint (http://host/v1#model)."""
        from explorer.scoring import http

        if http.is_endpoint(name):
            return self.endpoint(name)
        if process := self._told_process((name, dtype, device)):
            from explorer.scoring.generate import ModelGenerator
            from explorer.scoring.process_decoder import ProcessDecoder

            return ModelGenerator(process, decoder=ProcessDecoder(process))
        self.fetch(name, dtype, device)
        with stopping.turn(self._lock):
            model = self.model(name, dtype, device)
            # Kept, since it goes on from prefixes that it has read.
            if self._generator is None or self._generator.model is not model:
                del model
                self._generator = self._open_generator(name, dtype, device)
            return self._generator

    def _open_generator(self, name: str, dtype: str, device: str) -> ModelGenerator:
        from explorer.scoring.engine.decoder import open_cached_decoder
        from explorer.scoring.engine.plain import PlainDecoder
        from explorer.scoring.generate import ModelGenerator

        model = self.model(name, dtype, device)
        if decoder := open_cached_decoder(model.runner, model.window):
            return ModelGenerator(model, decoder=decoder)
        del model  # which transformers may have to load again, and two would not fit
        whole = self.whole_model(name, dtype, device)
        return ModelGenerator(whole, decoder=PlainDecoder(whole))

    def beside(self) -> Resources:
        """The same resources with room for a second language model: a judge that alternates with the scored model."""
        if self._second is None:
            self._second = Resources(self.settings, self._progress, self._limits, self._patience, self.admit)
            self._second._kept, self._second._making, self._second._lock = self._kept, self._making, self._lock
        return self._second

    def endpoint(self, name: str) -> Endpoint:
        """The model behind a server, by its name (http://host/v1#model)."""
        from explorer.scoring import http

        confined = self.admit(name)
        return self.once(
            ("endpoint", name, confined),
            lambda: http.from_name(name, self.settings, limits=self._limits, public_only=confined),
        )

    def model_record(self, name: str, dtype: str = "auto") -> dict[str, Any]:
        """What identifies the loaded model: id, revision or weights hash, dtype, device, versions."""
        from explorer.scoring import http

        return dict(self.endpoint(name).record() if http.is_endpoint(name) else self.reader(name, dtype).record())

    def encoder(self, name: str = "all-minilm-l6-v2") -> Encoder:
        """The sentence encoder of this name."""
        from explorer.scoring import encoder

        self.admit(name)
        return self.once(("encoder", name), lambda: encoder.load(name, self.settings))

    def proposer(self, name: str = "auto") -> Proposer:
        """Who says which words fit a gap: a masked model (an id or a folder), or infill:MODEL, a causal one.

        "auto" is roberta-base where it can be had, else infilling by the embedded model.
        """
        from explorer.scoring import encoder, hf_infill
        from explorer.scoring.hf import HFModel

        def infilling(model: str) -> Proposer:
            # In float32, so that a word does not depend on which gaps stood beside it in a batch. A language model of
            # its own, unless the one that is loaded is the same.
            loaded = self._model[1] if self._model else None
            if not isinstance(loaded, HFModel) or (loaded.name, loaded.dtype) != (model, "float32"):
                loaded = self.beside().whole_model(model, "float32")
            return hf_infill.Infiller(loaded)

        def make() -> Proposer:
            if name.startswith(hf_infill.MARK):
                return infilling(name.removeprefix(hf_infill.MARK))
            if name != "auto":
                return encoder.load_masked(name, self.settings, self._steps())
            try:
                return encoder.load_masked(encoder.ROBERTA, self.settings, self._steps())
            except ModelError:
                return infilling(hf_infill.EMBEDDED)

        self.admit(name)
        return self.once(("proposer", name), make)

    def counter(self, index: str) -> Counter:
        """The n-gram counter over the named index."""
        from explorer.popularity.counters import open_counter
        from explorer.popularity.indexes import GLASSBOX
        from explorer.popularity.service import PATIENCE

        self.admit(index)
        patience = self._patience or PATIENCE
        wait = LIVE_WAIT if self._patience else None

        def make() -> Counter:
            if index == GLASSBOX:
                from explorer.glassbox.index import WAIT, ensure_own

                telling = self._telling("building the index of the glass box")
                ensure_own(self.settings, telling, WAIT if wait is None else wait)
            return open_counter(index, self.settings, patience=patience)

        return self.once(("counter", index), make)

    def lexicon(self) -> Any:
        """WordNet."""
        from explorer.variants import wordnet

        return self.once(("lexicon",), lambda: wordnet.open_lexicon(self.settings, progress=self._telling("WordNet")))

    def tagger(self) -> Any:
        """The part-of-speech tagger."""
        from explorer.variants import tagging

        return self.once(("tagger",), tagging.load_tagger)

    def bertscore(self, encoder: str) -> BertScore:
        """BERTScore over the encoder of this name."""
        from explorer.similarity import bertscore

        self.admit(encoder)
        return self.once(("bertscore", encoder), lambda: bertscore.load(self.settings, encoder))

    def store(self) -> Store:
        """The database's newest generation; the caller closes it."""
        from explorer.results.store import open_store

        return open_store(self.settings)

    def ingest_as_made(self, folder: RunFolder, status: str, message: str) -> None:
        """Begins to put the parts of a run into the database as they are made; `ingest_ahead` says that all are."""
        from explorer.results.store import ingest_as_made

        self._all_made.clear()
        self._ingesting = stopping.Begun(
            partial(ingest_as_made, self.settings, folder, status, message, self._all_made), "ingest"
        )

    def ingest_ahead(self, folder: RunFolder, status: str, message: str) -> None:
        """Has the parts of a run, which are all made, put into the database while its findings are made."""
        from explorer.results.store import ingest_runs

        self._all_made.set()
        if self._ingesting is None:
            self._ingesting = stopping.Begun(partial(ingest_runs, self.settings, [folder], status, message), "ingest")

    def ingest(self, folder: RunFolder, status: str = "", message: str = "") -> None:
        """Puts a run's finished parts into the database; under another status than that of its progress, if given."""
        from explorer.results.store import ingest_end, ingest_runs

        ingesting, self._ingesting = self._ingesting, None
        if ingesting and not self._all_made.is_set():
            ingesting.leave()  # the run ends here: no further parts come
        if ingesting and ingesting.has_succeeded(SECONDS_TO_INGEST):
            ingest_end(self.settings, folder, status, message)
        else:
            ingest_runs(self.settings, [folder], status, message)

    def once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What `make` gives, kept under `key`; two threads that ask for the same wait for one making."""
        with stopping.turn(self._lock_of(key)):
            if key not in self._kept:
                self._kept[key] = make()
            return self._kept[key]

    def keep(self, key: tuple[Any, ...], made: Any) -> None:
        """Has `once` give what another process made."""
        with stopping.turn(self._lock_of(key)):
            self._kept[key] = made

    def _lock_of(self, key: tuple[Any, ...]) -> threading.RLock:
        return self._making.setdefault(key, threading.RLock())

    def _telling(self, what: str) -> Callable[[int, int], None]:
        return lambda done, total: self._progress(what, done, total)

    def _steps(self) -> Callable[[str, float], None]:
        return lambda text, share: self._progress(text, round(100 * share), 100)


def _load_light(source: Source, settings: Settings, dtype: str) -> LightModel | None:
    from explorer.scoring import hf_light  # imports PyTorch, which takes most of the time

    return hf_light.load(source, settings, "auto", dtype)


def _hash(path: Path, settings: Settings) -> None:
    from explorer.scoring import hf_source

    with contextlib.suppress(ModelError):  # who names the run says what is wrong
        hf_source.folder_hash(path, settings)


# Needed when all is scored; until the model's process knows its tokenizer there is nothing else to do.
def _import_ahead() -> None:
    from explorer.results import store  # noqa: F401
    from explorer.stats import bootstrap

    bootstrap.import_ahead()
