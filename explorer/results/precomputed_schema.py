"""The tables of the precomputed file, and the queries that show them under the store's own columns."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.rows import schema

FORMAT = 2  # a file of a later format is refused
# Columns that files of the first format lack, by table, with the format that brought them.
SINCE: Mapping[tuple[str, str], int] = {("scores", "token_texts"): 2, ("scores", "token_logprobs"): 2}
NAME = "precomputed"  # what the file is called once it is attached

# What varies from row to row of a run but little over all rows is said once, in `kinds`, and named by its key: the
# role, measure, finding or index (`name`), the option, and the factors.
KIND = ("name", "option", *schema.FACTORS)

# Rows are sorted by run, kind and place, so that a key costs next to nothing and a run is found without reading others.
TABLES: Mapping[str, str] = {
    "about": "format INTEGER, version VARCHAR",
    "runs": """run USMALLINT, run_id VARCHAR, study VARCHAR, model VARCHAR, benchmark VARCHAR, status VARCHAR,
        created TIMESTAMP, updated TIMESTAMP, done INTEGER, total INTEGER, seed INTEGER, dtype VARCHAR,
        message VARCHAR, spec VARCHAR, environment VARCHAR""",
    # Groups, reasons, verdicts: key 0 is no word at all.
    "words": "word INTEGER, text VARCHAR",
    # An instance's id is its set's stem, then `number`, or `rest` where that is no plain number (`number` is then -1).
    "sets": """set_key USMALLINT, stem VARCHAR, benchmark VARCHAR, split VARCHAR, grp VARCHAR, phenomenon VARCHAR,
        field VARCHAR, kind VARCHAR""",
    "items": """item INTEGER, set_key USMALLINT, number INTEGER, rest VARCHAR, gold TINYINT, label VARCHAR,
        text_hash UBIGINT, payload VARCHAR USING COMPRESSION zstd""",
    "kinds": "kind USMALLINT, "
    + ", ".join(
        f"{name} {kind}"
        for name, kind in {
            "name": "VARCHAR",
            "option": "INTEGER",
            **{factor: kind for factor, (kind, _) in schema.FACTORS.items()},
        }.items()
    ),
    # Which instance stands at which place of a run. The rows about it tell the place as their number + `shift`: since
    # places follow each other, a shift is the same for many rows.
    "instances": "run USMALLINT, place INTEGER, item INTEGER",
    # The sentences of a context, once for all models: they take as many of them as their tokenizers reach.
    "contexts": "context INTEGER, ids INTEGER[]",
    "variants": """run USMALLINT, kind USMALLINT, item INTEGER, suffix INTEGER, accepted BOOLEAN, reason INTEGER,
        seed INTEGER, change VARCHAR, swaps STRUCT(part VARCHAR, "start" SMALLINT, "end" SMALLINT, synset VARCHAR,
        lemma VARCHAR, substitute VARCHAR)[], context INTEGER, drawn SMALLINT, lengths VARCHAR, sentences SMALLINT[],
        edit VARCHAR, payload VARCHAR""",
    # After a context of some length, tokens, chars and more_bytes are null where they are as without any.
    "scores": """run USMALLINT, kind USMALLINT, shift INTEGER, request INTEGER, logprob FLOAT, tokens SMALLINT,
        unscored SMALLINT, chars INTEGER, more_bytes SMALLINT, greedy BOOLEAN, straddles BOOLEAN, truncated SMALLINT,
        reason INTEGER, context VARCHAR, continuation VARCHAR, token_texts VARCHAR[], token_logprobs FLOAT[]""",
    "generations": """run USMALLINT, kind USMALLINT, shift INTEGER, request INTEGER, tokens SMALLINT, finish INTEGER,
        verdict INTEGER, reason INTEGER, hash UBIGINT, text VARCHAR, prompt VARCHAR""",
    "counts": """run USMALLINT, kind USMALLINT, shift INTEGER, n TINYINT, start SMALLINT, "count" DOUBLE,
        approx BOOLEAN, reason INTEGER""",
    "measures": "run USMALLINT, kind USMALLINT, shift INTEGER, value FLOAT, reason INTEGER",
    "findings": """run USMALLINT, kind USMALLINT, grp INTEGER, value FLOAT, low FLOAT, high FLOAT, p DOUBLE, n INTEGER,
        left_out INTEGER, reason INTEGER, detail VARCHAR""",
}

# How the packed tables are read back. `fact` is the packed table; its row number plus `shift` is the instance's place
# in the run, which `instances` turns into an item, and `sets` into the stem of its id:
#
#     scores, row 901, shift -883   ->   place 18   ->   instances: item 5,204   ->   "blimp/anaphor/" + 18
#
# A column that a table lacks is NULL in the view, so that every query of the store runs on packed runs unchanged.
_ID = "sets.stem || CASE WHEN items.number < 0 THEN items.rest ELSE CAST(items.number AS VARCHAR) END"
_ITEM = f"JOIN {NAME}.items ON items.item = fact.item JOIN {NAME}.sets ON sets.set_key = items.set_key"
_PLACE = (
    f"JOIN {NAME}.instances AS member ON member.run = fact.run AND member.place = fact.rowid + fact.shift "
    f"JOIN {NAME}.items ON items.item = member.item JOIN {NAME}.sets ON sets.set_key = items.set_key"
)
_KIND = f"JOIN {NAME}.kinds ON kinds.kind = fact.kind"
_BARE = f"""LEFT JOIN (
        SELECT base.run, base.rowid + base.shift AS place, kinds.option, base.tokens, base.chars, base.more_bytes
        FROM {NAME}.scores AS base
        JOIN {NAME}.kinds ON kinds.kind = base.kind
        WHERE kinds.length = 0
    ) AS bare ON fact.tokens IS NULL AND bare.run = fact.run AND bare.place = fact.rowid + fact.shift
        AND bare.option IS NOT DISTINCT FROM kinds.option"""
_FACTORS = {factor: f"kinds.{factor}" for factor in schema.FACTORS}


def _word_column(column: str) -> str:
    return f"JOIN {NAME}.words AS {column}_word ON {column}_word.word = fact.{column}"


# Table → the expression of each column that is not null, and what is joined to the packed table, called `fact`.
_SHOWN: Mapping[str, tuple[Mapping[str, str], str]] = {
    "instances": (
        {
            "instance_id": _ID,
            **{name: f"sets.{name}" for name in ("benchmark", "split", "grp", "phenomenon", "field", "kind")},
            "gold": "items.gold",
            "label": "items.label",
            "text_hash": "format('{:016x}', items.text_hash)",
            "position": "fact.place",
            "payload": "items.payload",
        },
        _ITEM,
    ),
    "variants": (
        {
            "instance_id": _ID,
            "variant_id": f"{_ID} || suffix_word.text",
            **_FACTORS,
            "edit": """CASE
                WHEN fact.edit IS NOT NULL THEN fact.edit
                WHEN fact.swaps IS NOT NULL
                    THEN to_json({'pos': kinds.setting, 'seed': fact.seed, 'swaps': fact.swaps})
                WHEN fact.context IS NOT NULL
                    THEN to_json({'condition': kinds.condition, 'seed': fact.seed, 'edit': fact.change,
                        'sentences': list_slice(contexts.ids, 1, fact.drawn),
                        'lengths': CAST(fact.lengths AS INTEGER[]), 'sentences_at': fact.sentences})
                END""",
            "accepted": "fact.accepted",
            "reason": "reason_word.text",
            "payload": "fact.payload",
        },
        f"{_ITEM} {_KIND} {_word_column('suffix')} {_word_column('reason')} "
        f"LEFT JOIN {NAME}.contexts ON contexts.context = fact.context",
    ),
    "scores": (
        {
            "instance_id": _ID,
            "request": "fact.request",
            "option": "kinds.option",
            "role": "kinds.name",
            **_FACTORS,
            "logprob": "fact.logprob",
            "tokens": "coalesce(fact.tokens, bare.tokens)",
            "scored": "CAST(coalesce(fact.tokens, bare.tokens) AS INTEGER) - fact.unscored",
            "chars": "coalesce(fact.chars, bare.chars)",
            "bytes": "coalesce(fact.chars + fact.more_bytes, bare.chars + bare.more_bytes)",
            "greedy": "fact.greedy",
            "straddles": "fact.straddles",
            "truncated": "fact.truncated",
            "reason": "reason_word.text",
            "context": "fact.context",
            "continuation": "fact.continuation",
            "token_texts": "fact.token_texts",
            "token_logprobs": "fact.token_logprobs",
        },
        f"{_PLACE} {_KIND} {_word_column('reason')} {_BARE}",
    ),
    "generations": (
        {
            "instance_id": _ID,
            "request": "fact.request",
            "role": "kinds.name",
            **_FACTORS,
            "prompt": "fact.prompt",
            "text": "CASE WHEN fact.hash IS NULL THEN fact.text ELSE 'sha256:' || format('{:016x}', fact.hash) END",
            "tokens": "fact.tokens",
            "finish": "finish_word.text",
            "verdict": "verdict_word.text",
            "reason": "reason_word.text",
        },
        f"{_PLACE} {_KIND} {_word_column('finish')} {_word_column('verdict')} {_word_column('reason')}",
    ),
    "counts": (
        {
            "instance_id": _ID,
            "option": "kinds.option",
            **_FACTORS,
            "index_name": "kinds.name",
            "n": "fact.n",
            "start": "fact.start",
            "count": 'fact."count"',
            "approx": "fact.approx",
            "reason": "reason_word.text",
        },
        f"{_PLACE} {_KIND} {_word_column('reason')}",
    ),
    "measures": (
        {
            "instance_id": _ID,
            "option": "kinds.option",
            **_FACTORS,
            "measure": "kinds.name",
            "value": "fact.value",
            "reason": "reason_word.text",
        },
        f"{_PLACE} {_KIND} {_word_column('reason')}",
    ),
    "findings": (
        {
            "finding": "kinds.name",
            "grp": "grp_word.text",
            **_FACTORS,
            **{name: f"fact.{name}" for name in ("value", "low", "high", "p", "n", "left_out", "detail")},
            "reason": "reason_word.text",
        },
        f"{_KIND} {_word_column('grp')} {_word_column('reason')}",
    ),
}


def view_of_packed(table: str, hidden: str = "", format: int = FORMAT) -> str:
    """The query that shows a packed table, of a file of this format, as the store's table of that name.

    `hidden` is a condition on `runs`.
    """
    where = f" WHERE {hidden}" if hidden else ""
    if table == "runs":
        return f"SELECT * EXCLUDE (run) FROM {NAME}.runs{where}"
    expressions, joined = _SHOWN[table]
    expressions = {name: shown for name, shown in expressions.items() if SINCE.get((table, name), 1) <= format}
    columns = ", ".join(
        f'CAST({expressions.get(name, "NULL")} AS {kind}) AS "{name}"' for name, kind in schema.TABLES[table].items()
    )
    runs = f"JOIN {NAME}.runs ON runs.run = fact.run"
    return f"SELECT runs.run_id, {columns} FROM {NAME}.{table} AS fact {runs} {joined}{where}"
