import json
import math

import pytest

from explorer.errors import ModelError
from explorer.similarity import bertscore


def test_a_folder_without_an_encoder_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no encoder"):
        bertscore.BertScore("mine", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 2}))
    with pytest.raises(ModelError, match="no encoder"):
        bertscore.BertScore("mine", tmp_path)


@pytest.mark.slow
def test_minilm_orders_equal_alike_and_unrelated_texts(settings):
    scorer = bertscore.load(settings)
    assert scorer.name == "all-minilm-l6-v2, layer 6"
    texts = ["The police arrested a man.", "The police arrested a man.", "The police arrested a man.", "", "a", ""]
    others = ["The police arrested a man.", "The police collared a man.", "Bananas are cheap in May.", "a", "", ""]
    equal, alike, unrelated, *none, both = scorer.f1(texts, others)
    assert equal.value == pytest.approx(1.0, abs=1e-4)
    assert 1 > alike.value > 0.5 > unrelated.value
    assert [one.value for one in none] == [0.0, 0.0]
    assert math.isnan(both.value) and both.reason
    assert scorer.f1(texts[1:2], others[1:2])[0].value == pytest.approx(alike.value, abs=1e-5)


@pytest.mark.slow
def test_a_text_beyond_the_encoders_length_says_so(settings):
    scorer = bertscore.load(settings)
    long = "word " * 600
    (found,) = scorer.f1([long], [long + "end"])
    assert "cut to" in found.reason and found.value == pytest.approx(1.0, abs=1e-3)
