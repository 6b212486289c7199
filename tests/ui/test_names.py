"""Names of servers and files in a link or typed on a page: what is asked about first, and what is refused."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.settings import ROOT
from explorer.ui import starting, visitor

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


@pytest.fixture
def cache(finished: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the cache with one finished run: these tests press every button, that which deletes the run too."""
    return Path(shutil.copytree(finished[0], tmp_path / "copied"))


@pytest.fixture
def server() -> Iterator[Any]:
    """An endpoint that writes down every request."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.dumps({"choices": [{"text": "x"}], "data": []}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, *args: object) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    made.heard, made.url = heard, f"http://127.0.0.1:{made.server_port}/v1"  # type: ignore[attr-defined]
    yield made
    made.shutdown()
    made.server_close()


def opened(page: str, cache: Path, monkeypatch: pytest.MonkeyPatch, **choices: str) -> AppTest:
    """A page opened by a link, by somebody who has said yes to nothing."""
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
    for name, value in choices.items():
        app.query_params[name] = value
    return app.run()


def questions(app: AppTest) -> list[str]:
    return [warning.value for warning in app.warning if "Nothing was sent there yet" in warning.value]


@pytest.mark.parametrize("page", PAGES)
def test_a_link_that_names_an_endpoint_sends_nothing_and_the_page_asks(page, server, cache, monkeypatch):
    model = f"{server.url}#m"
    app = opened(
        page, cache, monkeypatch, model=model, benchmark="starter_pairs", judge=model, view="Concept inspector"
    )
    assert not app.exception
    assert len(questions(app)) == 1 and "No key goes with it" in questions(app)[0]
    assert model in [code.value for code in app.code]
    # Nor does any button that the page has, but the one that says yes.
    for key in [
        button.key for button in app.button if button.key and not button.key.startswith(("allow:", "prepare:"))
    ]:
        if key in [button.key for button in app.button if not button.proto.disabled]:
            app.button(key=key).click().run()
            assert not app.exception
    assert server.heard == []


def test_who_says_yes_is_asked_no_more_in_this_session_and_the_server_is_asked(server, cache, monkeypatch):
    model = f"{server.url}#m"
    app = opened("instance", cache, monkeypatch, model=model, benchmark="starter_pairs")
    assert not [button for button in app.button if (button.key or "").startswith("score")]
    app.button(key="allow:model").click().run()
    assert not questions(app) and not app.exception
    assert server.heard == []  # saying yes sends nothing by itself
    with_score = [button for button in app.button if "core" in button.label]
    with_score[0].click().run()
    assert server.heard
    assert questions(opened("instance", cache, monkeypatch, model=model, benchmark="starter_pairs"))


def test_the_question_tells_which_key_goes_along(server, cache, monkeypatch):
    port = server.server_port
    monkeypatch.setenv("EXPLORER_API_KEY", "sk-secret")
    app = opened("overview", cache, monkeypatch, model=f"{server.url}#m")
    assert "No key goes with it" in questions(app)[0]
    # A server with a key of its own, or that of the settings, is the owner's own: no question.
    monkeypatch.setenv(f"EXPLORER_API_KEY_127_0_0_1_{port}", "sk-here")
    assert not questions(opened("overview", cache, monkeypatch, model=f"{server.url}#m"))
    monkeypatch.delenv(f"EXPLORER_API_KEY_127_0_0_1_{port}")
    monkeypatch.setenv("EXPLORER_API_URL", server.url)
    assert not questions(opened("overview", cache, monkeypatch, model=f"{server.url}#m"))
    assert not questions(opened("overview", cache, monkeypatch, model="openai:m"))


def test_who_types_an_endpoint_himself_has_said_yes(server, cache, monkeypatch):
    app = opened("overview", cache, monkeypatch)
    picker = next(box for box in app.selectbox if box.label == "Model")
    picker.options.append(f"{server.url}#m")
    picker.set_value(f"{server.url}#m").run()
    assert not app.exception and not questions(app)


def test_a_run_of_a_linked_endpoint_does_not_start(server, cache, monkeypatch):
    app = opened("overview", cache, monkeypatch, model=f"{server.url}#m", benchmark="starter_pairs")
    app.button(key="run:open").click().run()
    app.button(key="run:start").click().run()
    assert any("nobody has said yes" in error.value for error in app.error)
    assert server.heard == []


@pytest.mark.parametrize("name", ["/etc", "../..", "~", "/no/such/model"])
def test_a_visitor_from_elsewhere_names_no_folder_of_the_server(name, cache, monkeypatch):
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    app = opened("instance", cache, monkeypatch, model=name, benchmark="starter_pairs")
    app.button(key="run:open").click().run()
    app.button(key="run:start").click().run()
    assert not app.exception
    assert any("names a file or a folder of the machine" in error.value for error in app.error)


def test_a_visitor_from_elsewhere_names_no_benchmark_by_its_path(cache, monkeypatch, tmp_path):
    (tmp_path / "secret.obo").write_text("format-version: 1.2\n\n[Term]\nid: GO:0000001\nname: a secret\n")
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    for page in PAGES:
        app = opened(page, cache, monkeypatch, benchmark=str(tmp_path / "secret.obo"))
        assert not app.exception
        assert "a secret" not in " ".join(str(getattr(element, "value", "")) for element in app)


@pytest.mark.parametrize(
    ("study", "settings"),
    [
        ("popularity", {"index": "/etc"}),
        ("popularity", {"index": "http://10.0.0.5:8000#x"}),
        ("perturbation", {"judge": "/srv/models/x"}),
        ("perturbation", {"encoder": "../encoder"}),
        ("perturbation", {"senses_model": "http://10.0.0.5/v1#m"}),
        ("memorization", {"neighbours_by": "infill:/srv/x"}),
        ("icl", {"judge": "http://169.254.169.254/latest#m"}),
    ],
)
def test_nor_does_a_setting_of_a_run_lead_there(study, settings, cache, monkeypatch):
    from explorer.errors import ExplorerError

    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    before = sorted((cache / "runs").iterdir())
    with pytest.raises(ExplorerError, match=r"file or a folder|nobody has said yes|only the owner"):
        starting.submit(study, "gemma-3-270m", "starter_pairs", settings=settings)
    assert sorted((cache / "runs").iterdir()) == before


def test_a_visitor_names_no_cluster(cache, monkeypatch):
    from explorer.errors import UsageError
    from explorer.runs.compute_target import ComputeTarget

    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    with pytest.raises(UsageError, match="Only the owner"):
        starting.submit("accuracy", "gemma-3-270m", "starter_pairs", ComputeTarget("10.0.0.1:6379"))


@pytest.mark.parametrize(("trust", "trusted"), [("", False), ("0", False), ("1", True)])
def test_the_owner_may_trust_his_visitors(trust, trusted, monkeypatch):
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    monkeypatch.setenv("EXPLORER_TRUST_VISITORS", trust)
    assert visitor.is_trusted() is trusted
    monkeypatch.setattr(visitor, "role", lambda: "owner")
    assert visitor.is_trusted()


def test_the_run_dialog_names_indexes_in_words(open_page, cache):
    app = open_page("popularity", cache)
    app.button(key="run:open").click().run()
    picker = app.selectbox(key="run:popularity:index")
    assert picker.options == ["the whole training text of the glass-box models"] and picker.value == "glassbox"
