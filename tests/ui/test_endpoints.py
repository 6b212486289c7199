"""Endpoints in the live views: each works with what a server gives, says what it does not, and keeps the text."""

from __future__ import annotations

import json
import math
import os
import random
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.scoring.http_calls import Limits
from explorer.ui import live, resources, visitor
from explorer.ui.corpus import model_next
from explorer.ui.layout import PAGES, Chosen
from explorer.ui.ontology import inspector as ontology_inspector
from explorer.ui.priming import live as priming_live
from explorer.variants import wordnet_files
from explorer.variants.lexicon import Lemma, Sense
from tests.endpoint_servers import Call, Reply, Server, chat, completion, echoed, scoring
from tests.ui.conftest import strip_of

LISTED = {"data": [{"id": "m", "owned_by": "us"}]}
QUICK = Limits(concurrency=4, timeout=2, tries=1, delay=0.01, longest_wait=0.01)
UNSCORED = "returned no log-probabilities of the prompt"


def writes(call: Call, number: int) -> Reply:
    """A server that writes and never tells a log-probability."""
    return Reply(body=chat("fine") if "messages" in call.body else completion(" fine"))


def tells_what_it_wrote(call: Call, number: int) -> Reply:
    """A server that does not know echo: log-probabilities of the token it wrote alone."""
    if "messages" in call.body or "logprobs" not in call.body:
        return writes(call, number)
    return Reply(body={"choices": [echoed([" fine"], [-0.5])]})


def refuses_echo(call: Call, number: int) -> Reply:
    if call.body.keys() & {"echo", "prompt_logprobs"}:
        return Reply(400, {"error": {"message": "echo is not supported"}})
    return writes(call, number)


def converses(call: Call, number: int) -> Reply:
    """A server of conversations alone."""
    return writes(call, number) if "messages" in call.body else Reply(404, {"error": {"message": "a chat model"}})


def completes(call: Call, number: int) -> Reply:
    """A server of a base model, which has no chat template."""
    if "messages" in call.body:
        return Reply(400, {"error": {"message": "no chat template"}})
    return writes(call, number)


# A server that gives no scores → what every view that scores says of it.
UNSCORING: dict[str, tuple[Callable[[Call, int], Reply], str]] = {
    "writes": (writes, UNSCORED),
    "tells_what_it_wrote": (tells_what_it_wrote, UNSCORED),
    "refuses_echo": (refuses_echo, "echo is not supported"),
    "converses": (converses, "for conversations alone"),
}
# A server that gives nothing → what every view says of it.
BROKEN: dict[str, tuple[Callable[[Call, int], Reply], str]] = {
    "wants_a_key": (lambda call, number: Reply(401, {"error": {"message": "no"}}), "wants a key"),
    "limits": (lambda call, number: Reply(429, {"error": {"message": "slow down"}}), "went on limiting the rate"),
    "fails": (lambda call, number: Reply(500, {"error": {"message": "out of memory"}}), "failed with status 500"),
    "is_silent": (lambda call, number: Reply(body=completion("late"), after=4), "was silent for"),
    "is_a_web_site": (lambda call, number: Reply(body=b"<html>welcome</html>"), "something that is not JSON"),
}


class OneWord:
    """A lexicon that knows a synonym of "winter" and nothing else."""

    name = "one word"

    def senses(self, lemma, pos):
        lemmas = (Lemma("winter"), Lemma("wintertime"))
        return (Sense("winter.n.01", "n", 1, lemmas[0], lemmas, "the cold season"),) if lemma == "winter" else ()

    def has(self, expression):
        return False

    def related(self, synset):
        return ()


@pytest.fixture(autouse=True)
def said_yes(monkeypatch) -> None:
    """Every server may be asked; tests/ui/test_names.py asks whether."""
    monkeypatch.setattr(visitor, "admit", lambda name: False)


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., str]]:
    """Starts a server and gives its model's name."""
    monkeypatch.setattr(resources, "LIVE", QUICK)
    made: list[Server] = []

    def start(answer: Callable[[Call, int], Reply]) -> str:
        made.append(Server(answer, LISTED))
        return f"{made[-1].url}#m"

    yield start
    for server in made:
        server.close()


