"""Three ways to bring a model, each a form with a test: a folder, the Hugging Face hub, an endpoint."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable

import streamlit as st

from explorer import display
from explorer.errors import ExplorerError, ModelError
from explorer.records import Request
from explorer.runs import cost, request
from explorer.scoring import folder_report, hf_kind, hf_source, http, http_keys, http_report
from explorer.scoring.folder_report import FolderReport
from explorer.scoring.hf_source import Offer
from explorer.scoring.http_report import SCORED, EndpointReport
from explorer.scoring.identity import HUB_ID
from explorer.scoring.policy import PLL, PRESETS, SEQ2SEQ
from explorer.settings import path_of
from explorer.ui import inventory, layout, links, live, resources, show, unasked_servers, visitor

FOLDER, HUB, ENDPOINT = WAYS = ("A folder", "From the Hugging Face hub", "An endpoint")
LARGEST = 6_000_000_000  # bytes of the weights that a test loads without being asked again
PRICED = "starter_pairs"  # the benchmark whose cost is told
RESULT = (
    "bring:result"  # in the session's state: the way, the name, the lines that the test gave, whether it may be added
)

Lines = list[tuple[str, str]]  # what was found, in two columns


@dataclasses.dataclass(frozen=True, slots=True)
class Tested:
    """What a test gave: the lines to show, and what stands against adding the model, "" where nothing does."""

    way: str
    name: str
    lines: Lines
    against: str = ""


def draw_add_model() -> None:
    """The three forms, what the last test found, and the button that puts the model on the list."""
    way = links.pick(st.segmented_control, "Way", "bring", WAYS, default=FOLDER, required=True,
                     label_visibility="collapsed")  # fmt: skip
    {FOLDER: _folder_form, HUB: _hub_form, ENDPOINT: _endpoint_form}[way]()
    tested = st.session_state.get(RESULT)
    if tested and tested.way == way:
        _result(tested)


def _folder_form() -> None:
    show.note(
        "A folder in the Hugging Face layout (config.json, weights, the files of its tokenizer), a LoRA adapter's "
        "folder, or a GGUF file."
    )
    if not visitor.is_trusted():
        show.note("Only the owner of this app can name folders of the machine that it runs on.")
        return
    with st.form("bring:folder", border=False):
        name = st.text_input("Folder", key="bring:path", placeholder="/home/me/models/my-model")
        if st.form_submit_button("Test", key="bring:test_folder", icon=":material/search:"):
            _test(FOLDER, name or "", _folder)


def _hub_form() -> None:
    show.note("A model's id, with a revision after an @ where another than the newest is meant.")
    with st.form("bring:hub", border=False):
        name = st.text_input("Id", key="bring:id", placeholder="EleutherAI/pythia-160m@step1000")
        if st.form_submit_button("Test", key="bring:test_hub", icon=":material/search:"):
            _test(HUB, name or "", _hub)


def _endpoint_form() -> None:
    show.note(
        "A server compatible with OpenAI's: vLLM, llama.cpp, Ollama, OpenAI itself. The test sends it a few short "
        "sentences."
    )
    with st.form("bring:endpoint", border=False):
        address = st.text_input("Address", key="bring:address", placeholder="http://localhost:8000/v1")
        model = st.text_input("Model", key="bring:model_name", placeholder="the name under which the server has it")
        if st.form_submit_button("Test", key="bring:test_endpoint", icon=":material/lan:"):
            _test(ENDPOINT, f"{(address or '').strip().rstrip('/')}#{(model or '').strip()}", _endpoint)


def _test(way: str, name: str, look: Callable[[str], Tested]) -> None:
    name = name.strip()
    st.session_state.pop(RESULT, None)
    if not name or name == "#":
        show.note("Type a name first.")
        return
    try:
        with st.spinner("Testing"):
            st.session_state[RESULT] = look(name)
    except ExplorerError as error:
        st.session_state[RESULT] = Tested(way, name, [], str(error))


def _result(tested: Tested) -> None:
    if tested.lines:
        rows = "".join(
            f'<div class="lx-row-name">{html.escape(label)}</div><div>{html.escape(outcome)}</div>'
            for label, outcome in tested.lines
        )
        st.html(f'<div class="lx-rows">{rows}</div>')
    if tested.against:
        st.error(show.plain(tested.against), icon=":material/error:")
        return
    if tested.name in inventory.added_models():
        st.success(show.plain(f"{tested.name} is on the list of models."), icon=":material/check:")
        layout.link_to("Instance", "Score an instance with it", model=tested.name)
    else:
        st.button("Add to the models", key="bring:add", type="primary", icon=":material/add:", on_click=_add,
                  args=(tested.name,))  # fmt: skip


def _add(name: str) -> None:
    try:
        inventory.add_model(name)
    except ModelError as error:
        st.session_state[RESULT] = dataclasses.replace(st.session_state[RESULT], against=str(error))


# A folder


def _folder(name: str) -> Tested:
    visitor.admit(name)
    path = path_of(name).resolve()
    report = folder_report.report(name, path)
    lines = _facts(report)
    against = report.refusal
    if not against and report.bytes <= LARGEST:
        lines.append(_first_score(str(path), _preset_of(report)))
        against = "" if lines[-1][0] == "First score" else lines.pop()[1]
    elif not against:
        lines.append(("First score", "not tried: it is large, and is loaded when it is first used"))
    return Tested(FOLDER, str(path), lines, against)


def _facts(report: FolderReport) -> Lines:
    files = "1 file" if report.files == 1 else f"{report.files:,} files"
    numbers = f", in {report.numbers}" if report.numbers else ""
    weights = f"{report.bytes / 1e9:.2f} GB in {files}{numbers}" if report.files else "none that can be read"
    weights += f" ({report.form}; made into safetensors once)" if report.form else ""
    tokenizer = report.tokenizer or "none: the folder lacks tokenizer.json"
    words = f", {report.vocabulary:,} tokens" if report.vocabulary else ""
    lines = [
        ("Architecture", report.architecture),
        ("Parameters", display.compact(report.parameters) if report.parameters else "not told"),
        ("Weights", weights),
        ("Tokenizer", f"{tokenizer}{words}"),
        ("Context window", f"{report.window:,} tokens" if report.window else "not told"),
        ("Chat template", "yes" if report.template else "no"),
    ]
    causal = "no" if report.refusal else "yes, as its configuration says"
    if report.masked:
        causal = "no: it was trained to fill gaps, and runs with it take the preset pll (pseudo-log-likelihood)"
    if report.encoder_decoder:
        causal = "no: it has an encoder and a decoder, and runs with it take the preset seq2seq or decoder"
    return [*lines, ("Causal", causal)]


def _preset_of(report: folder_report.FolderReport) -> str:
    return PLL if report.masked else SEQ2SEQ if report.encoder_decoder else "natural"


def _first_score(name: str, preset: str) -> tuple[str, str]:
    """The log-probability of a few words, by the model loaded beside the one in use."""
    context, continuation = SCORED
    try:
        with live.turn(name, beside=True):
            scorer = resources.resources().beside().scorer(name)
            (score,) = scorer.score([Request("test", 0, context, continuation)], PRESETS[preset])
    except ExplorerError as error:
        return "Fault", str(error)
    if score.reason:
        return "Fault", f"It loads and gives no score: {score.reason}."
    return "First score", f"“{continuation.strip()}” after “{context}”: {display.nats(score.sum)}"


# The hub


def _hub(name: str) -> Tested:
    visitor.admit(name)
    if not HUB_ID.fullmatch(name) or hf_source.is_folder(name):
        raise ModelError(f"{name!r} is no id of the Hugging Face hub, expected one like EleutherAI/pythia-160m.")
    base = name.partition("@")[0]
    if hf_source.is_cached(base) and resources.settings().offline:
        return Tested(HUB, name, [("Files", "on this machine"), ("Hub", "not asked: the network is off")])
    offer = hf_source.ask_hub(name, resources.settings())
    return Tested(HUB, name, _offered(base, offer), _against(name, offer))


def _offered(base: str, offer: Offer) -> Lines:
    size = f"{offer.bytes / 1e9:.2f} GB"
    where = "on this machine" if hf_source.is_cached(base) else "downloaded when it is first used"
    return [
        ("Architecture", hf_kind.architecture(offer.config)),
        ("Parameters", display.compact(offer.parameters) if offer.parameters else "not told"),
        ("Files", f"{size}, {where}"),
        ("License", offer.license or "not told"),
    ]


def _against(name: str, offer: Offer) -> str:
    try:
        hf_kind.require_causal(name, offer.config)
    except ModelError as error:
        return str(error)
    return ""


# An endpoint


def _endpoint(name: str) -> Tested:
    settings = resources.settings()
    http.from_name(name, settings)  # an error where it is no address of a server with a model
    unasked_servers.allow(name)  # whoever types an address and presses Test has said yes to its server
    endpoint = resources.resources().endpoint(name)
    report = http_report.report(endpoint)
    lines = [*_answered(report), ("Cost", _cost(name)), ("Key", _key(name))]
    against = report.why_no_answer if report.why_no_answer and report.why_no_scores else ""
    return Tested(ENDPOINT, endpoint.name, lines, against)


def _answered(report: EndpointReport) -> Lines:
    answer = report.why_no_answer
    if not answer:
        form = "a conversation" if report.as_chat else "plain text; it takes no conversations"
        shown = display.name(" ".join(report.answer.split()), 80) or "nothing"
        answer = f"“{shown}” after {report.seconds:.1f} s, to {form}"
    scores = (
        f"yes, {' and '.join(report.ways) or report.way}: {display.nats(report.logprob)} for “{SCORED[1].strip()}”"
        if not report.why_no_scores
        else f"no: {report.why_no_scores} So it can write, and accuracy, popularity, priming and swaps cannot be "
        "measured with it."
    )
    as_chat = f"no: {report.why_no_chat}" if report.why_no_chat else "yes, by prompt_logprobs: runs may ask as a chat"
    window = f"{report.window:,} tokens" if report.window else "not told by the server"
    return [
        ("First answer", answer),
        ("Log-probabilities of a prompt", scores),
        ("Log-probabilities of an answer in a chat", as_chat),
        ("Context window", window),
    ]


def _cost(name: str) -> str:
    """What one accuracy run over a starter set would ask and cost."""
    shared = resources.resources()
    try:
        spec = request.make_spec(shared, study="accuracy", model=name, benchmark=PRICED, settings={"per_group": 1})
        estimate = cost.estimate_run(spec, shared)
    except ExplorerError as error:
        return str(error)
    settings = resources.settings()
    priced = "" if settings.price_in or settings.price_out else (
        " No prices are set (EXPLORER_PRICE_IN and EXPLORER_PRICE_OUT, per million tokens)."
    )  # fmt: skip
    return f"A run over one instance of each of the starter pairs' groups: {cost.describe(spec, estimate)}{priced}"


def _key(name: str) -> str:
    settings = resources.settings()
    key = http_keys.key_for(http.full_name(name, settings), settings)
    return f"the one in {key.variable} goes with it" if key.value else f"none goes with it. {key.advice}"
