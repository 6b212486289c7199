"""OpenAI-compatible servers on this machine whose answers a test writes, and one behind which a real model stands."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclasses.dataclass
class Call:
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float


@dataclasses.dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    cut: int = 0  # bytes of the body held back after promising them
    after: float = 0.0  # seconds of silence first


def chat(text: str | None, **more: Any) -> dict[str, Any]:
    return {
        "model": "served-name",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **more}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3},
    }


def completion(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "served-name", "choices": [{"index": 0, "text": text, "finish_reason": "length", **more}]}


class Server:
    """A server whose answers a test writes: `answer(call, number)` gives the reply to the number-th POST."""

    def __init__(self, answer: Callable[[Call, int], Reply], models: Any = None) -> None:
        self.calls: list[Call] = []
        self.busy = self.busiest = 0
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.reply(Reply(404 if models is None else 200, models))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                call = Call(self.path, body, dict(self.headers), time.monotonic())
                with lock:
                    outer.calls.append(call)
                    number = len(outer.calls) - 1
                    outer.busy += 1
                    outer.busiest = max(outer.busiest, outer.busy)
                reply = answer(call, number)
                time.sleep(reply.after)
                with lock:
                    outer.busy -= 1
                with contextlib.suppress(OSError):  # the client may have given up
                    self.reply(reply)

            def reply(self, reply: Reply) -> None:
                raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(raw)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw[: len(raw) - reply.cut])
                if reply.cut:
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.shutdown(2)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class ToyServer(ThreadingHTTPServer):
    """A server whose handler logs in `asked` what it is asked, and which calls its one model "toy"."""

    daemon_threads = True

    def __init__(self, handler: type[JsonHandler]) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def name(self) -> str:
        """The model behind it, as a user names it."""
        return f"http://127.0.0.1:{self.server_port}/v1#toy"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that were killed."""


class JsonHandler(BaseHTTPRequestHandler):
    """Lists the model "toy"; what it answers to a POST is written by a subclass."""

    server: ToyServer

    def do_GET(self) -> None:
        self.send({"data": [{"id": "toy"}]})

    def asked(self) -> dict[str, Any]:
        """The body of the request."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def send(self, body: Any, status: int = 200) -> None:
        """Answers with JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


def echoed(tokens: list[str], values: list[float | None], **more: Any) -> dict[str, Any]:
    return {"text": "".join(tokens), "logprobs": {"tokens": tokens, "token_logprobs": values, **more}}


def scoring(folder: Path) -> Callable[[Call, int], Reply]:
    """Answers that give the log-probabilities which the model in the folder has for a prompt, by echo or as vLLM does;
    what it writes is "fine"."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    @torch.inference_mode()
    def answer(call: Call, number: int) -> Reply:
        if "messages" in call.body and "prompt_logprobs" not in call.body:
            return Reply(body=chat("fine"))
        if "echo" not in call.body and "prompt_logprobs" not in call.body:
            return Reply(body=completion(" fine"))
        if "messages" in call.body:
            if not tokenizer.chat_template:
                return Reply(400, {"error": {"message": "the model has no chat template"}})
            form = {name: call.body[name] for name in ("add_generation_prompt", "continue_final_message")}
            ids = tokenizer.apply_chat_template(call.body["messages"], return_dict=False, **form)
        else:
            ids = tokenizer(call.body["prompt"])["input_ids"]
        logprobs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        texts = [tokenizer.decode([i]) for i in ids]
        values = [None, *(float(logprobs[i, token]) for i, token in enumerate(ids[1:]))]
        best = [None, *(int(row.argmax()) for row in logprobs[:-1])]
        if "prompt_logprobs" in call.body:
            told: list[Any] = [None]
            for i in range(1, len(ids)):
                rank = 1 + int((logprobs[i - 1] > logprobs[i - 1, ids[i]]).sum())
                told.append({str(ids[i]): {"logprob": values[i], "rank": rank, "decoded_token": texts[i]}})
            if "messages" in call.body:
                return Reply(body={**chat("fine"), "prompt_logprobs": told})
            return Reply(body={"choices": [{"text": "", "prompt_logprobs": told}]})
        tops = [None, *({tokenizer.decode([top]): float(logprobs[i, top])} for i, top in enumerate(best[1:]))]
        return Reply(body={"choices": [echoed(texts, values, top_logprobs=tops)]})

    return answer
