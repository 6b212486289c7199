"""What a run rests on, as BibTeX written from the facts: this tool, the study's paper, the benchmark's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer import __version__
from explorer.records import RunSpec


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A paper, a data set or a program to be cited."""

    key: str
    kind: str  # of BibTeX entry
    title: str
    author: str
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """The entry, its title kept in capitals and small letters as it is."""
        rows = {"title": "{" + self.title + "}", "author": self.author, **self.fields}
        body = "".join(f"  {name} = {{{value}}},\n" for name, value in rows.items())
        return f"@{self.kind}{{{self.key},\n{body}}}\n"

    @property
    def sentence(self) -> str:
        """Authors, year, title and place on one line."""
        authors = "; ".join(self.author.strip("{}").split(" and "))
        year = f" ({self.fields['year']})" if "year" in self.fields else ""
        place = next(
            (self.fields[name] for name in ("booktitle", "journal", "eprint", "note") if name in self.fields), ""
        )
        arxiv = "arXiv:" if place and place == self.fields.get("eprint") else ""
        return f"{authors}{year}. {self.title}. {arxiv}{place}".rstrip(". ") + "."


TOOL = Work(
    "lexiscope",
    "software",
    "Lexiscope: how pre-training data shapes what a language model gets right",
    "{The Lexiscope authors}",
    {"year": "2026", "version": __version__, "license": "MIT"},
)


def _acl(key: str, title: str, author: str, booktitle: str, year: str, pages: str = "") -> Work:
    fields = {"booktitle": booktitle, "year": year, **({"pages": pages} if pages else {})}
    return Work(key, "inproceedings", title, author, fields)


def _preprint(key: str, title: str, author: str, eprint: str, year: str) -> Work:
    return Work(key, "misc", title, author, {"year": year, "eprint": eprint, "archiveprefix": "arXiv"})


POPULARITY = Work(
    "ruzzetti-lexical-popularity",
    "misc",
    "Lexical Popularity: Quantifying the Impact of Pre-training for LLM Performance",
    "Ruzzetti, Elena Sofia and Zanzotto, Fabio Massimo and Caselli, Tommaso",
    {"note": "Manuscript"},
)
PRIMING = _acl(
    "sinha-etal-2023-language",
    "Language model acceptability judgements are not always robust to context",
    "Sinha, Koustuv and Gauthier, Jon and Mueller, Aaron and Misra, Kanishka and Fuentes, Keren and Levy, Roger and "
    "Williams, Adina",
    "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics (Volume 1: Long Papers)",
    "2023",
)
ONTOLOGY = _preprint(
    "bombieri-etal-2024-ontologies",
    "Do LLMs Dream of Ontologies?",
    "Bombieri, Marco and Fiorini, Paolo and Ponzetto, Simone Paolo and Rospocher, Marco",
    "2401.14931",
    "2024",
)
ICL = _preprint(
    "golchin-etal-2024-memorization",
    "Memorization in In-Context Learning",
    "Golchin, Shahriar and Surdeanu, Mihai and Bethard, Steven and Blanco, Eduardo and Riloff, Ellen",
    "2408.11546",
    "2024",
)

# Study → the paper whose questions it asks; accuracy is everybody's.
STUDIES: Mapping[str, Work] = {
    "popularity": POPULARITY,
    "perturbation": POPULARITY,
    "memorization": POPULARITY,
    "priming": PRIMING,
    "ontology": ONTOLOGY,
    "icl": ICL,
}

