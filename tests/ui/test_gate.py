"""Who is let in: the gate by itself, and every page when it was passed by."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from explorer.settings import ROOT
from explorer.ui.gate import gate
from explorer.ui.gate import login as gate_login
from explorer.ui.gate import server as gate_server
from explorer.ui.gate.gate import Gate, SlowDown, comes_from_here, make_gate

PAGES = sorted((ROOT / "pages").glob("*.py"))
TOKEN_LENGTH = 43  # 32 random bytes in base 64


# --- the secret


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
def test_a_server_for_this_machine_alone_asks_its_owner_for_nothing(address):
    assert make_gate(address, {}).is_open_here and make_gate(address, {}).secret == ""


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "", "10.0.0.5", "192.168.1.9", "gpu1"])
def test_any_other_server_has_a_token_of_its_own(address):
    first, second = make_gate(address, {}), make_gate(address, {})
    assert len(first.secret) == TOKEN_LENGTH and first.secret != second.secret
    assert not first.is_open_here


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_password_is_asked_of_everybody(address):
    made = make_gate(address, {"EXPLORER_PASSWORD": "opensesame"})
    assert made.is_password and not made.is_open_here
    assert made.opens("opensesame")


@pytest.mark.parametrize("given", ["", "opensesam", "opensesame ", "OPENSESAME", "opensesame\x00", "é", "\ud800"])
def test_nothing_but_the_secret_opens(given):
    assert not make_gate("0.0.0.0", {"EXPLORER_PASSWORD": "opensesame"}).opens(given)
    assert not Gate("").opens(given)


def test_the_secret_is_compared_in_constant_time(monkeypatch):
    seen = []
    known = gate.hmac.compare_digest
    monkeypatch.setattr(gate.hmac, "compare_digest", lambda a, b: seen.append((len(a), len(b))) or known(a, b))
    made = Gate("a secret")
    for given in ("", "a", "a secret", "a secret and more" * 1000):
        made.opens(given)
    assert set(seen) == {(32, 32)} and len(seen) == 4


def test_a_cookie_is_good_for_its_own_server_for_thirty_days(monkeypatch):
    made = Gate("s")
    cookie = made.cookie()
    assert made.knows(cookie) and not Gate("s").knows(cookie)
    issued, _, signature = cookie.partition(".")
    for forged in ("", ".", cookie[:-1], f"{int(issued) + 1}.{signature}", f"{issued}.", "é.ü", cookie + "x"):
        assert not made.knows(forged)
    monkeypatch.setattr(gate.time, "time", lambda: int(issued) + 31 * 86400)
    assert not made.knows(cookie)


def test_a_stamp_is_read_by_the_gate_that_wrote_it():
    made = Gate("s")
    assert made.role_of(made.stamp("owner")) == "owner" and made.role_of(made.stamp("visitor")) == "visitor"
    visitor = made.stamp("visitor").partition(".")[2]
    for forged in ("", "owner", "owner.", f"owner.{visitor}", Gate("s").stamp("owner"), made.stamp("")):
        assert made.role_of(forged) == ""


def test_neither_the_secret_nor_the_signing_key_is_in_a_repr():
    assert "opensesame" not in repr(Gate("opensesame"))


# --- waiting after wrong tries


def slow_down() -> tuple[SlowDown, list[float]]:
    clock = [1000.0]
    return SlowDown(clock=lambda: clock[0]), clock


def test_after_three_wrong_tries_each_doubles_the_wait_up_to_a_minute():
    slow, clock = slow_down()
    waits = []
    for _ in range(12):
        clock[0] += slow.wait("10.0.0.1")
        assert slow.wait("10.0.0.1") == 0
        slow.failed("10.0.0.1")
        waits.append(slow.wait("10.0.0.1"))
    assert waits == [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_the_wait_is_of_one_address_and_ends_with_the_right_secret_or_a_quarter_of_an_hour():
    slow, clock = slow_down()
    for _ in range(8):
        slow.failed("10.0.0.1")
    assert slow.wait("10.0.0.1") > 0 and slow.wait("10.0.0.2") == 0
    slow.passed("10.0.0.1")
    assert slow.wait("10.0.0.1") == 0
    for _ in range(8):
        slow.failed("10.0.0.1")
    clock[0] += 901
    assert slow.wait("10.0.0.1") == 0
    slow.failed("10.0.0.1")
    assert slow.wait("10.0.0.1") == 0


def test_all_addresses_of_an_ipv6_network_wait_together():
    slow, _ = slow_down()
    for last in range(8):
        slow.failed(f"2001:db8::{last + 1}")
    assert slow.wait("2001:db8::ffff") > 0 and slow.wait("2001:db8:0:1::1") == 0


def test_who_comes_by_ipv4_to_a_server_of_ipv6_waits_alone():
    slow, _ = slow_down()
    for _ in range(8):
        slow.failed("::ffff:10.0.0.1")
    assert slow.wait("::ffff:10.0.0.1") == slow.wait("10.0.0.1") > 0 and slow.wait("::ffff:10.0.0.2") == 0


def test_what_is_no_address_is_not_remembered_letter_by_letter():
    slow, _ = slow_down()
    for number in range(50):
        slow.failed(f"{number}" * 60_000)
    assert len(slow._failed) == 1 and slow.wait("[") > 0


def test_a_million_addresses_do_not_fill_the_memory():
    slow, _ = slow_down()
    for number in range(11_000):
        slow.failed(f"10.{number // 65536}.{number // 256 % 256}.{number % 256}")
    assert len(slow._failed) == slow.most


# --- who is here


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:9000", "[::1]:8501", "localhost"])
def test_who_asks_this_machine_by_its_own_name_from_itself_is_its_owner(host):
    assert comes_from_here("127.0.0.1", {"host": host})


@pytest.mark.parametrize(
    ("remote", "headers"),
    [
        ("10.0.0.5", {"host": "127.0.0.1:8501"}),
        ("127.0.0.1", {"host": "evil.org"}),
        ("127.0.0.1", {"host": "localhost.evil.org"}),
        ("127.0.0.1", {}),
        ("", {"host": "localhost"}),
        ("127.0.0.1", {"host": "localhost", "x-forwarded-for": "8.8.8.8"}),
        ("127.0.0.1", {"host": "localhost", "forwarded": "for=8.8.8.8"}),
        ("127.0.0.1", {"host": "localhost", "via": "1.1 proxy"}),
        ("127.0.0.1", {"host": "["}),
        ("127.0.0.1", {"host": "[::1"}),
        ("127.0.0.1", {"host": "localhost", "x-real-ip": "127.0.0.1"}),
    ],
)
def test_other_machines_other_names_and_proxies_are_not_the_owner(remote, headers):
    assert not comes_from_here(remote, headers)


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("/instance?model=x", "/instance?model=x"),
        ("//evil.org/x", "/"),
        ("/\\evil.org", "/"),
        ("https://evil.org", "/"),
        ("javascript:alert(1)", "/"),
        ("/x\r\nSet-Cookie: a=b", "/"),
        ("/é", "/"),
        ("", "/"),
    ],
)
def test_nobody_is_led_out_of_the_app(place, kept):
    assert gate_server.path_within_app(place) == kept


# --- logins elsewhere


@pytest.mark.parametrize(
    ("user", "allowed", "is_in"),
    [
        ({"email": "a@lab.org"}, "", True),
        ({"email": "a@lab.org"}, "a@lab.org, b@lab.org", True),
        ({"email": "A@LAB.org"}, "@lab.org", True),
        ({"email": "c@evil.org"}, "@lab.org", False),
        ({"email": "c@evil-lab.org"}, "@lab.org", False),
        ({"email": "c@lab.org.evil.org"}, "@lab.org", False),
        ({"email": "a@lab.org", "email_verified": False}, "@lab.org", False),
        ({"email": "a@lab.org", "email_verified": "false"}, "@lab.org", False),
        ({"email": "a@lab.org", "email_verified": "true"}, "@lab.org", True),
        ({"email": "a@lab.org"}, " , ", False),
        ({}, "@lab.org", False),
        ({"email": ""}, "@", False),
    ],
)
def test_a_list_of_logins_lets_in_those_alone(user, allowed, is_in):
    assert gate_login._is_allowed(user, allowed) is is_in


@pytest.mark.parametrize(("back", "is_open"), [("/", False), ("/media/x", False), ("/lab/oauth2callback", True)])
def test_a_login_opens_its_own_steps_whatever_address_it_comes_back_to(back, is_open, monkeypatch):
    told = {"redirect_uri": f"https://lab.org{back}"}
    monkeypatch.setattr(gate_login.auth_util, "get_secrets_auth_section", lambda: told)
    assert (back in gate_login.paths("")) is is_open and "/oauth2callback" in gate_login.paths("")


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
def test_a_server_that_is_reached_under_another_name_has_a_token(address):
    made = make_gate(address, {}, is_named=True)
    assert len(made.secret) == TOKEN_LENGTH and not made.is_open_here


@pytest.mark.parametrize("cookie", ["", "x", "e30.x.y", "é", '{"is_logged_in": true}'])
def test_an_unsigned_login_is_none(cookie):
    assert not gate_login.has_logged_in({"_streamlit_user": cookie}, {})


# --- pages that are reached past the gate


def shown(app: AppTest) -> list[str]:
    """All that stands on the page, its sidebar included."""
    return [f"{element.type}: {getattr(element, 'value', '')}" for element in app if isinstance(element, Element)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.parametrize("why", ["listens to others", "has a password"])
def test_a_page_reached_past_the_gate_shows_nothing_and_touches_nothing(page: Path, why, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    if why == "has a password":
        monkeypatch.setenv("EXPLORER_PASSWORD", "opensesame")
    else:
        known = config.get_option
        monkeypatch.setattr(config, "get_option", lambda name: "0.0.0.0" if name == "server.address" else known(name))
    app = AppTest.from_file(str(page), default_timeout=60)
    app.query_params["model"] = "http://127.0.0.1:9/v1#m"
    app.run()
    assert not app.exception
    [only] = shown(app)
    assert only.startswith("error: This page was reached past the app's gate")
    assert not cache.exists()
    # Nothing of what the reader asked for was taken up.
    assert not [
        name for name in app.session_state._state.filtered_state if name.startswith(("chosen:", "pick:", "written:"))
    ]


def test_every_page_there_is_stands_in_the_list_above():
    from explorer.ui.layout import PAGES as listed

    assert {f"pages/{page.name}" for page in PAGES} == {page.path for page in listed}