@pytest.fixture(scope="module")
def scored(tiny_gpt2: Path) -> Iterator[str]:
    """A server that gives the tiny model's log-probabilities."""
    server = Server(scoring(tiny_gpt2), LISTED)
    yield f"{server.url}#m"
    server.close()


@pytest.fixture(scope="module")
def scored_by_vllm(tiny_gpt2: Path) -> Iterator[str]:
    """As `scored`, by vLLM's prompt_logprobs alone."""
    answer = scoring(tiny_gpt2)

    def without_echo(call: Call, number: int) -> Reply:
        return writes(call, number) if "echo" in call.body else answer(call, number)

    server = Server(without_echo, LISTED)
    yield f"{server.url}#m"
    server.close()


@pytest.fixture
def dead() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1#m"


@pytest.fixture(scope="module")
def ontology(tmp_path_factory) -> Path:
    """A data folder with a Gene Ontology of 30 concepts of our own."""
    chance = random.Random(3)
    folder = tmp_path_factory.mktemp("data")
    (folder / "go").mkdir()
    rows = [f"GO:{1000 + i:07d};{chance.choice(['heart', 'cell'])} {i};0;{i * i}" for i in range(30)]
    (folder / "go" / "go_dataset.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


def cells(app) -> list[dict]:
    """Every cell of the strip."""
    blocks = strip_of(app)["blocks"]
    return [cell for block in blocks for column in block["columns"] for cell in column["cells"] if cell]


def texts_of_strip(app) -> str:
    """The texts whose rows the strip shows."""
    return "\n".join(line["text"] for block in strip_of(app)["blocks"] for line in block["lines"])


def words_of(app) -> str:
    """All that the page says, but the controls."""
    shown = [element.value for kind in (app.header, app.subheader, app.error, app.markdown) for element in kind]
    html = [element.proto.body for element in app.html if "<style>" not in element.proto.body]
    return "\n".join([*map(str, shown), *html]).replace("\\", "")


# Each view opened, and asked: the page after it


def instance(open_page, cache: Path, model: str):
    app = open_page("instance", cache, model=model, benchmark="starter_pairs")
    return app.button(key="score:now").click().run(timeout=60)


def typed(open_page, cache: Path, model: str):
    edit = json.dumps({"option 0": "The keys of the cabinet are lost."})
    app = open_page("instance", cache, model=model, benchmark="starter_pairs", edit=edit)
    return app.button(key="score:now").click().run(timeout=60)


def priming(open_page, cache: Path, model: str):
    lines = json.dumps(["Nobody sings."])
    app = open_page("priming", cache, model=model, benchmark="starter_pairs", what="A pair of my own",
                    good="They sing.", bad="They sings.", context=lines)  # fmt: skip
    return app.button(key="score:now").click().run(timeout=60)


def swaps(open_page, cache: Path, model: str):
    settings = settings_module.read(cache=cache)
    folder = settings.nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True, exist_ok=True)
    for name in wordnet_files.FILES:  # as long as WordNet's, and empty: the lexicon is the one below
        (folder / name).write_text("\n")
        os.truncate(folder / name, wordnet_files.SIZES.get(name, 1))
    open_page("runs", cache)  # so that the app's resources are those of this cache
    resources.resources().once(("lexicon",), OneWord)
    app = open_page("perturbation", cache, model=model, what="A text of my own", text="The winter was long.",
                    swaps="winter.n:wintertime", word="winter.n")  # fmt: skip
    return app.button(key="score:now").click().run(timeout=60)


def in_context(open_page, cache: Path, model: str):
    app = open_page("in_context", cache, model=model, benchmark="starter_entailment", facet="Live lab", shots="1")
    return app.button(key="icl:ask").click().run(timeout=60)