_ACL58 = "Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics"
_LAMBADA = _acl(
    "paperno-etal-2016-lambada",
    "The LAMBADA dataset: Word prediction requiring a broad discourse context",
    "Paperno, Denis and Kruszewski, Germán and Lazaridou, Angeliki and Pham, Ngoc Quan and Bernardi, Raffaella and "
    "Pezzelle, Sandro and Baroni, Marco and Boleda, Gemma and Fernández, Raquel",
    "Proceedings of the 54th Annual Meeting of the Association for Computational Linguistics (Volume 1: Long Papers)",
    "2016",
)
_COPA = _acl(
    "roemmele-etal-2011-copa",
    "Choice of Plausible Alternatives: An Evaluation of Commonsense Causal Reasoning",
    "Roemmele, Melissa and Bejan, Cosmin Adrian and Gordon, Andrew S.",
    "AAAI Spring Symposium: Logical Formalizations of Commonsense Reasoning",
    "2011",
)
_WINOGRANDE = _acl(
    "sakaguchi-etal-2020-winogrande",
    "WinoGrande: An Adversarial Winograd Schema Challenge at Scale",
    "Sakaguchi, Keisuke and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
    "Proceedings of the AAAI Conference on Artificial Intelligence",
    "2020",
)
_GLUE = _acl(
    "wang-etal-2018-glue",
    "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language Understanding",
    "Wang, Alex and Singh, Amanpreet and Michael, Julian and Hill, Felix and Levy, Omer and Bowman, Samuel R.",
    "Proceedings of the 2018 EMNLP Workshop BlackboxNLP: Analyzing and Interpreting Neural Networks for NLP",
    "2018",
)

BENCHMARKS: Mapping[str, Work] = {
    "blimp": Work(
        "warstadt-etal-2020-blimp",
        "article",
        "BLiMP: The Benchmark of Linguistic Minimal Pairs for English",
        "Warstadt, Alex and Parrish, Alicia and Liu, Haokun and Mohananey, Anhad and Peng, Wei and Wang, Sheng-Fu and "
        "Bowman, Samuel R.",
        {
            "journal": "Transactions of the Association for Computational Linguistics",
            "year": "2020",
            "volume": "8",
            "pages": "377--392",
        },
    ),
    "syntaxgym": _acl(
        "hu-etal-2020-systematic",
        "A Systematic Assessment of Syntactic Generalization in Neural Language Models",
        "Hu, Jennifer and Gauthier, Jon and Qian, Peng and Wilcox, Ethan and Levy, Roger",
        _ACL58,
        "2020",
        "1725--1744",
    ),
    "crows_pairs": _acl(
        "nangia-etal-2020-crows",
        "CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language Models",
        "Nangia, Nikita and Vania, Clara and Bhalerao, Rasika and Bowman, Samuel R.",
        "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing (EMNLP)",
        "2020",
        "1953--1967",
    ),
    "lambada": _LAMBADA,
    "lambada_original": _LAMBADA,
    "piqa": _acl(
        "bisk-etal-2020-piqa",
        "PIQA: Reasoning about Physical Commonsense in Natural Language",
        "Bisk, Yonatan and Zellers, Rowan and Le Bras, Ronan and Gao, Jianfeng and Choi, Yejin",
        "Proceedings of the AAAI Conference on Artificial Intelligence",
        "2020",
    ),
    "copa": _COPA,
    "copa_superglue": _COPA,
    "winogrande": _WINOGRANDE,
    "winogrande_train_xs": _WINOGRANDE,
    "wnli": _GLUE,
    "rte": _GLUE,
    "trec": _acl(
        "li-roth-2002-learning",
        "Learning Question Classifiers",
        "Li, Xin and Roth, Dan",
        "COLING 2002: The 19th International Conference on Computational Linguistics",
        "2002",
    ),
    "dbpedia14": _acl(
        "zhang-etal-2015-character",
        "Character-level Convolutional Networks for Text Classification",
        "Zhang, Xiang and Zhao, Junbo and LeCun, Yann",
        "Advances in Neural Information Processing Systems 28",
        "2015",
    ),
    "go": ONTOLOGY,
    "uberon": ONTOLOGY,
}


def works(spec: RunSpec) -> list[Work]:
    """What a run of this spec rests on, the tool first, each once."""
    cited = [TOOL, STUDIES.get(spec.study), BENCHMARKS.get(spec.benchmark)]
    return list(dict.fromkeys(work for work in cited if work is not None))


def bibtex(spec: RunSpec) -> str:
    """The BibTeX entries of all that a run of this spec rests on."""
    return "\n".join(work.bibtex for work in works(spec))
