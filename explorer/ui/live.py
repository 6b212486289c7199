"""One instance scored now, by the code of full runs, through the one model that all visitors share."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from explorer import stopping
from explorer.errors import ExplorerError, ModelError, ScoringError
from explorer.records import Generation, Instance, Request, RunSpec, Score
from explorer.rows.builders import instance_of, payload
from explorer.scoring import http
from explorer.settings import ROOT, Settings
from explorer.studies import verdicts
from explorer.studies.accuracy import study as accuracy_study
from explorer.studies.judged import Judgment
from explorer.ui import resources, show, visitor

T = TypeVar("T")
SMALL = 1.2e9  # bytes of weights that a page loads unasked: some seconds on two cores
ASKED = "live:endpoints"  # the endpoints that this visitor has asked
FAULTS = "live:faults"  # view → what it asked and why that failed


@dataclass(frozen=True, slots=True)
class Judged:
    """An instance's scores in the order asked, and what they say."""

    scores: tuple[Score, ...]
    judgment: Judgment


def judge(instance: Instance, model: str, scoring: Mapping[str, Any], *, beside: bool = False) -> Judged:
    """The instance asked, scored and judged under an accuracy run's settings; ExplorerError where that fails.

    `beside` leaves the model that is loaded in its place.
    """
    # As bytes: half a surrogate pair, which a reader may type, is no UTF-8, and Streamlit could not hash the text.
    text = payload(instance).encode("utf-8", "surrogatepass")
    question = (text, model, tuple(sorted(scoring.items())), resources.settings(), version_of(model))
    judged = _judge(*question, _beside=beside)
    if http.is_endpoint(model) and any(score.reason for score in judged.scores):
        _judge.clear(*question)  # a server may think better of what it refused
    return judged


def attempt(view: str, model: str, about: Hashable, ask: Callable[[], T]) -> T | None:
    """What `ask` gives; where it fails its sentence and a button, and nothing is asked again until that is pressed.

    So all else on the page stays, what was typed too, and a server that is gone does not hold up every click.
    """
    faults: dict[str, tuple[Hashable, ExplorerError]] = st.session_state.setdefault(FAULTS, {})
    if view not in faults or faults[view][0] != (model, about):
        try:
            answered = ask()
        except ExplorerError as error:
            faults[view] = ((model, about), error)
        else:
            faults.pop(view, None)
            if http.is_endpoint(model):
                st.session_state[ASKED] = {*st.session_state.get(ASKED, ()), model}
            return answered
    _, fault = faults[view]
    if isinstance(fault, ScoringError):  # what a model cannot give is no fault
        show.note(str(fault))
    else:
        show.problem(fault)
    st.button("Try again", key=f"again:{view}", icon=":material/refresh:", on_click=forget_fault, args=(view,))
    return None


def generate(model: str, requests: Sequence[Request], **options: Any) -> tuple[list[Generation], str]:
    """What the model writes, and a remark where its server takes no conversations and was sent plain text instead."""
    generator = resources.resources().generator(model)
    if not http.is_endpoint(model) or not any(request.conversation for request in requests):
        return generator.generate(requests, **options), ""
    plain = [dataclasses.replace(request, conversation=None) for request in requests]
    try:
        generations = generator.generate(requests, **options)
        if not all(generation.reason for generation in generations):
            return generations, ""
        others = generator.generate(plain, **options)
        if all(other.reason for other in others):
            return generations, ""
    except (ModelError, ScoringError) as error:
        try:
            others = generator.generate(plain, **options)
        except ExplorerError:
            raise error from None
    return others, "The server takes no conversations here, so the prompt was sent as plain text."


def forget_fault(view: str) -> None:
    """Lets a view ask again."""
    st.session_state.get(FAULTS, {}).pop(view, None)


@contextlib.contextmanager
def turn(model: str, *, beside: bool = False) -> Iterator[None]:
    """While a model is asked: one on this machine serves one visitor at a time, a server looks after its own queue.

    `beside` leaves the model that is loaded in its place. Who waits is let go when his window is closed or he clicks
    elsewhere, and frees what he held.
    """
    if http.is_endpoint(model):
        yield
        return
    shared = resources.resources()
    (shared.beside() if beside else shared).fetch(model)  # what the network takes is waited for without the lock
    with stopping.turn(resources.model_lock()):
        version, versions = version_of(model), _versions()
        if versions.setdefault(model, version) != version:
            shared.let_go()
            versions.clear()
            versions[model] = version
        yield
        if not beside:
            resources.loaded_model()["name"] = model


@st.cache_resource(show_spinner=False)
def _versions() -> dict[str, str]:
    """Model → the version of its files that it was loaded from."""
    return {}


