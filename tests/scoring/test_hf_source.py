from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from explorer.errors import ModelError
from explorer.scoring import catalog, chat_files, hf_source, weight_files

COMMIT = "0123456789abcdef0123456789abcdef01234567"


# A hub of our own


@contextmanager
def serving(answer, heard=None):
    """The address of a server that answers each request with (status, headers, body); `heard` gets what came as key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if heard is not None:
                heard.append(self.headers.get("Authorization"))
            status, headers, body = answer(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def repository(files, gated=False, parameters=None):
    """A hub with one model, owner/model, that holds these files."""
    entries = [{"rfilename": name, "size": len(body)} for name, body in files.items()]
    tree = [
        {"type": "file", "path": name, "size": len(body), "oid": hashlib.sha1(body).hexdigest()}
        for name, body in files.items()
    ]

    def answer(path):
        path = path.partition("?")[0]
        if path.startswith("/api/models/owner/model/tree/"):
            return 200, {}, json.dumps(tree).encode()
        revisions = [f"/api/models/owner/model/revision/{name}" for name in ("main", COMMIT)]
        if path in ("/api/models/owner/model", *revisions):
            info = {"id": "owner/model", "sha": COMMIT, "siblings": entries, "gated": gated}
            if parameters:
                info["safetensors"] = {"parameters": {"F32": parameters}, "total": parameters}
            return 200, {}, json.dumps(info).encode()
        if path.startswith("/api/models/owner/model/revision/"):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        name = path.partition(f"/resolve/{COMMIT}/")[2]
        if gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b""
        if name in files:
            headers = {"ETag": f'"{hashlib.sha1(files[name]).hexdigest()}"', "X-Repo-Commit": COMMIT}
            return 200, headers, files[name]
        return 404, {"X-Error-Code": "RepoNotFound"}, b""

    return answer


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Points huggingface_hub at an address and at an empty cache."""
    from huggingface_hub import constants

    def use(address):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)

    return use


@pytest.fixture
def online(settings):
    return dataclasses.replace(settings, offline=False)


