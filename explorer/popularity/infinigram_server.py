"""`index serve`: indexes of this machine over HTTP, in the protocol of the public infini-gram service.

A lab can so share one index, and any client of the public service works with it. Errors have the same shapes: status
400 for a request that is not understood, 200 with `error` for a query out of bounds, 500 for a fault of ours.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from explorer import numbers
from explorer.errors import CountError
from explorer.popularity import manifest as manifests
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.infinigram_local import Engine, split_at_needle
from explorer.popularity.next_tokens import END

MOST_CHARACTERS = 1000
MOST_TOKENS = 500  # of a whole CNF
MOST_CLAUSES = 4
MOST_TERMS = 4  # of one clause
LARGEST = {"max_support": 1000, "max_clause_freq": 500_000, "max_diff_tokens": 1000, "max_disp_len": 10_000}
MOST_BYTES = 1 << 20  # of a request

Ids = list[int]
Cnf = list[list[Ids]]
EngineAnswer = dict[str, Any]  # JSON as the public protocol has it; its keys differ by query type


class Rejected(Exception):
    """A request that is answered with `error`; the status is 400 where it is not understood at all."""

    def __init__(self, message: str, status: int = 200) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class ServedIndex:
    """One index behind the server."""

    name: str
    engine: Engine
    tokenizer: tokenizers.IndexTokenizer
    vocabulary: int
    separator: int
    key: str = ""  # the name under which counts of exactly this index are kept

    def parse(self, text: str) -> Ids | Cnf:
        """The ids of a query text; of several terms where it holds AND or OR between blanks (OR binds tighter)."""
        if not isinstance(text, str):
            raise Rejected("query must be a string!")
        if len(text) > MOST_CHARACTERS:
            raise Rejected(f"Please limit your input to <= {MOST_CHARACTERS} characters!")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise Rejected("The query holds half a surrogate pair, which no text has!")
        if " AND " not in text and " OR " not in text:
            return self._encode(text)
        return [[self._encode(term) for term in clause.split(" OR ")] for clause in text.split(" AND ")]

    def check(self, ids: Any) -> Ids | Cnf:
        """The ids if they are within bounds."""
        if _is_ids(ids):
            terms = [ids]
        elif isinstance(ids, list) and all(isinstance(clause, list) and all(map(_is_ids, clause)) for clause in ids):
            if len(ids) > MOST_CLAUSES:
                raise Rejected(f"Please enter at most {MOST_CLAUSES} disjunctive clauses!")
            if any(len(clause) > MOST_TERMS for clause in ids):
                raise Rejected(f"Please enter at most {MOST_TERMS} terms in each disjunctive clause!")
            terms = [term for clause in ids for term in clause]
        else:
            raise Rejected("query_ids must be a list of integers, or a triply-nested list of integers!")
        if sum(map(len, terms)) > MOST_TOKENS:
            raise Rejected(f"Please limit your input to <= {MOST_TOKENS} tokens!")
        if any(not (0 <= each < self.vocabulary or each == self.separator) for term in terms for each in term):
            raise Rejected("Some item(s) in your query_ids are out-of-range!")
        return ids

    def tokens(self, ids: Ids | Cnf) -> Any:
        """The tokens of ids as the vocabulary spells them, nested alike."""
        if _is_ids(ids):
            return self.tokenizer.pieces(ids)  # type: ignore[arg-type]
        return [[self.tokenizer.pieces(term) for term in clause] for clause in ids]  # type: ignore[union-attr]

    def _encode(self, text: str) -> Ids:
        return list(self.tokenizer.encode([text])[0])


@dataclass(frozen=True, slots=True)
class Query:
    """A checked request."""

    index: ServedIndex
    ids: Ids | Cnf
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_cnf(self) -> bool:
        """Whether it asks for several terms."""
        return bool(self.ids) and not _is_ids(self.ids)

    def simple(self) -> Ids:
        """The ids of a query that may not be a CNF."""
        if self.is_cnf:
            raise Rejected("This query type takes no AND or OR!")
        return self.ids  # type: ignore[return-value]

    def given_limits(self, *names: str) -> dict[str, int]:
        """Those of the named limits that the request gives."""
        limits = {name: self.options[name] for name in names if self.options.get(name) is not None}
        for name, value in limits.items():
            if type(value) is not int or not 0 < value <= LARGEST[name]:
                raise Rejected(f"{name} must be an integer in [1, {LARGEST[name]}]!")
        return limits

    def whole_number(self, name: str) -> int:
        """A whole number that the request must give."""
        if name not in self.options:
            raise Rejected(f"[Server] Missing required field: '{name}'", 400)
        if type(self.options[name]) is not int:
            raise Rejected(f"{name} must be an integer!")
        return self.options[name]


def count(query: Query) -> EngineAnswer:
    """How often an n-gram occurs, or several terms together (then from a sample where they are frequent).

    Beside the corpus size, the count of the empty query, stands the index's key, beyond the public protocol: a client
    that keeps counts can tell two corpora of one size apart.
    """
    if query.is_cnf:
        return query.index.engine.call(
            "count_cnf", cnf=query.ids, **query.given_limits("max_clause_freq", "max_diff_tokens")
        )
    answer = query.index.engine.call("count", input_ids=query.ids)
    return answer if query.ids else {**answer, "key": query.index.key}


def prob(query: Query) -> EngineAnswer:
    """The chance of the last token after the others: a quotient of two counts, -1 where the others never occur."""
    *prompt, last = _not_empty(query)
    return query.index.engine.call("prob", prompt_ids=prompt, cont_id=last)


def ntd(query: Query) -> EngineAnswer:
    """Which tokens follow, and how often; from a sample above `max_support` occurrences."""
    answer = query.index.engine.call("ntd", prompt_ids=query.simple(), **query.given_limits("max_support"))
    return _with_tokens(query.index, answer)


def infgram_prob(query: Query) -> EngineAnswer:
    """As prob, after the longest suffix of the others that occurs at all."""
    *prompt, last = _not_empty(query)
    answer = query.index.engine.call("infgram_prob", prompt_ids=prompt, cont_id=last)
    return _with_suffix(query.index, answer, prompt)


def infgram_ntd(query: Query) -> EngineAnswer:
    """As ntd, after the longest suffix that occurs at all."""
    answer = query.index.engine.call("infgram_ntd", prompt_ids=query.simple(), **query.given_limits("max_support"))
    return _with_suffix(query.index, _with_tokens(query.index, answer), query.simple())


def find(query: Query) -> EngineAnswer:
    """Where an n-gram stands in the suffix array of each shard."""
    return query.index.engine.call("find", input_ids=query.simple())


def find_cnf(query: Query) -> EngineAnswer:
    """Where several terms stand together in each shard."""
    if not query.is_cnf:
        raise Rejected("find_cnf takes a triply-nested list of integers, or a query with AND or OR!")
    return query.index.engine.call(
        "find_cnf", cnf=query.ids, **query.given_limits("max_clause_freq", "max_diff_tokens")
    )


def get_doc_by_rank(query: Query) -> EngineAnswer:
    """The document around a place in the suffix array."""
    location = {"s": query.whole_number("s"), "rank": query.whole_number("rank")}
    return _with_spans(
        query, query.index.engine.call("get_doc_by_rank", **location, **query.given_limits("max_disp_len"))
    )


def get_doc_by_ptr(query: Query) -> EngineAnswer:
    """The document around a place in the token stream."""
    location = {"s": query.whole_number("s"), "ptr": query.whole_number("ptr")}
    return _with_spans(
        query, query.index.engine.call("get_doc_by_ptr", **location, **query.given_limits("max_disp_len"))
    )


QUERY_TYPES: Mapping[str, Callable[[Query], EngineAnswer]] = {
    "count": count,
    "prob": prob,
    "ntd": ntd,
    "infgram_prob": infgram_prob,
    "infgram_ntd": infgram_ntd,
    "find": find,
    "find_cnf": find_cnf,
    "get_doc_by_rank": get_doc_by_rank,
    "get_doc_by_ptr": get_doc_by_ptr,
}


class IndexServer(ThreadingHTTPServer):
    """Answers queries to the indexes until `shutdown` is called; `server_close` also ends the engines."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, indexes: Sequence[ServedIndex], host: str = "127.0.0.1", port: int = 0) -> None:
        self.indexes = {index.name: index for index in indexes}
        if len(self.indexes) < len(indexes):
            raise CountError("Two of the indexes have the same name. Build one of them under another --name.")
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise CountError(f"{host}:{port} cannot be served ({error.strerror}). Choose another --port.") from error

    @property
    def url(self) -> str:
        """The address to give to clients."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/"

    def answer(self, request: Any) -> tuple[int, EngineAnswer]:
        """Status and body for a request."""
        try:
            query_type, query = self._understood(request)
            started = time.perf_counter()
            body = QUERY_TYPES[query_type](query)
            if "error" in body:
                return 200, {"error": str(body["error"])}
            milliseconds = (time.perf_counter() - started) * 1000
            # A document's own ids give way to those of the query, as with the public service.
            return 200, {
                **body,
                "latency": milliseconds,
                "token_ids": query.ids,
                "tokens": query.index.tokens(query.ids),
            }
        except Rejected as error:
            return error.status, {"error": str(error)}
        except Exception as error:
            return 500, {"error": f"[Server] Internal server error: {error}"}

    def server_close(self) -> None:
        """Frees the port and ends the engines."""
        super().server_close()
        for index in self.indexes.values():
            index.engine.close()

    def _understood(self, request: Any) -> tuple[str, Query]:
        if not isinstance(request, dict):
            raise Rejected("[Server] The request must be a JSON object!", 400)
        options = dict(request)
        name = options.pop("corpus", options.pop("index", None))
        query_type = options.pop("query_type", None)
        for key, value in (("query_type", query_type), ("index", name)):
            if value is None:
                raise Rejected(f"[Server] Missing required field: '{key}'", 400)
        if ("query" in options) == ("query_ids" in options):
            raise Rejected("[Server] Exactly one of query and query_ids must be present!", 400)
        if not isinstance(name, str) or name not in self.indexes:
            raise Rejected(f"[Server] Invalid index: {name}", 400)
        if not isinstance(query_type, str) or query_type not in QUERY_TYPES:
            raise Rejected(f"[Server] Invalid query_type: {query_type}", 400)
        index = self.indexes[name]
        ids = index.parse(options.pop("query")) if "query" in options else options.pop("query_ids")
        return query_type, Query(index, index.check(ids), options)


class _Handler(BaseHTTPRequestHandler):
    server: IndexServer
    protocol_version = "HTTP/1.1"
    timeout = 120  # seconds a connection may be idle
    # An answer leaves in one packet; else the client would wait for the second.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path.split("?")[0] == "/":
            self._reply(200, list(self.server.indexes))
        else:
            self._reply(404, {"error": "[Server] Not found"})

    def do_POST(self) -> None:
        length = numbers.whole(self.headers.get("Content-Length", ""))
        if length is None or length > MOST_BYTES:
            self.close_connection = True
            self._reply(413, {"error": f"[Server] Send a body of at most {MOST_BYTES:,} bytes with its length!"})
            return
        try:
            request = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            self._reply(400, {"error": "[Server] The request is no JSON!"})
            return
        self._reply(*self.server.answer(request))

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: a line per count would drown the terminal."""

    def _reply(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def open_index(folder: Path) -> ServedIndex:
    """An index of this machine, checked, ready to be served under its own name."""
    manifest = manifests.read(folder)
    manifests.check_sizes(folder, manifest)
    manifests.check_tokenizer(folder, manifest)
    manifests.check_content(folder, manifest)
    engine = Engine(folder.resolve(), manifest.dtype, manifest.vocabulary)
    engine.call("get_total_doc_cnt")  # opens it now rather than at the first query
    separator = manifests.SEPARATORS[manifest.dtype]
    return ServedIndex(manifest.name, engine, tokenizers.load(folder), manifest.vocabulary, separator, manifest.key)


def _not_empty(query: Query) -> Ids:
    if not query.simple():
        raise Rejected("Please provide a non-empty query!")
    return query.simple()


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is int for each in value)


