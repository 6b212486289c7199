"""Greedy answers equal plain `generate`, sampled ones depend on the request alone, prefixes are read once."""

from __future__ import annotations

import copy
import dataclasses
import random
import re

import pytest

from explorer import settings as settings_module
from explorer.errors import ModelError
from explorer.records import Request
from explorer.scoring import hf, hf_direct
from explorer.scoring.engine import decoder
from explorer.scoring.engine import tree as engine_tree
from explorer.scoring.engine.contract import Answer, StopRules
from explorer.scoring.engine.cuda_graphs import BATCHES_IN_SPARE_ROOM, CapturedSteps, find_shape, room_for
from explorer.scoring.engine.decoder import open_cached_decoder
from explorer.scoring.engine.kv_cache import NOWHERE, CachedRows, PrefixRoom
from explorer.scoring.engine.prefixes import common_start, group
from explorer.scoring.generate import ModelGenerator, chat_text
from explorer.scoring.hf_source import Source
from explorer.scoring.short_answers import ShortAnswers

torch = pytest.importorskip("torch")

ARCHITECTURES = ("gpt_neox", "gpt2", "opt", "llama", "olmo2", "gemma3_text")
SHARED = "What did the teachers say that the pupils had written on the board? They said: "
TEXTS = [
    *(SHARED + end for end in ("nothing", "the keys", "the keys to the old cabinet are on", "a", "Zürich, twice 🙂")),
    "Some café in Zürich",
    "The",
    SHARED + "nothing",
]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def model(request, tiny_folders, tmp_path_factory):
    settings = settings_module.read(cache=tmp_path_factory.mktemp("cache"))
    return hf.load(str(tiny_folders(request.param)), settings, dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def gemma(tiny_folders, tmp_path_factory):
    settings = settings_module.read(cache=tmp_path_factory.mktemp("cache"))
    return hf.load(str(tiny_folders("gemma3_text")), settings, dtype="float32", device="cpu")


def ask(texts, **factors):
    return [Request(str(place), 0, text, factors=factors) for place, text in enumerate(texts)]


def plain(model, text, new):
    """Token ids by transformers' own generate, one prompt alone, up to the end mark."""
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    mask = torch.ones_like(ids)
    found = model.model.generate(ids, attention_mask=mask, do_sample=False, max_new_tokens=new, pad_token_id=0)
    written = found[0, ids.shape[1] :].tolist()
    end = model.tokenizer.eos_token_id
    return tuple(written[: written.index(end)] if end in written else written)


def ids_of(generations):
    return [one.token_ids for one in generations]


def test_greedy_answers_equal_plain_generate_one_at_a_time(model):
    generator = ModelGenerator(model)
    assert isinstance(generator._decoder, decoder.CachedDecoder)
    found = generator.generate(ask(TEXTS), max_new_tokens=24)
    assert ids_of(found) == [plain(model, text, 24) for text in TEXTS]
    assert all(one.text == "".join(model.decode(one.token_ids)) for one in found)
    assert len(set(ids_of(found))) > 3


@pytest.mark.parametrize("rows", [1, 3])
def test_the_size_of_a_batch_changes_no_answer(model, rows):
    wanted = ids_of(ModelGenerator(model).generate(ask(TEXTS), max_new_tokens=12))
    assert ids_of(ModelGenerator(model, rows=rows).generate(ask(TEXTS), max_new_tokens=12)) == wanted


def test_a_sampled_answer_depends_on_the_seed_and_its_own_request_alone(model):
    generator = ModelGenerator(model)
    requests = ask(TEXTS)
    together = ids_of(generator.generate(requests, max_new_tokens=10, temperature=0.9, seed=4))
    backwards = [
        generator.generate([one], max_new_tokens=10, temperature=0.9, seed=4)[0].token_ids for one in requests[::-1]
    ]
    assert together == backwards[::-1]
    assert together != ids_of(generator.generate(requests, max_new_tokens=10, temperature=0.9, seed=5))
    # The last text is the first one again, under another id.
    assert together[0] != together[-1]


def test_a_request_carries_its_own_temperature(gemma):
    generator = ModelGenerator(gemma)
    greedy = generator.generate(ask(TEXTS), max_new_tokens=8)
    mixed = [
        dataclasses.replace(one, factors={"temperature": 0.0 if i % 2 else 1.5}) for i, one in enumerate(ask(TEXTS))
    ]
    found = generator.generate(mixed, max_new_tokens=8, temperature=1.0)
    assert ids_of(found)[1::2] == ids_of(greedy)[1::2]
    assert ids_of(found)[0::2] != ids_of(greedy)[0::2]


def test_samples_follow_the_models_distribution(gemma):
    requests = [Request("one", 0, "The keys", factors={"part": part}) for part in range(3000)]
    found = ModelGenerator(gemma).generate(requests, max_new_tokens=1, temperature=0.7)
    ids = torch.tensor([gemma.tokenizer("The keys")["input_ids"]])
    with torch.no_grad():
        wanted = (gemma.model(ids).logits[0, -1] / 0.7).softmax(-1)
    end = gemma.tokenizer.eos_token_id
    drawn = torch.bincount(
        torch.tensor([one.token_ids[0] if one.token_ids else end for one in found]), minlength=len(wanted)
    )
    # Half the summed differences between shares of 3,000 draws and 420 probabilities is about 0.1 by chance alone.
    assert float((drawn / 3000 - wanted).abs().sum() / 2) < 0.15


def test_what_prompts_share_is_read_once(gemma):
    generator = ModelGenerator(gemma, rows=4)
    texts = [
        SHARED * 4 + word for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    ]
    generator.generate(ask(texts), max_new_tokens=3)
    lengths = [len(gemma.tokenizer(text)["input_ids"]) for text in texts]
    assert generator.stats.prompt_tokens == sum(lengths)
    assert generator.stats.read_tokens <= min(lengths) + 10 * 8
    assert generator.stats.prompt_tokens > 5 * generator.stats.read_tokens


def test_a_longer_prompt_goes_on_from_the_shorter_ones_prefix(model):
    generator = ModelGenerator(model)
    short, long = SHARED * 2, SHARED * 3
    generator.generate(ask([short + "one", short + "two"]), max_new_tokens=4)
    before = generator.stats.read_tokens
    found = generator.generate(ask([long + "one", long + "two"]), max_new_tokens=12)
    read = generator.stats.read_tokens - before
    assert read < 0.6 * len(model.tokenizer(long + "one")["input_ids"])
    assert ids_of(found) == [plain(model, long + end, 12) for end in ("one", "two")]
    # And back again: the part of a longer prefix that is asked for is found in it.
    before = generator.stats.read_tokens
    found = generator.generate(ask([short + "one", short + "two"]), max_new_tokens=12)
    assert generator.stats.read_tokens - before < 30
    assert ids_of(found) == [plain(model, short + end, 12) for end in ("one", "two")]


def test_an_answer_ends_before_a_stop_text(gemma):
    generator = ModelGenerator(gemma)
    whole = generator.generate(ask(TEXTS[:1]), max_new_tokens=24)[0]
    mark = whole.text[5:7]
    found = generator.generate(ask(TEXTS[:1]), max_new_tokens=24, stop=[mark])[0]
    assert found.text == whole.text[: whole.text.index(mark)]
    assert found.finish == "stop"
    assert whole.finish == "length"


def test_an_answer_ends_with_the_token_that_completes_it(gemma):
    generator = ModelGenerator(gemma)
    whole = generator.generate(ask(TEXTS), max_new_tokens=24)
    found = generator.generate(ask(TEXTS), max_new_tokens=24, until=lambda text: len(text) >= 9)
    for one, full in zip(found, whole, strict=True):
        assert full.text.startswith(one.text)
        assert len("".join(gemma.decode(one.token_ids[:-1]))) < 9 <= len(one.text)
        assert one.finish == "stop"


def test_the_text_of_an_answer_is_that_of_all_its_tokens_also_where_a_character_is_spread_over_them(gemma):
    ids = gemma.tokenizer("Zürich 🙂 café 猫が", add_special_tokens=False)["input_ids"]
    assert any("\ufffd" in "".join(gemma.decode([token])) for token in ids)
    seen: list[str] = []
    text_of = lambda tokens: "".join(gemma.decode(tokens))  # noqa: E731
    answer = Answer((1,), 100, StopRules(frozenset([0]), (), lambda text: bool(seen.append(text)), text_of))
    for token in (*ids, 0):
        answer.add(token)
    assert seen == [text_of(ids[: size + 1]) for size in range(len(ids))]
    assert answer.text == text_of(ids)


def test_the_next_requests_are_prepared_while_others_are_written(gemma):
    texts = [TEXTS, [text + " and" for text in TEXTS]]
    wanted = [ModelGenerator(gemma).generate(ask(each), max_new_tokens=6) for each in texts]
    generator = ModelGenerator(gemma)
    first = generator.prepare(ask(texts[0]), max_new_tokens=6)
    second = generator.prepare(ask(texts[1]), max_new_tokens=6)
    generator.run(first)
    generator.run(second)
    assert [ids_of(generator.finish(each)) for each in (first, second)] == [ids_of(each) for each in wanted]


def test_answers_come_in_the_order_asked_and_progress_counts_them(gemma):
    told = []
    texts = ["The keys " * count for count in (9, 1, 5, 30, 2, 2)]
    found = ModelGenerator(gemma, rows=2).generate(
        ask(texts), max_new_tokens=3, progress=lambda done, total: told.append((done, total))
    )
    assert [one.request.context for one in found] == texts
    assert told[-1] == (6, 6)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_prompt_that_fills_the_window_has_no_answer_and_says_why(gemma):
    long = "the " * 400
    found = ModelGenerator(gemma).generate(ask([long, "The"]), max_new_tokens=4)
    assert "window of 256" in found[0].reason
    assert not found[0].text
    assert found[1].token_ids


def test_an_answer_stops_where_the_window_ends(gemma):
    ids = gemma.tokenizer("the " * 120)["input_ids"]
    text = "the " * 120 if len(ids) < 256 else "the " * 60
    left = 256 - len(gemma.tokenizer(text)["input_ids"])
    found = ModelGenerator(gemma).generate(ask([text]), max_new_tokens=500)[0]
    assert len(found.token_ids) <= left
    assert len(found.token_ids) == left or found.finish == "stop"


def test_a_text_that_cannot_be_encoded_gets_a_reason(gemma):
    found = ModelGenerator(gemma).generate(ask(["The \ud800", "The"]), max_new_tokens=2)
    assert "surrogate" in found[0].reason
    assert found[1].token_ids


def test_nothing_asked_is_nothing_answered(gemma):
    assert ModelGenerator(gemma).generate([], max_new_tokens=4) == []


def test_a_batch_that_does_not_fit_is_halved(gemma, monkeypatch):
    wanted = ids_of(ModelGenerator(gemma).generate(ask(TEXTS), max_new_tokens=8))
    generator = ModelGenerator(gemma)
    whole = decoder.CachedDecoder._write

    def too_large(self, behind, batch, *rest):
        if len(batch) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")
        return whole(self, behind, batch, *rest)

    monkeypatch.setattr(decoder.CachedDecoder, "_write", too_large)
    assert ids_of(generator.generate(ask(TEXTS), max_new_tokens=8)) == wanted


def test_a_single_prompt_that_does_not_fit_is_an_error(gemma, monkeypatch):
    def too_large(*_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")

    generator = ModelGenerator(gemma)
    monkeypatch.setattr(decoder.CachedDecoder, "_write", too_large)
    with pytest.raises(ModelError, match="single prompt"):
        generator.generate(ask(TEXTS), max_new_tokens=8)


def test_a_model_whose_layers_cannot_be_taken_over_is_asked_one_at_a_time(gemma, monkeypatch):
    fast = ModelGenerator(gemma)
    monkeypatch.setattr(decoder.CachedDecoder, "agrees", lambda self: False)
    slow = ModelGenerator(gemma)
    assert not isinstance(slow._decoder, decoder.CachedDecoder)
    for heat in (0.0, 1.0):
        asked = {"max_new_tokens": 9, "temperature": heat, "until": lambda text: len(text) > 20}
        assert slow.generate(ask(TEXTS), **asked) == fast.generate(ask(TEXTS), **asked)


def test_a_model_that_gives_no_numbers_says_so(tiny_folders, tmp_path):
    broken = hf.load(str(tiny_folders("gpt2")), settings_module.read(cache=tmp_path), dtype="float32", device="cpu")
    generator = ModelGenerator(broken)
    with torch.no_grad():
        next(iter(broken.model.parameters())).fill_(float("nan"))
    found = generator.generate(ask(["The", "keys"]), max_new_tokens=3)
    assert all("gave no number" in one.reason and not one.text for one in found)


def test_a_conversation_follows_the_chat_template_where_there_is_one(gemma):
    turns = (("user", "Which keys?"),)
    assert chat_text(gemma.tokenizer, turns) == "Which keys?"
    template = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}[assistant]"
    tokenizer = copy.deepcopy(gemma.tokenizer)
    tokenizer.chat_template = template
    assert chat_text(tokenizer, turns) == "[user] Which keys? [assistant]"
    generator = ModelGenerator(gemma)
    chat = Request("a", 0, "ignored", conversation=turns)
    assert ids_of(generator.generate([chat], max_new_tokens=6)) == [plain(gemma, "Which keys?", 6)]


def test_groups_cover_all_sequences_and_share_what_they_say():
    chance = random.Random(2)
    sequences = [tuple(chance.choice((1, 2)) for _ in range(chance.randint(1, 12))) for _ in range(200)]
    for cost in (0, 5, 1000):
        found = group(sequences, cost)
        assert sorted(place for one in found for place in one.members) == list(range(200))
        for one in found:
            starts = {sequences[place][: one.depth] for place in one.members}
            assert len(starts) == 1
            assert all(len(sequences[place]) > one.depth for place in one.members)


def test_groups_stand_apart_only_where_it_pays():
    one = [(1, 1, 1, 1, last) for last in range(5)]
    other = [(2, 2, 2, 2, last) for last in range(5)]
    assert [(found.depth, len(found.members)) for found in group([*one, *other], 10)] == [(4, 5), (4, 5)]
    assert [(found.depth, len(found.members)) for found in group([*one, *other], 100)] == [(0, 10)]


@pytest.mark.parametrize(
    ("sequences", "start"),
    [([], 0), ([(1, 2)], 2), ([(1, 2, 3), (1, 2, 4), (1, 2)], 2), ([(1, 2), (), (1,)], 0), ([(5,), (6, 1)], 0)],
)
def test_what_all_sequences_begin_with(sequences, start):
    assert common_start(sequences) == start
    for together in group(sequences, 0):
        assert all(len(sequences[place]) > together.depth or not sequences[place] for place in together.members)


def test_sequences_that_each_go_on_from_the_one_before_nest_no_deeper_than_python_can():
    nested = [(1,) * length + (2, place) for place, length in enumerate(range(1, 3000, 2))]
    assert sum(len(one.members) for one in group(nested, 0)) == len(nested)


@pytest.mark.parametrize(
    ("captured", "wanted", "new", "found"),
    [
        ([], (64, 32, 0), 10, (64, 32, 0)),
        ([(1024, 64, 0)], (16, 32, 0), 10, (1024, 64, 0)),
        ([(1024, 64, 0), (256, 64, 0)], (16, 32, 0), 10, (256, 64, 0)),  # the smallest that holds them
        ([(1024, 32, 0), (8, 64, 0)], (16, 64, 0), 10, (16, 64, 0)),  # too few slots, too few rows
        ([(1024, 64, 0)], (16, 32, 0), 100, (16, 32, 0)),  # a hundred steps, most of each in vain
        ([(32, 64, 0)], (16, 64, 0), 100, (32, 64, 0)),
        ([(64, 32, 1024)], (64, 32, 1536), 100, (64, 32, 1536)),  # too little room for the prefix
        ([(64, 32, 2048)], (64, 32, 1536), 100, (64, 32, 2048)),
        ([(64, 32, 2048), (64, 32, 1536)], (64, 32, 1536), 100, (64, 32, 1536)),
        ([(64, 32, 2560)], (64, 32, 1536), 10, (64, 32, 1536)),  # so much room that a capture costs no more
        ([(64, 32, 256)], (64, 32, 64), 10, (64, 32, 64)),
        ([(64, 32, 64)], (64, 32, 0), 10, (64, 32, 0)),
    ],
)
def test_a_step_that_was_captured_for_more_serves_short_answers(captured, wanted, new, found):
    assert find_shape(captured, wanted, new) == found


@pytest.mark.parametrize(
    ("tokens", "room"), [(1, 64), (64, 64), (65, 128), (512, 512), (513, 768), (1024, 1024), (1025, 1280)]
)
def test_prefixes_of_like_length_have_the_same_room(tokens, room):
    prefix = CachedRows(1, tokens, torch.device("cpu"))
    prefix.used = tokens
    assert room_for(prefix) == room and room_for(None) == 0


def with_captured_steps(model, rows=None):
    """A generator that writes as on a GPU, but that each step is computed anew and not replayed."""
    generator = ModelGenerator(model, rows=rows)
    made = generator._decoder
    made.pass_tokens = 1  # every prefix is read apart
    made.steps = CapturedSteps(made.forward, made.sampler.greedy, model.window, decoder.TOLERANCE)
    return generator


@pytest.mark.parametrize("new", [9, 24])
def test_one_captured_step_writes_behind_prefixes_of_several_lengths(model, new):
    generator, prefixes = with_captured_steps(model), set()
    for words in (8, 7, 3, 8, 6):  # longer and shorter ones
        texts = behind(words)
        assert ids_of(generator.generate(ask(texts), max_new_tokens=new)) == [plain(model, text, new) for text in texts]
        prefixes.add(generator._decoder.prefixes.prefixes[-1][1].used)
    steps = generator._decoder.steps
    assert steps.works and len(prefixes) == 4 and len(steps.captured) < 4
    assert all(room >= min(prefixes) for _, _, room in steps.captured)


def behind(words):
    """Texts behind a prefix of so many times the same words."""
    return ["the keys to the old cabinet " * words + end for end in ("and", "nothing", "a day", "Zürich")]


def test_a_prefix_behind_which_much_is_written_gets_a_step_of_its_own_length(gemma):
    generator = with_captured_steps(gemma)
    steps = generator._decoder.steps
    rooms = []
    for words in (14, *[8] * BATCHES_IN_SPARE_ROOM, 8, 8):
        texts = behind(words)
        found = generator.generate(ask(texts), max_new_tokens=9)
        assert ids_of(found) == [plain(gemma, text, 9) for text in texts]
        rooms.append(next(reversed(steps.captured))[2])
    assert rooms[0] == rooms[BATCHES_IN_SPARE_ROOM] > rooms[-2] == rooms[-1]


@pytest.mark.parametrize("heat", [0.0, 0.8])
def test_answers_of_captured_steps_end_as_those_of_plain_ones(gemma, heat):
    asked = {"max_new_tokens": 30, "temperature": heat, "seed": 3, "until": lambda text: len(text) > 12}
    found = with_captured_steps(gemma, rows=3).generate(ask(TEXTS), **asked)
    assert found == ModelGenerator(gemma).generate(ask(TEXTS), **asked)
    assert len({len(one.token_ids) for one in found}) > 1


def test_a_broken_prefix_leaves_nothing_behind_where_the_next_is_shorter(gemma):
    with torch.inference_mode():
        broken, short = (ModelGenerator(gemma)._decoder.read_prefix(tuple(range(3, end))) for end in (63, 8))
        for layer in (*broken.keys, *broken.values):
            layer.fill_(float("nan"))
        room = PrefixRoom(broken, 64)
        room.load(broken)
        assert all(layer.isnan().any() for layer in (*room.keys, *room.values))
        room.load(short)
    assert not any(layer.isnan().any() for layer in (*room.keys, *room.values))
    assert (room.positions[0] < NOWHERE).sum() == 5 and room.positions[0, -5:].tolist() == list(range(5))


@pytest.mark.gpu
def test_short_answers_wait_in_line_with_rows_to_be_scored(tiny_folders, tmp_path):
    place, settings = tiny_folders("llama"), settings_module.read(cache=tmp_path)
    cpu = hf.load(str(place), settings, dtype="float32", device="cpu")
    model = hf_direct.load(Source(str(place), place, "", "", None), settings, "cuda", "float32")
    writer = ShortAnswers(open_cached_decoder(model.runner, model.window))
    prompts = [(tuple(cpu.tokenizer(text)["input_ids"]), 9) for text in TEXTS]
    rows = engine_tree.pack([ids for ids, _ in prompts], [1] * len(prompts), 64).rows
    first, scored, second = writer.begin(prompts), model.runner.begin(rows), writer.begin(prompts[:3])
    expected = [row.logprobs for row in cpu.runner.run(rows)]
    written = [list(plain(cpu, text, 9)) for text in TEXTS]
    assert [ids[: len(one)] for ids, one in zip(first(), written, strict=True)] == written
    for one, logprobs in zip(scored(), expected, strict=True):
        assert one.logprobs == pytest.approx(logprobs, abs=1e-3)
    assert [ids[: len(one)] for ids, one in zip(second(), written[:3], strict=True)] == written[:3]


@pytest.mark.gpu
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_captured_steps_write_what_plain_generate_does(architecture, tiny_folders, tmp_path):
    place = str(tiny_folders(architecture))
    gpu = hf.load(place, settings_module.read(cache=tmp_path), dtype="float32", device="cuda")
    cpu = hf.load(place, settings_module.read(cache=tmp_path), dtype="float32", device="cpu")
    for rows in (None, 3):
        generator = ModelGenerator(gpu, rows=rows)
        found = generator.generate(ask(TEXTS), max_new_tokens=24)
        assert generator._decoder.steps.works
        assert len(generator._decoder.steps.captured)
        assert ids_of(found) == [plain(cpu, text, 24) for text in TEXTS]
        generator._decoder.pass_tokens = 1
        for words in (8, 7, 3, 8, 6):  # prefixes of several lengths in one step
            texts = behind(words)
            assert ids_of(generator.generate(ask(texts), max_new_tokens=24)) == [plain(cpu, text, 24) for text in texts]
        assert generator._decoder.steps.works
        for new, heat in ((1, 0.0), (2, 0.0), (9, 0.0), (16, 0.0), (1, 0.8), (9, 0.8)):
            asked = {"max_new_tokens": new, "temperature": heat, "seed": 3}
            assert ids_of(generator.generate(ask(TEXTS), **asked)) == ids_of(
                ModelGenerator(cpu).generate(ask(TEXTS), **asked)
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gemma-3-270m", "smollm2-135m-instruct"])
def test_embedded_models_answer_as_plain_generate_does(name, embedded_model):
    model = embedded_model(name)
    labels = ["kidney development", "mitochondrion", "DNA repair"]
    texts = [f"In the Gene Ontology, the GO ID of the label '{label}' is GO:" for label in labels]
    generator = ModelGenerator(model)
    found = generator.generate(ask(texts), max_new_tokens=10, until=lambda text: bool(re.match(r"\d{7}\D", text)))
    for one, text in zip(found, texts, strict=True):
        whole = plain(model, text, 10)
        assert one.token_ids == whole[: len(one.token_ids)]
    chat = Request("chat", 0, "", conversation=(("user", "Name the capital of France in one word."),))
    if model.tokenizer.chat_template:
        assert generator.generate([chat], max_new_tokens=6)[0].token_ids == plain(model, generator.prompt(chat), 6)