def files_of(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_model_is_fetched_from_the_hub_and_stays_here(hub, online, tiny_gpt2):
    files = {**files_of(tiny_gpt2), "run_me.py": b"raise SystemExit", "pytorch_model.bin": b"pickle"}
    seen = []
    with serving(repository(files)) as address:
        hub(address)
        assert hf_source.identity("owner/model", online)["revision"] == COMMIT
        found = hf_source.locate("owner/model", online, progress=lambda text, share: seen.append(share))
    assert found.revision == found.weights == COMMIT
    names = {file.name for file in found.path.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    assert not names & {"run_me.py", "pytorch_model.bin"}
    assert seen and max(seen) <= 1
    # The server is gone, and the model is still here: by its name, by its commit, and when told to stay offline.
    assert hf_source.locate("owner/model", online).path == found.path
    assert hf_source.locate(f"owner/model@{COMMIT}", dataclasses.replace(online, offline=True)).path == found.path
    assert hf_source.is_cached("owner/model") and not hf_source.is_cached("owner/other")


def test_pickled_weights_are_fetched_where_there_are_no_others_and_made_into_safetensors(hub, online, tiny_gpt2):
    import io

    import torch
    from transformers import AutoModelForCausalLM

    held = io.BytesIO()
    torch.save(AutoModelForCausalLM.from_pretrained(tiny_gpt2).state_dict(), held)
    files = {name: data for name, data in files_of(tiny_gpt2).items() if not name.endswith(".safetensors")}
    with serving(repository({**files, "pytorch_model.bin": held.getvalue()})) as address:
        hub(address)
        found = hf_source.locate("owner/model", online)
    assert found.form == "PyTorch .bin" and found.weights == COMMIT
    assert (found.path / "model.safetensors").is_file() and (found.path / "tokenizer.json").is_file()
    assert hf_source.locate("owner/model", dataclasses.replace(online, offline=True)).path == found.path


def test_the_size_is_checked_before_anything_is_downloaded(hub, online, tiny_gpt2):
    def check(parameters):
        raise ModelError(f"too large: {parameters}")

    with serving(repository(files_of(tiny_gpt2), parameters=10**12)) as address:
        hub(address)
        with pytest.raises(ModelError, match="too large: 1000000000000"):
            hf_source.locate("owner/model", online, check=check)
    assert not hf_source.is_cached("owner/model")


@pytest.mark.parametrize(
    "name, files, gated, message",
    [
        ("owner/missing", {}, False, "There is no model 'owner/missing'"),
        ("owner/model@step9", {}, False, "has no revision 'step9'"),
        ("owner/model", {"config.json": b"{}", "model.safetensors": b"x"}, True, "is gated"),
        ("owner/model", {"config.json": b"{}", "model.ckpt": b"x"}, False, "a format that can run code"),
        ("owner/model", {"config.json": b"{}", "pytorch_model.bin": b"x"}, False, "holds more than numbers"),
        ("owner/model", {"adapter_config.json": b"{}", "adapter_model.safetensors": b"x"}, False, "is an adapter"),
        ("owner/model", {"config.json": b"{}", "model.gguf": b"x"}, False, "has only model.gguf"),
        ("owner/model", {"README.md": b""}, False, "has no weights"),
    ],
)
def test_each_refusal_has_its_own_message(hub, online, name, files, gated, message):
    with serving(repository(files, gated)) as address:
        hub(address)
        with pytest.raises(ModelError, match=message):
            hf_source.locate(name, online)


NOT_HERE = "owner/model is not on this machine and cannot be fetched: "
LOG_IN = "set HF_TOKEN to a token of an account that may read it, or log in with `hf auth login`"
TOKENS = {
    "gated, nobody logged in": (
        "",
        (403, {"X-Error-Code": "GatedRepo"}),
        "owner/model is gated: its owner wants you to accept a license. Do so at https://huggingface.co/owner/model, "
        f"then {LOG_IN}, and try again.",
    ),
    "gated, and the account is not let in": (
        "hf_planted",
        (403, {"X-Error-Code": "GatedRepo"}),
        "owner/model is gated, and the account of the token from HF_TOKEN has not been let in. Accept its license at "
        "https://huggingface.co/owner/model with that account (some owners answer by hand), see that the token may "
        "read gated models, and try again.",
    ),
    "a token that is none": (
        "hf_planted",
        (401, {"X-Error-Message": "Invalid credentials in Authorization header"}),
        f"{NOT_HERE}the hub refused the token from HF_TOKEN (status 401). Make a new one at "
        "https://huggingface.co/settings/tokens, or take it away: public models need none.",
    ),
    "a token without the right": (
        "hf_planted",
        (403, {"X-Error-Message": "hf_planted may not"}),
        f"{NOT_HERE}the token from HF_TOKEN may not read it (status 403). Give it the right to read this model, or "
        "gated ones, at https://huggingface.co/settings/tokens, and try again.",
    ),
    "a hub that wants a token": (
        "",
        (403, {}),
        f"{NOT_HERE}the hub wants a token (status 403). To be let in, {LOG_IN}.",
    ),
    "no such model, or a private one": (
        "",
        (401, {"X-Error-Code": "RepoNotFound"}),
        "There is no model 'owner/model' on the Hugging Face hub that you may see, and no folder of that name. Check "
        f"the spelling; for a private model {LOG_IN}.",
    ),
}


@pytest.mark.parametrize("case", TOKENS)
def test_what_a_hub_says_of_a_token_is_told_in_a_sentence_without_the_token(hub, online, monkeypatch, tmp_path, case):
    from huggingface_hub import constants

    token, (status, headers), sentence = TOKENS[case]
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setenv("HF_TOKEN", token)
    with serving(lambda path: (status, headers, b"")) as address:
        hub(address)
        for ask in (hf_source.locate, hf_source.identity):
            with pytest.raises(ModelError) as refusal:
                ask("owner/model", online)
            assert str(refusal.value) == sentence and "planted" not in str(refusal.value)


@pytest.mark.parametrize("is_here", [True, False])
def test_the_token_goes_to_no_hub_on_another_machine_over_plain_http(hub, online, monkeypatch, tiny_gpt2, is_here):
    heard = []
    monkeypatch.setenv("HF_TOKEN", "hf_planted")
    monkeypatch.setattr(hf_source, "is_loopback", lambda host: is_here)
    with serving(repository(files_of(tiny_gpt2)), heard) as address:
        hub(address)
        hf_source.locate("owner/model", online)
        hf_source.text_files("owner/model", "", online)
    assert len(heard) > 4 and ("Bearer hf_planted" in heard) == is_here


def test_a_model_that_is_here_is_used_whatever_the_hub_says_of_the_token(hub, online, monkeypatch, tiny_gpt2):
    with serving(repository(files_of(tiny_gpt2))) as address:
        hub(address)
        found = hf_source.locate("owner/model", online)
    monkeypatch.setenv("HF_TOKEN", "hf_planted")
    refused = 401, {"X-Error-Message": "Invalid credentials in Authorization header"}, b""
    with serving(lambda path: refused) as address:
        hub(address)
        assert hf_source.locate("owner/model", online).path == found.path


def test_the_text_files_of_a_model_come_without_its_weights(hub, online, tiny_gpt2):
    files = {**files_of(tiny_gpt2), "chat_template.jinja": b"{{ messages }}<|endoftext|>"}
    with serving(repository(files)) as address:
        hub(address)
        folder = hf_source.text_files("owner/model", "", online)
        assert chat_files.is_chat_model("owner/model", online)
    names = {file.name for file in folder.iterdir()}
    assert "tokenizer.json" in names and "model.safetensors" not in names
    assert not hf_source.is_cached("owner/model")


def test_a_hub_that_does_not_answer_is_given_up(hub, online, monkeypatch):
    monkeypatch.setattr(hf_source, "HUB_SECONDS", 0.2)
    done = threading.Event()

    def silent(path):
        done.wait(30)
        return 200, {}, b"{}"

    with serving(silent) as address:
        hub(address)
        began = time.monotonic()
        with pytest.raises(ModelError, match="did not answer"):
            hf_source.locate("owner/model", online)
        given_up = time.monotonic() - began
        done.set()
    assert given_up < 20  # the server would have taken 30


@pytest.mark.parametrize("status", [500, 503])
def test_a_hub_in_trouble_is_no_missing_model(hub, online, status):
    with serving(lambda path: (status, {}, b"")) as address:
        hub(address)
        with pytest.raises(ModelError, match=f"the hub answered with {status}"):
            hf_source.locate("owner/model", online)


def test_nobody_at_the_address(hub, online):
    hub("http://127.0.0.1:9")
    with pytest.raises(ModelError, match="cannot be fetched: the Hugging Face hub did not answer"):
        hf_source.locate("owner/model", online)


def test_told_to_stay_offline_nobody_is_asked(hub, settings):
    hub("http://127.0.0.1:9")
    with pytest.raises(ModelError, match="set to stay offline"):
        hf_source.locate("owner/model", settings)


# Names and folders


@pytest.mark.parametrize(
    "name, revision, expected",
    [
        ("a/b", "", ("a/b", "")),
        ("a/b@step1000", "", ("a/b", "step1000")),
        ("a/b", "main", ("a/b", "main")),
        ("a/b@x", "y", ("a/b", "x")),
    ],
)
def test_a_revision_may_stand_behind_an_at_sign(name, revision, expected):
    assert hf_source.split_revision(name, revision) == expected


def test_a_folder_with_an_at_sign_in_its_name_is_a_folder(tiny_gpt2, tmp_path):
    folder = shutil.copytree(tiny_gpt2, tmp_path / "gpt@home")
    assert hf_source.split_revision(str(folder)) == (str(folder), "")


def test_a_folder_is_known_by_its_weights(settings, tiny_gpt2, tmp_path):
    folder = shutil.copytree(tiny_gpt2, tmp_path / "copy")
    first = hf_source.locate(str(folder), settings)
    assert first.weights == hf_source.locate(str(tiny_gpt2), settings).weights
    weights = folder / "model.safetensors"
    body = bytearray(weights.read_bytes())
    body[-1] ^= 1
    weights.write_bytes(body)
    assert hf_source.locate(str(folder), settings).weights != first.weights


def test_parameters_are_counted_without_reading_weights(tiny_gpt2):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_gpt2)
    assert hf_source.count_parameters(tiny_gpt2) == model.num_parameters()


def test_a_model_in_several_files(settings, tiny_gpt2, tmp_path):
    from transformers import AutoModelForCausalLM

    AutoModelForCausalLM.from_pretrained(tiny_gpt2).save_pretrained(tmp_path / "parts", max_shard_size="40KB")
    (tmp_path / "parts" / "other.safetensors").write_bytes(b"not named by the index")
    assert len(hf_source.weight_files(tmp_path / "parts")) > 1
    assert hf_source.count_parameters(tmp_path / "parts") == hf_source.count_parameters(tiny_gpt2)


@pytest.mark.parametrize(
    "files, message",
    [
        (None, "There is no folder"),
        ({}, "has no config.json"),
        ({"config.json": "{}"}, "has no weights; safetensors files are needed"),
        ({"config.json": "{}", "model.pt": ""}, "only model.pt, a format that can run code"),
        ({"config.json": "{}", "pytorch_model.bin": ""}, "pytorch_model.bin is damaged"),
    ],
)
def test_a_folder_without_a_model_says_what_it_lacks(settings, tmp_path, files, message):
    folder = tmp_path / "model"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    with pytest.raises(ModelError, match=message):
        hf_source.locate(str(folder), settings)


def test_an_embedded_model_is_known_without_being_there(settings):
    model, source = catalog.embedded("gemma-3-270m")
    assert hf_source.identity("Gemma-3-270M", settings) == {
        "model": model.id,
        "revision": "",
        "weights": f"sha256:{source.sha256[:32]}",
    }


def test_a_folder_is_hashed_once_a_process_even_where_the_cache_cannot_be_written(
    settings, tiny_gpt2, tmp_path, monkeypatch
):
    folder = tmp_path / "model"
    shutil.copytree(tiny_gpt2, folder)
    settings.models.parent.mkdir(parents=True, exist_ok=True)
    settings.models.write_text("a file where the cache should be")
    hashed = []
    monkeypatch.setattr(hf_source, "weights_hash", lambda path: hashed.append(path) or f"hash {len(hashed)}")
    assert [hf_source.folder_hash(folder, settings) for _ in range(3)] == ["hash 1"] * 3
    (folder / "config.json").write_text((folder / "config.json").read_text())  # the same bytes, another time
    assert hf_source.folder_hash(folder, settings) == "hash 2"
    shutil.copy2(folder / "model.safetensors", tmp_path / "other")
    (tmp_path / "other").replace(folder / "model.safetensors")  # the same size and time, another file
    assert hf_source.folder_hash(folder, settings) == "hash 3"


def test_the_hash_of_a_large_file_is_that_of_the_hashes_of_its_pieces(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    weights = bytes(range(256)) * 10
    (tmp_path / "model.safetensors").write_bytes(weights)
    plain = weight_files.weights_hash(tmp_path)
    monkeypatch.setattr(weight_files, "PIECEWISE_FROM", 2_560)
    monkeypatch.setattr(weight_files, "PIECE", 1_000)
    monkeypatch.setattr(weight_files, "HASHED_AT_ONCE", 300)
    pieces = [hashlib.sha256(weights[at : at + 1_000]).hexdigest() for at in (0, 1_000, 2_000)]
    large = hashlib.sha256("".join(f"{piece}\n" for piece in pieces).encode()).hexdigest()
    small = hashlib.sha256(b"{}").hexdigest()
    both = hashlib.sha256(f"config.json {small}\nmodel.safetensors {large}\n".encode()).hexdigest()
    assert weight_files.weights_hash(tmp_path) == f"sha256:{both[:32]}" != plain
    (tmp_path / "model.safetensors").write_bytes(weights[:-1])
    assert weight_files.weights_hash(tmp_path) not in (plain, f"sha256:{both[:32]}")