VIEWS = {"instance": instance, "typed": typed, "priming": priming, "swaps": swaps}
# What a reader has before them in each view, and must still have after a fault.
KEPT = {
    "instance": lambda app: "grandmother" in texts_of_strip(app),
    "typed": lambda app: "The keys of the cabinet are lost." in texts_of_strip(app),
    "priming": lambda app: (
        {"They sing.", "They sings."} <= {one.value for one in app.text_input}
        and json.loads(app.query_params["context"]) == ["Nobody sings."]
    ),
    "swaps": lambda app: (
        app.text_area(key="lab:text").value == "The winter was long."
        and strip_of(app)["panel"]["about"].startswith("noun, winter")
    ),
}


def margins(app) -> list[float]:
    return [float(one.value.replace("−", "-")) for one in app.metric if one.value != "–"]


# What a server gives is shown


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("way", ["echo", "vllm"])
def test_log_probabilities_of_a_prompt_are_shown_token_by_token(open_page, tmp_path, request, view, way):
    app = VIEWS[view](open_page, tmp_path / "cache", request.getfixturevalue("scored" + "_by_vllm" * (way == "vllm")))
    assert not app.exception and not app.error
    assert KEPT[view](app)
    if view == "swaps":
        assert margins(app)[0] < 0
    else:
        assert "lx-verdict" in words_of(app) and any(cell["number"] for cell in cells(app))
        assert "Without a score" not in words_of(app)


@pytest.mark.parametrize("way", ["scored", "scored_by_vllm"])
def test_a_servers_scores_in_a_live_view_are_the_models_own(tmp_path, monkeypatch, request, tiny_gpt2, way):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    pair = resources.instances("starter_pairs").instances[0]
    # A server puts nothing before a text here, so the first token has no score; a local model is asked so, too.
    mine = live.judge(pair, str(tiny_gpt2), {"bos": "never"})
    theirs = live.judge(pair, request.getfixturevalue(way), {})
    for one, other in zip(mine.scores, theirs.scores, strict=True):
        assert other.tokens == one.tokens
        assert other.logprobs == pytest.approx(one.logprobs, abs=1e-4, nan_ok=True)
    assert [one.name for one in theirs.judgment.measured] == [one.name for one in mine.judgment.measured]


def test_after_a_context_a_server_gives_the_margins_of_the_model_itself(tmp_path, monkeypatch, scored, tiny_gpt2):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    pair = resources.instances("starter_pairs").instances[0]
    sentences = ["Nobody sings.", "She left."]
    mine = priming_live.growth(pair, sentences, str(tiny_gpt2), "minicons")
    theirs = priming_live.growth(pair, sentences, scored, "natural")
    assert [point.judgment.value("margin") for point in theirs[1:]] == pytest.approx(
        [point.judgment.value("margin") for point in mine[1:]], abs=1e-3
    )
    assert all(math.isnan(point.tokens) for point in theirs[1:])
    assert "nothing comes before it" in " ".join(priming_live.remarks(theirs))


def test_the_in_context_lab_shows_an_endpoints_answer_and_the_scores_of_its_labels(open_page, tmp_path, scored):
    app = in_context(open_page, tmp_path / "cache", scored)
    assert not app.exception and not app.error
    assert "In the data set" in words_of(app) and "No label has a score" not in words_of(app)
    labels = next(frame.value for frame in app.dataframe if "logprob" in frame.value.columns)
    assert len(labels) == 2 and (labels["logprob"] < 0).all() and labels["chosen"].sum() == 1


@pytest.mark.parametrize("server", UNSCORING)
def test_the_in_context_lab_shows_what_a_server_wrote_and_why_its_labels_have_no_score(
    open_page, tmp_path, serve, server
):
    answer, why = UNSCORING[server]
    app = in_context(open_page, tmp_path / "cache", serve(answer))
    assert not app.exception and not app.error
    assert "In the data set" in words_of(app)
    labels = [frame.value for frame in app.dataframe if "logprob" in frame.value.columns]
    if labels:  # each label was refused for itself
        assert labels[0]["logprob"].isna().all() and not labels[0]["chosen"].any()
        assert all(why in reason for reason in labels[0]["reason"])
    else:
        assert "No label has a score" in words_of(app) and why in words_of(app)


