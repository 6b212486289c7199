"""Chat templates: rendered as transformers does it, and stopped where they would go on and on."""

from __future__ import annotations

import pytest
from transformers import AutoTokenizer

from explorer.errors import ModelError
from explorer.scoring import hf_chat
from explorer.scoring.generate import chat_text

TURNS = (("system", "Be brief — \U0001f431."), ("user", "Which keys?\n"))
FAIR = """{{ bos_token }}{% for m in messages %}
    {%- if m.role == 'system' and not loop.first %}{{ raise_exception('no') }}{% endif %}
<{{ m['role'] | upper }}>{{ m['content'] | trim }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<ASSISTANT>{% endif %}"""
ENDLESS = {
    "loops in loops": "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
    "a power": "{% set x = 9 ** (9 ** 9) %}{{ x }}",
    "a recursive macro": "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "a text twice as long each time": "{% set n = namespace(t='x') %}{% for i in range(60) %}{% set n.t = n.t ~ n.t %}"
    "{% endfor %}{{ n.t }}",
    "a text times a billion": "{{ 'x' * 10 ** 10 }}",
    "a format of a billion": "{{ '%09999999999d' % 1 }}",
    "a wide center": "{{ 'x' | center(9999999999) }}",
    "lorem ipsum": "{{ lipsum(n=1000000) }}",
    "twenty million characters": "{{ 'x' * 20000000 }}",
    "what it may not": "{{ ''.__class__.__mro__ }}{{ cycler.__init__.__globals__.os.environ }}",
    "no template": "{% if",
}


@pytest.fixture
def tokenizer(tiny_gpt2):
    return AutoTokenizer.from_pretrained(tiny_gpt2)


def test_a_template_gives_what_transformers_gives(tokenizer):
    tokenizer.chat_template = FAIR
    messages = [{"role": role, "content": text} for role, text in TURNS]
    expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert chat_text(tokenizer, TURNS) == expected and "<USER>Which keys?" in expected


def test_a_template_is_told_the_same_day_every_day(tokenizer):
    tokenizer.chat_template = "{{ strftime_now('%d %b %Y') }}{% for m in messages %}, {{ m.content }}{% endfor %}"
    assert chat_text(tokenizer, (("user", "which?"),)) == "26 Jul 2024, which?"


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", ENDLESS)
def test_a_template_without_end_is_stopped_and_told(name, monkeypatch):
    hf_chat.render("ready", [], {})
    monkeypatch.setattr(hf_chat, "SECONDS", 1.0)
    with pytest.raises(ModelError, match="chat template cannot be rendered"):
        hf_chat.render(ENDLESS[name], [{"role": "user", "content": "x"}], {})
    monkeypatch.undo()
    assert hf_chat.render("{{ messages[0].content }}", [{"role": "user", "content": "next"}], {}) == "next"
