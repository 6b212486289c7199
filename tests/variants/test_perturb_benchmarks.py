"""The whole pipeline on samples of the real benchmarks, with the real WordNet.

What becomes of a text's shape does not hang on how its senses are told: Lesk tells them here, for a tenth of the time.
That no answer depends on the texts beside it is asked of the default method, which encodes them together.
"""

import difflib
import functools
import re

import pytest

from explorer import benchmarks, settings
from explorer.benchmarks.blimp import FORMAL_PHENOMENA
from explorer.variants.fields import running_texts
from explorer.variants.perturb import Tools, perturb_instances
from explorer.variants.senses_lesk import Lesk

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def quick(wordnet, tagger):
    """The real WordNet and the real tagger, with a sense method that asks no model."""
    return Tools(wordnet, tagger, Lesk(wordnet))


@functools.cache
def loaded(name, data_folder):
    return benchmarks.load(name, settings.read(data=data_folder)).instances


def perturbed(name, kit, data_folder, *, every, keep=lambda instance: True):
    found = [instance for instance in loaded(name, data_folder) if keep(instance)][::every]
    return list(zip(found, perturb_instances(found, kit), strict=True))


def differ_where_they_did(first, second, new_first, new_second):
    """Over the words between blanks: shared words are still shared, and no word of a difference has become shared."""
    old, new = [first.split(" "), second.split(" ")], [new_first.split(" "), new_second.split(" ")]
    if [len(words) for words in old] != [len(words) for words in new]:
        return False
    for what, a, b, c, d in difflib.SequenceMatcher(None, *old, autojunk=False).get_opcodes():
        same = new[0][a:b] == new[1][c:d]
        if same != (what == "equal"):
            return False
        if what == "replace" and b - a == d - c and any(x == y for x, y in zip(new[0][a:b], new[1][c:d], strict=True)):
            return False
    return True


def stands_in(words, text):
    return re.search(rf"\b{re.escape(words)}\b", text) is not None


@pytest.mark.parametrize("phenomenon", FORMAL_PHENOMENA)
def test_blimp_pairs_differ_exactly_where_they_did(quick, data_folder, phenomenon):
    made = perturbed("blimp", quick, data_folder, every=200, keep=lambda instance: instance.phenomenon == phenomenon)
    accepted = [(old, new) for old, new in made if new.instance is not None]
    assert len(accepted) > 0.75 * len(made)
    for old, new in accepted:
        assert differ_where_they_did(*old.options, *new.instance.options), (old.options, new.instance.options)
    assert sum(bool(new.swaps) for _, new in accepted) > 0.1 * len(accepted)


@pytest.mark.parametrize(("name", "every"), [("piqa", 160), ("copa", 20)])
def test_options_of_choices_differ_exactly_where_they_did(quick, data_folder, name, every):
    for old, new in perturbed(name, quick, data_folder, every=every):
        if new.instance is not None:
            assert differ_where_they_did(*old.options, *new.instance.options), (old.options, new.instance.options)


def test_winograd_sentences_keep_their_gap_and_two_options(quick, data_folder):
    for old, new in perturbed("winogrande", quick, data_folder, every=120):
        assert new.instance.context.count("_") == 1 and len(set(new.instance.options)) == 2
        for option, other in zip(old.options, new.instance.options, strict=True):
            # An option that stands in the sentence stands there afterwards.
            assert stands_in(option, old.context) == stands_in(other, new.instance.context)


def test_lambada_passages_keep_their_shape(quick, data_folder):
    made = perturbed("lambada", quick, data_folder, every=400)
    for old, new in made:
        (before,), (after,) = running_texts(old), running_texts(new.instance)
        assert len(before.text.split(" ")) == len(after.text.split(" "))
        assert before.text.count("\n") == after.text.count("\n")
        assert (old.options != new.instance.options) == ("target replaced" in new.flags)
    assert any("target replaced" in new.flags for _, new in made)


def test_regions_of_syntaxgym_stay_equal_or_different(quick, data_folder):
    for old, new in perturbed("syntaxgym", quick, data_folder, every=40):
        conditions = list(zip(old.conditions, new.instance.conditions, strict=True))
        for one, made in conditions:
            assert [not text.strip() for text in one.regions] == [not text.strip() for text in made.regions]
            for other, other_made in conditions:
                pairs = zip(one.regions, other.regions, made.regions, other_made.regions, strict=True)
                assert all((a == b) == (c == d) for a, b, c, d in pairs)


@pytest.mark.parametrize(("name", "every"), [("blimp", 5000), ("lambada", 1700)])
def test_alone_or_together_in_any_order_the_same(kit, data_folder, name, every):
    together = perturbed(name, kit, data_folder, every=every)
    assert [perturb_instances([old], kit)[0] for old, _ in together] == [new for _, new in together]
    olds = [old for old, _ in together]
    assert perturb_instances(olds[::-1], kit)[::-1] == [new for _, new in together]