def test_a_base_model_behind_a_server_is_sent_plain_text_and_the_page_says_so(open_page, tmp_path, serve):
    app = in_context(open_page, tmp_path / "cache", serve(completes))
    assert not app.exception and not app.error
    assert "In the data set" in words_of(app) and "sent as plain text" in words_of(app)


@pytest.mark.parametrize("server", ["scored", *UNSCORING])
def test_the_inspector_asks_an_endpoint_and_tells_how_likely_the_right_id_is_or_why_not(
    tmp_path, monkeypatch, request, serve, ontology, server
):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EXPLORER_DATA", str(ontology))
    answer, why = UNSCORING.get(server, (None, ""))
    model = serve(answer) if answer else request.getfixturevalue(server)
    concept = resources.instances("go").instances[0]
    found = ontology_inspector.ask_concept(concept, Chosen(model, "go"))
    assert len(found.answers) == 16 and set(found.answers["Answer"]) <= {"fine", " fine"}
    logprob = found.judgment.get("gold_logprob")
    value, reason = logprob.value, logprob.reason
    assert (value < 0 and not reason) if server == "scored" else (math.isnan(value) and why in reason)
    assert not (tmp_path / "cache" / "runs").exists()  # a question of a visitor's is no run


def test_the_inspector_says_of_a_base_model_that_it_was_sent_plain_text(tmp_path, monkeypatch, serve, ontology):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EXPLORER_DATA", str(ontology))
    found = ontology_inspector.ask_concept(resources.instances("go").instances[0], Chosen(serve(completes), "go"))
    assert set(found.answers["Answer"]) == {" fine"} and "plain text" in found.remarks[0]


# What a server does not give is said, and all else stays


@pytest.mark.parametrize("server", UNSCORING)
@pytest.mark.parametrize("view", VIEWS)
def test_a_server_without_scores_is_told_quietly_and_the_text_stays(open_page, tmp_path, serve, view, server):
    answer, why = UNSCORING[server]
    app = VIEWS[view](open_page, tmp_path / "cache", serve(answer))
    assert not app.exception and not app.error
    assert why in words_of(app)
    assert KEPT[view](app)


@pytest.mark.parametrize("server", ["scored", "writes", "refuses_echo", "converses"])
def test_the_popularity_of_n_grams_stands_whether_or_not_a_server_scores(open_page, tmp_path, request, serve, server):
    answer, why = UNSCORING.get(server, (None, ""))
    model = serve(answer) if answer else request.getfixturevalue(server)
    app = open_page("instance", tmp_path / "cache", model=model, benchmark="starter_pairs", layer="Popularity")
    app = app.button(key="score:now").click().run(timeout=60)
    assert not app.exception and KEPT["instance"](app)
    assert any(margins(app)) if server == "scored" else why in words_of(app)
    # A corpus that is not on this machine may be told in red; what the server does not give is not.
    assert not [error for error in app.error if why and why in error.value]


def test_what_comes_next_says_that_a_server_does_not_tell_what_it_expects(serve):
    guess = model_next.expected_tokens(serve(writes), "The winter was")
    assert not guess.tokens and "does not say what it expects" in guess.reason


@pytest.mark.parametrize(
    ("view", "server"),
    [
        *(("typed", server) for server in (*BROKEN, "is_gone")),
        *((view, server) for view in ("instance", "priming", "swaps", "in_context") for server in ("fails", "is_gone")),
    ],
)
def test_a_server_that_fails_is_told_in_one_sentence_and_the_text_stays(open_page, tmp_path, serve, dead, view, server):
    answer, why = BROKEN.get(server, (None, "cannot be reached"))
    app = {**VIEWS, "in_context": in_context}[view](open_page, tmp_path / "cache", serve(answer) if answer else dead)
    assert not app.exception
    assert len(app.error) == 1 and why in words_of(app)
    assert KEPT.get(view, lambda app: "Sentence 2:" in words_of(app))(app)
    # One for the server; a corpus that is not on this machine has one of its own.
    assert [one.key for one in app.button if one.label == "Try again"].count("again:Popularity") <= 1
    assert len([one for one in app.button if one.label == "Try again" and one.key != "again:Popularity"]) == 1


