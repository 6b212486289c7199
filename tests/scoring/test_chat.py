"""Options scored as answers in a chat: the numbers are those of transformers' own rendering, one at a time."""

from __future__ import annotations

import json

import pytest
from transformers import AutoTokenizer

from explorer import prompts_chat
from explorer.errors import ModelError
from explorer.records import Request
from explorer.scoring import chat_files, hf, hf_chat
from explorer.scoring.generate import ModelGenerator
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import ModelScorer, score
from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer

# As SmolLM2 has it; with a BOS written by the template, as Gemma has it; with a blank before an answer, as Mistral has
# it; with an empty thought before an answer that is there, as Qwen 3 has it; and one that trims what is said.
TEMPLATES = {
    "marks": "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
    "bos": "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}",
    "blank": "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %} {{ m.content }}{{ eos_token }}"
    "{% else %}[INST] {{ m.content }} [/INST]{% endif %}{% endfor %}",
    "thought": "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
    "{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
}
ASKED = [
    Request("a", 0, "Where are the keys?", " On the kitchen table."),
    Request("a", 1, "Where are the keys?", " In the old cabinet."),
    Request("b", 0, "", "Some café in Zürich sold naïve visitors 1,250 cups."),
    Request("c", 0, "The keys", " to the cabinet", "region"),
    Request("d", 0, "  日本語の文もあります。\n", "🙂 is a face. "),
]


def messages_of(request, system):
    """The conversation as a naive user would write it down."""
    said = "" if request.role == "region" else request.context.strip()
    answer = request.context + request.continuation if request.role == "region" else request.continuation.strip()
    turns = [{"role": "system", "content": system}] if system else []
    return [*turns, {"role": "user", "content": said or "Write a sentence."}, {"role": "assistant", "content": answer}]


@pytest.mark.parametrize("architecture", ["gpt2", "llama", "opt"])
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("system", ["", "You are brief."])
def test_chat_scores_are_those_of_a_naive_loop_over_the_rendered_template(
    settings, tiny_folders, naive, architecture, template, system
):
    model = hf.load(str(tiny_folders(architecture)), settings, device="cpu")
    model.tokenizer.chat_template = TEMPLATES[template]
    policy = PRESETS["natural"].as_chat(system)
    scores = score(model, prompts_chat.all_as_chat(ASKED, system), policy)
    for request, found in zip(ASKED, scores, strict=True):
        messages = messages_of(request, system)
        text = model.tokenizer.apply_chat_template(messages, tokenize=False, continue_final_message=True)
        ids = model.tokenizer.apply_chat_template(messages, continue_final_message=True, return_dict=False)
        answer = request.continuation if request.role == "region" else request.continuation.strip()
        ends = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        start = next(i for i, (_, end) in enumerate(ends) if end > len(text) - len(answer))
        expected, greedy = naive.score_ids(model.model, list(ids), start)
        assert found.request.context + found.request.continuation == text and found.request.conversation is None
        assert list(found.token_ids) == list(ids)[start:]
        assert found.logprobs == pytest.approx(expected, abs=1e-4) and found.greedy == all(greedy)


def test_many_prompts_are_rendered_at_once_and_each_is_as_if_alone(tiny_gpt2):
    tokenizer = AutoTokenizer.from_pretrained(tiny_gpt2)
    said = [f"Question {i} of {'many ' * (i % 50)}" for i in range(3000)]
    turns = [(("user", text.strip()),) for text in said]
    before = hf_chat.render_before_answers(TEMPLATES["bos"], turns * 2, tokenizer.special_tokens_map)
    assert len(before) == len(set(turns)) == 3000
    tokenizer.chat_template = TEMPLATES["bos"]
    for number in (0, 1, 511, 512, 2999):
        messages = [{"role": "user", "content": said[number].strip()}]
        expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        assert before[turns[number]] == expected


def test_labels_behind_shared_demonstrations_are_scored_the_same(settings, tiny_folders):
    model = hf.load(str(tiny_folders("gpt2")), settings, device="cpu")
    model.tokenizer.chat_template = TEMPLATES["marks"]
    shots = "Text: dull film\nLabel: negative\n\nText: great fun\nLabel: positive\n\n"
    asked = [
        Request(text, option, f"{shots}Text: {text}\nLabel:", f" {label}", "label")
        for text in ("so so", "a joy", "never again")
        for option, label in enumerate(("negative", "positive"))
    ]
    asked, policy = prompts_chat.all_as_chat(asked), PRESETS["natural"].as_chat()
    together = SharedPrefixScorer(ModelGenerator(model)).score(asked, policy)
    alone = ModelScorer(model).score(asked, policy)
    assert [one.sum for one in together] == pytest.approx([one.sum for one in alone], abs=1e-4)
    assert [one.token_ids for one in together] == [one.token_ids for one in alone]


def test_a_model_without_a_template_is_refused(settings, tiny_folders):
    model = hf.load(str(tiny_folders("gpt2")), settings, device="cpu")
    with pytest.raises(ModelError) as refusal:
        score(model, prompts_chat.all_as_chat(ASKED), PRESETS["natural"].as_chat())
    assert str(refusal.value) == (
        f"{model.name} has no chat template, which chat=always asks for. Choose a model that was tuned for chat, or "
        "leave chat out."
    )


@pytest.mark.parametrize(
    "template, said",
    [
        ("{% for m in messages %}{{ m.content | replace('\u220e', '') }}{% endfor %}", "cannot be rendered"),
        ("{{ messages[0].content }}{{ raise_exception('System role not supported') }}", "System role not supported"),
        ("{% for m in messages %}{{ m.content | lower }}{% endfor %}", "changes the letters of what the user says"),
    ],
)
def test_a_template_that_does_not_let_an_answer_go_on_is_refused(template, said):
    with pytest.raises(ModelError, match=said):
        hf_chat.render_before_answers(template, [(("user", "Hello"),)], {})


FILES = {
    "a base model with its family's template": (
        {"eos_token": "<|end|>", "chat_template": "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"},
        {"eos_token_id": 5},
        False,
    ),
    "one that ends its answers as the template does": (
        {"eos_token": "<|im_end|>", "chat_template": "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"},
        {},
        True,
    ),
    "one whose generation ends with the template's mark": (
        {"eos_token": {"content": "<|end|>"}, "chat_template": "{{ messages[0].content }}<|im_end|>"},
        {"eos_token_id": [5, 7]},
        True,
    ),
    "one whose template writes the end mark by its name": (
        {"eos_token": "</s>", "chat_template": [{"name": "default", "template": "{{ messages }}{{ eos_token }}"}]},
        {},
        True,
    ),
    "one without a template": ({"eos_token": "</s>"}, {}, False),
}


@pytest.mark.parametrize("case", FILES)
def test_a_model_is_tuned_for_chat_by_what_its_files_say(tmp_path, case):
    tokenizer, generation, expected = FILES[case]
    added = [{"id": 5, "content": "<|end|>"}, {"id": 7, "content": "<|im_end|>"}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (tmp_path / "generation_config.json").write_text(json.dumps(generation))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": added}))
    assert chat_files.is_tuned(tmp_path) is expected
    if "chat_template" not in tokenizer:
        assert chat_files.template(tmp_path) == ""
        (tmp_path / "chat_template.jinja").write_text("{{ messages }}</s>")
        assert chat_files.is_tuned(tmp_path)