def _with_tokens(index: ServedIndex, answer: EngineAnswer) -> EngineAnswer:
    """The answer with the text of each next token."""
    for token_id, result in answer.get("result_by_token_id", {}).items():
        number = int(token_id)
        result["token"] = END if number >= index.vocabulary else index.tokenizer.decode([number])[0]
    return answer


def _with_suffix(index: ServedIndex, answer: EngineAnswer, prompt: Ids) -> EngineAnswer:
    """The answer with the text of the longest suffix that the corpus holds."""
    if "suffix_len" in answer:
        suffix = prompt[len(prompt) - answer["suffix_len"] :]
        answer["longest_suffix"] = index.tokenizer.join(suffix)
    return answer


def _with_spans(query: Query, answer: EngineAnswer) -> EngineAnswer:
    """The document with its text in pieces, each with the number of the clause it matches, or null."""
    if "error" in answer:
        return answer
    clauses: Cnf = query.ids if query.is_cnf else ([[query.ids]] if query.ids else [])  # type: ignore[list-item,assignment]
    pieces: list[tuple[Ids, str | None]] = [(answer["token_ids"], None)]
    for number, clause in enumerate(clauses):
        for needle in clause:
            cut: list[tuple[Ids, str | None]] = []
            for ids, label in pieces:
                if label is not None:
                    cut.append((ids, label))
                else:
                    cut += [(part, str(number) if hit else None) for part, hit in split_at_needle(ids, needle)]
            pieces = cut
    return {**answer, "spans": [[query.index.tokenizer.join(ids), label] for ids, label in pieces]}
