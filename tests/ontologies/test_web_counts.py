import json
import math
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from explorer import fetch
from explorer.errors import CountError, OntologyError
from explorer.ontologies import web_counts
from explorer.records import Concept, Count
from explorer.settings import Settings
from explorer.studies.ontology.study import SETTINGS
from explorer.ui.run_words import CHOICES

KEY = "google-secret-key"
QUICK = fetch.Patience(tries=2, delay=0.01)
CONCEPTS = [Concept(f"TOY:{i:07d}", label) for i, label in enumerate(["blue cup", 'a "so-called" mug', "plate"])]


class Service:
    """A search service whose answers a test writes, in the shapes that the documentation shows."""

    def __init__(self) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[tuple[int, object]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(parse_qs(urlsplit(self.path).query))
                outer.headers.append(dict(self.headers))
                status, body = outer.answers[min(len(outer.asked), len(outer.answers)) - 1]
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/search"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def online(settings: Settings) -> Settings:
    return replace(settings, offline=False, requests_per_second=0, google_key=KEY, google_engine="engine-1")


def google_answer(total: int) -> dict[str, object]:
    return {
        "kind": "customsearch#search",
        "queries": {"request": [{"title": "Google Custom Search", "totalResults": str(total), "count": 1}]},
        "searchInformation": {"searchTime": 0.2, "formattedSearchTime": "0.20", "totalResults": str(total)},
        "items": [{"title": "a page"}],
    }


def pmc_answer(hits: int) -> dict[str, object]:
    return {
        "version": "6.9",
        "hitCount": hits,
        "nextCursorMark": "AoE",
        "request": {"queryString": "...", "resultType": "idlist", "pageSize": 1, "synonym": False},
        "resultList": {"result": [{"id": "123", "source": "MED"}]},
    }


def test_google_is_asked_for_the_label_in_quotes_and_the_id(service, online):
    service.answers = [(200, google_answer(120)), (200, google_answer(0)), (200, google_answer(7))]
    found = web_counts.google(CONCEPTS, online, url=service.url, patience=QUICK)
    assert [(one.id, one.count, one.approx) for one in found] == [
        ("TOY:0000000", 120, True),
        ("TOY:0000001", 0, True),
        ("TOY:0000002", 7, True),
    ]
    assert service.asked[0]["q"] == ['"blue cup" TOY:0000000']
    assert service.asked[1]["q"] == ['"a  so-called  mug" TOY:0000001']
    assert service.asked[0]["cx"] == ["engine-1"]


def test_googles_key_is_sent_in_a_header_and_kept_nowhere(service, online):
    service.answers = [(200, google_answer(120)), (403, {"error": {"message": f"quota of {KEY} exceeded"}})]
    found = web_counts.google(CONCEPTS, online, url=service.url, patience=QUICK)
    assert {name.lower(): value for name, value in service.headers[0].items()}["x-goog-api-key"] == KEY
    kept = "".join(path.read_text("utf-8") + path.name for path in online.counts.rglob("*") if path.is_file())
    assert KEY not in f"{found}{kept}{service.asked}{online!r}"


def test_after_a_used_up_quota_the_rest_is_unknown_and_a_later_round_goes_on(service, online):
    service.answers = [(200, google_answer(120)), (403, {"error": {"message": "Daily limit exceeded"}})]
    found = web_counts.google(CONCEPTS, online, url=service.url, patience=QUICK)
    assert found[0].count == 120
    assert all(math.isnan(one.count) for one in found[1:])
    assert "Daily limit exceeded" in found[1].reason and found[2].reason.startswith("not asked, after")

    before = len(service.asked)
    service.answers = [(200, google_answer(5))]
    found = web_counts.google(CONCEPTS, online, url=service.url, patience=QUICK)
    assert [one.count for one in found] == [120, 5, 5]
    assert len(service.asked) == before + 2  # the first answer was kept


def test_without_a_key_one_sentence_says_so(online):
    with pytest.raises(OntologyError, match="EXPLORER_GOOGLE_KEY"):
        web_counts.google(CONCEPTS, replace(online, google_key=""))


def test_europe_pmc_is_asked_for_both_word_for_word(service, online):
    service.answers = [(200, pmc_answer(3)), (200, pmc_answer(0)), (200, pmc_answer(12))]
    told: list[tuple[int, int]] = []
    found = web_counts.europe_pmc(
        CONCEPTS, online, url=service.url, patience=QUICK, progress=lambda done, of: told.append((done, of))
    )
    assert [one.count for one in found] == [3, 0, 12]
    assert not any(one.approx or one.reason for one in found)
    assert service.asked[0]["query"] == ['"blue cup" AND "TOY:0000000"']
    assert service.asked[0]["format"] == ["json"] and service.asked[0]["synonym"] == ["false"]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_answer_without_a_count_is_a_gap_and_never_a_zero(service, online):
    service.answers = [(200, b"<html>log in</html>"), (200, b"<html>log in</html>"), (200, {"hitCount": None})]
    found = web_counts.europe_pmc(CONCEPTS[:2], online, url=service.url, patience=QUICK)
    assert all(math.isnan(one.count) and one.reason == "the answer holds no count" for one in found)


def test_a_page_that_a_proxy_slipped_in_is_asked_past(service, online):
    service.answers = [(200, b"<html>log in</html>"), (200, pmc_answer(4))]
    assert web_counts.europe_pmc(CONCEPTS[:1], online, url=service.url, patience=QUICK)[0].count == 4


def test_offline_every_count_is_unknown(settings):
    found = web_counts.europe_pmc(CONCEPTS, settings, patience=QUICK)
    assert all(math.isnan(one.count) and "offline" in one.reason for one in found)


class Together:
    """An index of three documents, as ids of words."""

    documents = ({"blue", "cup", "TOY:0000000"}, {"blue", "cup"}, {"TOY:0000000", "cup", "blue"})

    def encode(self, texts):
        return [tuple(text.encode()) for text in texts]

    def count_together(self, clauses):
        words = [bytes(clause[0]).decode() for clause in clauses]
        if "plate" in words:
            raise CountError("The engine refused the query: too long")
        found = sum(all(part in document for word in words for part in word.split()) for document in self.documents)
        return Count("toy", (), float(found))


def test_cooccurrences_in_an_index_are_marked_as_approximate():
    found = web_counts.cooccurrences(CONCEPTS, Together())
    assert [one.count for one in found[:2]] == [2, 0]
    assert all(one.approx for one in found)
    assert math.isnan(found[2].count) and "too long" in found[2].reason


def test_counts_of_a_file_are_found_in_any_dress(tmp_path: Path):
    path = tmp_path / "counts.csv"
    for text in ("TOY:1;cup;3;10\nTOY:2;mug;4;", "id,count\nTOY:1,10\nTOY:2,\n", "TOY:1;cup;10\nTOY:2;mug;\n"):
        path.write_text(text, encoding="utf-8")
        counts = web_counts.from_file(path)
        assert counts["TOY:1"] == 10 and math.isnan(counts["TOY:2"])
    path.write_text("TOY:1;cup", encoding="utf-8")
    with pytest.raises(OntologyError, match="has no counts; its columns were read as id, label"):
        web_counts.from_file(path)


def test_concepts_take_counts_by_id_and_keep_gaps():
    found = web_counts.with_counts(CONCEPTS, {"TOY:0000000": 5.0})
    assert found[0].web_count == 5
    assert all(math.isnan(concept.web_count) for concept in found[1:])


def test_whoever_chooses_google_is_told_that_it_closes_and_what_to_take(settings):
    with pytest.raises(OntologyError, match=r"closes on January 1, 2027.*europe-pmc"):
        web_counts.google([Concept("GO:1", "a")], replace(settings, google_key=""))
    told = (web_counts.SOURCES["google"], SETTINGS["counts"].help, CHOICES["counts"]["google"])
    assert all(web_counts.CLOSES in one for one in told), told