def version_of(model: str) -> str:
    """What stands for the files of a local folder as they are now, template included; "" of any other model.

    A folder may be changed while the app runs: then what was loaded and what was remembered are of another model.
    """
    from explorer.scoring import chat_files

    try:
        return chat_files.version_of(model, resources.settings())
    except ExplorerError:
        return ""  # who asks the model is told


def why_unknown(model: str) -> str:
    """Why nothing can be asked of a model of this name, found out without the network; "" where it may answer."""
    from explorer.scoring import catalog, hf_source, identity

    if why := visitor.why_not_admitted(model):
        return why
    name, _, _ = model.partition("@")
    if http.is_endpoint(model):
        try:
            http.from_name(model, resources.settings())
        except ExplorerError as error:
            return str(error)
        return ""
    if catalog.find(model) or hf_source.is_folder(model):
        return ""
    is_hub_id = "/" in name and identity.HUB_ID.fullmatch(model) is not None
    if is_hub_id and not resources.settings().offline:
        return ""
    if hf_source.is_cached(name):
        return ""
    hint = "it is not on this machine, and the network is off" if is_hub_id else "nothing is known by this name"
    return (
        f"The model {model} cannot be asked: {hint}. Choose one in the bar at the top, or type a Hugging Face id "
        "such as EleutherAI/pythia-160m, a folder, or an endpoint like http://localhost:8000/v1#model."
    )


def is_loaded(model: str) -> bool:
    """Whether the model answers without more ado: the one loaded last, or an endpoint that this visitor has asked."""
    if http.is_endpoint(model):
        return model in st.session_state.get(ASKED, ())
    return resources.loaded_model().get("name") == model


def answers_at_once(model: str) -> bool:
    """Whether a page may ask the model without being told to: it is loaded, or small and already on this machine."""
    if http.is_endpoint(model) or is_loaded(model):
        return is_loaded(model)
    return 0 < _bytes_here(model) <= SMALL


def _bytes_here(model: str) -> float:
    """How large the files of a model are that are on this machine and need no conversion; 0 where there are none."""
    from explorer.scoring import catalog, embedded, hf_source
    from explorer.scoring.weight_files import weight_files

    known = catalog.find(model)
    settings = resources.settings()
    try:
        if known and known.embedded:
            return embedded.BYTES_A_PARAMETER * known.parameters if embedded.is_ready(known.id, settings) else 0
        if known and known.trained_by:
            _, revision = hf_source.split_revision(model)
            trained = settings.models / (f"{known.id}@{revision}" if revision else known.id)
            comes_along = known.folder and not revision and not trained.is_dir()
            folder = ROOT / "explorer" / known.folder if comes_along else trained
        elif hf_source.is_folder(model):
            folder = Path(model).expanduser()
        else:
            return 0
        return sum(file.stat().st_size for file in weight_files(folder))
    except (ExplorerError, OSError):
        return 0


def beginning(model: str) -> str:
    """What happens before the first answer, as the end of a sentence."""
    if http.is_endpoint(model):
        return "its server scores where it returns the log-probabilities of a prompt"
    return "loading it takes some seconds once"


def waiting(model: str, title: str) -> str:
    """What a visitor waits for."""
    if is_loaded(model) or http.is_endpoint(model):
        return f"Asking {title}"
    return f"Loading {title}; the very first time its file is converted, which takes a minute"


@st.cache_data(max_entries=512, show_spinner=False)
def _judge(
    text: bytes, model: str, scoring: tuple[tuple[str, Any], ...], settings: Settings, version: str, *,
    _beside: bool = False,
) -> Judged:  # fmt: skip
    instance = instance_of(text.decode("utf-8", "surrogatepass"))
    spec = RunSpec(
        "accuracy",
        accuracy_study.STUDY.version,
        model,
        instance.benchmark,
        settings=accuracy_study.STUDY.resolve(dict(scoring)),
    )
    policy = accuracy_study.policy_of(spec)
    shared = resources.resources()
    shared = shared.beside() if _beside else shared
    with turn(model, beside=_beside):
        scores = shared.scorer(model).score(accuracy_study.build_requests(instance, policy), policy)
        dtype = str(shared.model_record(model).get("dtype", ""))  # a server does not tell its own
    return Judged(tuple(scores), Judgment.of_rows(verdicts.judge(instance, scores, policy, dtype)))


def edited(instance: Instance, **changes: Any) -> Instance:
    """The instance with another text, as a variant of the one it came from."""
    return dataclasses.replace(instance, **changes, parent=instance.parent or instance.id, edit="typed by a reader")
