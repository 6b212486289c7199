"""What the hub's own client sends to a hub and to the server that the hub leads to."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from explorer.settings import ROOT

FETCH = "from huggingface_hub import hf_hub_download; print(hf_hub_download('a/b', 'config.json'))"


def test_the_hubs_token_stays_with_the_hub_and_a_netrc_file_has_no_say(tmp_path):
    heard: dict[str, list[str | None]] = {"hub": [], "store": []}

    def serve(name: str, answer) -> ThreadingHTTPServer:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                heard[name].append(self.headers.get("Authorization"))
                answer(self)

            do_HEAD = do_GET

            def log_message(self, *args: object) -> None:
                pass

        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        return made

    def gives(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "2")
        request.send_header("ETag", '"abc"')
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(b"{}")

    store = serve("store", gives)

    def leads_on(request: BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        for name, value in {
            "Location": f"http://127.0.0.1:{store.server_port}/blob",
            "X-Repo-Commit": "0" * 40,
            "X-Linked-ETag": '"abc"',
            "X-Linked-Size": "2",
            "Content-Length": "0",
        }.items():
            request.send_header(name, value)
        request.end_headers()

    hub = serve("hub", leads_on)
    (tmp_path / ".netrc").write_text("default login me password of-netrc\n")
    (tmp_path / ".netrc").chmod(0o600)
    home = {"HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
    where = {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_TOKEN": "hf_secret"}
    done = subprocess.run(
        [sys.executable, "-c", FETCH], env={**os.environ, **home, **where}, cwd=ROOT, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "Bearer hf_secret" in heard["hub"] and set(heard["hub"]) <= {"Bearer hf_secret", None}
    assert heard["store"] and set(heard["store"]) == {None}
    for server in (hub, store):
        server.shutdown()
        server.server_close()