def test_a_server_that_failed_is_asked_again_only_when_the_reader_wants_it(open_page, tmp_path, monkeypatch, tiny_gpt2):
    monkeypatch.setattr(resources, "LIVE", QUICK)
    well = scoring(tiny_gpt2)
    ill = [True]
    server = Server(lambda call, number: Reply(500, {"error": {"message": "warming up"}}) if ill else well(call, 0),
                    LISTED)  # fmt: skip
    app = instance(open_page, tmp_path / "cache", f"{server.url}#m")
    asked = len(server.calls)
    assert "warming up" in words_of(app)
    app.button_group(key="pick:unit").set_value("bits").run()
    assert "warming up" in words_of(app)
    app.button(key="step:forth").click().run()
    app.button(key="step:back").click().run()
    assert "warming up" in words_of(app) and len(server.calls) == asked
    ill.clear()
    app.button(key="again:instance").click().run()
    assert not app.error and "lx-verdict" in words_of(app)
    app.button(key="step:forth").click().run()  # from now on each instance is scored as it comes
    assert not app.error and "lx-verdict" in words_of(app)
    server.close()


def test_what_a_server_refused_once_is_asked_again(tmp_path, monkeypatch, tiny_gpt2):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    well = scoring(tiny_gpt2)
    small = [True]
    server = Server(lambda call, number: Reply(400, {"error": {"message": "too long"}}) if small else well(call, 0))
    pair = resources.instances("starter_pairs").instances[0]
    assert "too long" in live.judge(pair, f"{server.url}#m", {}).scores[0].reason
    small.clear()
    assert live.judge(pair, f"{server.url}#m", {}).scores[0].sum < 0
    server.close()


def test_a_slow_server_does_not_hold_up_those_who_ask_a_model_on_this_machine(tmp_path, monkeypatch, tiny_gpt2):
    import threading

    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    asked, go_on = threading.Event(), threading.Event()

    def slow(call: Call, number: int) -> Reply:
        asked.set()
        go_on.wait(20)
        return writes(call, number)

    server = Server(slow)
    first, second = resources.instances("starter_pairs").instances[:2]

    def wait_for_it() -> None:
        with pytest.raises(live.ScoringError):
            live.judge(first, f"{server.url}#m", {})

    visitor = threading.Thread(target=wait_for_it)
    visitor.start()
    assert asked.wait(20)
    assert live.judge(second, str(tiny_gpt2), {}).scores[0].sum < 0
    assert visitor.is_alive()
    go_on.set()
    visitor.join(20)
    server.close()


@pytest.mark.parametrize(
    "model", ["http://", "http://127.0.0.1:9/v1", "https://user:word@example.org/v1#m", "openai:", "http://h/v1?k=1#m"]
)
@pytest.mark.parametrize("page", ["instance", "priming", "perturbation", "in_context"])
def test_an_address_that_is_no_endpoint_is_not_offered(open_page, tmp_path, page, model):
    app = open_page(page, tmp_path / "cache", model=model, benchmark="starter_entailment" if page == "in_context" else
                    "starter_pairs", **({"facet": "Live lab"} if page == "in_context" else {}))  # fmt: skip
    assert not app.exception
    assert not {"score:now", "icl:ask"} & {one.key for one in app.button}


@pytest.mark.parametrize("address", [page.address for page in PAGES])
def test_every_page_opens_with_an_endpoint_as_its_model(open_page, tmp_path, dead, address):
    app = open_page(address, tmp_path / "cache", model=dead, benchmark="starter_pairs")
    assert not app.exception and not app.error


@pytest.mark.slow
def test_llama_cpps_own_server_writes_in_the_lab_and_the_other_views_say_that_it_scores_nothing(
    open_page, tmp_path, llama_server
):
    model = f"{llama_server}#gemma"
    app = in_context(open_page, tmp_path / "cache", model)
    assert not app.exception and not app.error
    assert "In the data set" in words_of(app) and UNSCORED in words_of(app)
    for view in ("instance", "typed", "priming"):
        app = VIEWS[view](open_page, tmp_path / "cache", model)
        assert not app.exception and not app.error
        assert UNSCORED in words_of(app) and KEPT[view](app)
