"""Finished runs in one small file that git keeps: packed from run folders, read as if the runs were in the store.

Numbers stand under integer keys, sums as float32. What would give a benchmark's text away is left out, but for the
starter sets, which are the explorer's own:

- no token lists but of accuracy on the explorer's own sets; contexts, continuations, prompts and payloads are null
- a perturbed instance is its swaps: where, in which synset, by which word; of the starter sets, too
- a priming context is its seed and its sentences: 2**20 x the option + the instance's key, or -1 - n for the unrelated
  sentence n
- a demonstration or test item is its place; its two pieces stay of the starter sets
- an answer is its verdict and a hash; its text stays only where that is a bare number or identifier
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb

from explorer import __version__
from explorer.benchmarks import glassbox, starter
from explorer.errors import StoreError
from explorer.results import migrations, store
from explorer.results.precomputed_schema import FORMAT, KIND, NAME, TABLES
from explorer.rows import schema
from explorer.runs import files
from explorer.runs.folder import RunFolder

LARGEST = 40 * 1024 * 1024  # bytes of a file that git keeps
BLOCK = 65536  # bytes; of the usual 256 KiB blocks, small tables would fill little
GROUP = 1228800  # rows that are compressed together; of the usual 122,880, each column would begin many blocks
SHARE = 5  # decimals of a finding
LONG = "([.][0-9]{6})[0-9]+"  # a number in a finding's detail, of which the first six decimals are kept
DECIMALS = 3  # of a nat: float32 itself leaves the last of them open between a GPU and a CPU, and rounded sums pack
ROUNDED = (
    "margin", "logprob", "tde_likelihood", "gold_logprob", "gold_gain", "mia_loss", "mia_neighbours", "min_k", "ips",
    "relative_difference", "rouge_l", "bertscore", "rouge_l_recall", "cosine",
)  # fmt: skip
# Measures that follow from others, or of which findings have the means.
LEFT_OUT = (
    "perplexity_margin",
    "context_tokens",
    "chosen",
    "mia_perplexity",
    "text_logprob",
    "tde_tokens",
    "text_tokens",
    "neighbour_loss",
    "swappable_left",
)
# Of the other studies' sums the measures are kept.
SCORED = ("accuracy", "perturbation", "priming", "icl")
OWN = (*starter.BENCHMARKS, *glassbox.BENCHMARKS)  # sets whose texts are the explorer's own

# An answer that is no text: digits, after an ontology's prefix or not, with blanks and marks around them.
BARE = r"[\W_]*([A-Za-z]+:)?\d[\d\W_]*|\s*"
# The columns that become words, by table.
_WORDS = {
    "variants": ("suffix", "reason"),
    "scores": ("reason",),
    "generations": ("finish", "verdict", "reason"),
    "counts": ("reason",),
    "measures": ("reason",),
    "findings": ("grp", "reason"),
}
# Table → the column that is the name in its kinds.
_NAMES = {
    "variants": "''",
    "scores": "role",
    "generations": "role",
    "counts": "index_name",
    "measures": "measure",
    "findings": "finding",
}
OPTIONS = 2**20  # from one option of an instance to the next, in the key of a sentence

Connection = duckdb.DuckDBPyConnection


def left_out(study: str, keeps_texts: bool, keeps_tokens: bool = False) -> str:
    """What a packed run of the study lacks, in words; `keeps_texts` where it is on a starter set."""
    lacking = [] if keeps_tokens else ["lists of tokens and their log-probabilities"]
    lacking.append("measures that follow from others (such as perplexities)")
    if not keeps_texts:
        lacking.append("the benchmark's texts and what was written from them (an answer's hash stands in its place)")
    if study not in SCORED:
        lacking.append("sums of single scores" + (" but those of right IDs" if study == "ontology" else ""))
    if study == "perturbation":
        lacking.append("the relative difference in popularity")
    lacking.append("the texts of contexts and variants (which its edits make again)")
    return f"The precomputed file lacks {'; '.join(lacking)}. Numbers are rounded to {DECIMALS} decimals."


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def pack_runs(folders: Sequence[RunFolder], out: Path) -> int:
    """Packs finished runs into the file `out`, in place of what was there; the file's size in bytes."""
    for folder in folders:
        if folder.progress().status != "complete":
            raise StoreError(f"{folder.run_id} is not finished, and only finished runs are packed. Resume it first.")
    out.parent.mkdir(parents=True, exist_ok=True)
    files.write_atomically(out, lambda path: _write_packed(folders, path))
    return out.stat().st_size


def _write_packed(folders: Sequence[RunFolder], out: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        connection = duckdb.connect(str(Path(scratch) / "runs.duckdb"))
        try:
            migrations.migrate(connection)
            for folder in folders:
                store.insert_run(connection, folder)
            out.unlink()  # a file that is there already, even an empty one, is no new database
            connection.execute(
                f"ATTACH '{store.quoted_path(out)}' AS {NAME} (BLOCK_SIZE {BLOCK}, ROW_GROUP_SIZE {GROUP})"
            )
            for table, columns in TABLES.items():
                connection.execute(f"CREATE TABLE {NAME}.{table} ({columns})")
            connection.execute(f"INSERT INTO {NAME}.about VALUES (?, ?)", [FORMAT, __version__])
            _fill_runs(connection)
            _empty_texts_in_reasons(connection)
            _fill_items(connection)
            _fill_kinds(connection)
            _fill_words(connection)
            for table in _FACTS:
                _fill_facts(connection, table)
            connection.execute(f"DETACH {NAME}")
        except duckdb.Error as error:
            raise StoreError(
                f"The precomputed runs could not be packed ({str(error).splitlines()[0]}). The run folders are "
                "untouched."
            ) from error
        finally:
            connection.close()


def _fill_runs(connection: Connection) -> None:
    connection.execute(
        f"""
        CREATE TEMP TABLE numbered AS
        SELECT row_number() OVER (ORDER BY study, benchmark, model, run_id) AS run, run_id, study,
            benchmark IN ({_quoted(tuple(starter.BENCHMARKS))}) AS keeps,
            study = 'accuracy' AND benchmark IN ({_quoted(OWN)}) AS keeps_tokens
        FROM runs
        """
    )
    connection.execute(
        f"INSERT INTO {NAME}.runs SELECT run, runs.* FROM runs JOIN numbered USING (run_id) ORDER BY run"
    )


def _empty_texts_in_reasons(connection: Connection) -> None:
    """Empties the reasons that list the words in which a completion differs from a benchmark's text."""
    connection.execute(
        """
        UPDATE measures SET reason = ''
        WHERE measure = 'same_names' AND run_id IN (SELECT run_id FROM numbered WHERE NOT keeps)
        """
    )


_OF_INSTANCE = "instance_id, benchmark, split, grp, phenomenon, field, kind, gold, label, text_hash"


# An instance that ten runs ask stands here once. Its id is cut into a stem, which many share, and a number:
#
#     blimp/anaphor_agreement/17     stem "blimp/anaphor_agreement/" (in `sets`), number 17 (in `items`)
#     imported_mine/x/a-7            stem "imported_mine/x/", rest "a-7", number -1
#
# The temporary tables lead from the store's names to the file's keys: `numbered` (run_id -> run), `known` (instance ->
# item; one a version of its text, since runs of different data may differ), `member` (run and instance -> item and
# place), `named` (id -> item, for sentences that stand in contexts alone).
def _fill_items(connection: Connection) -> None:
    """Every instance once, in benchmark order, and those that only stand in contexts or demonstrations."""
    _number_known(connection)
    connection.execute(
        f"""
        INSERT INTO {NAME}.sets
        SELECT row_number() OVER (ORDER BY min(item)) - 1, stem, benchmark, split, grp, phenomenon, field, kind
        FROM known
        GROUP BY stem, benchmark, split, grp, phenomenon, field, kind
        """
    )
    # An id's rest is kept as a number only where the number alone gives it back: "007" and "12345678901" are text.
    connection.execute(
        f"""
        INSERT INTO {NAME}.items
        SELECT item, set_key, CASE WHEN plain THEN CAST(tail AS INTEGER) ELSE -1 END, CASE WHEN NOT plain THEN tail END,
            gold, known.label, CAST('0x' || text_hash AS UBIGINT), payload
        FROM (SELECT *, regexp_full_match(tail, '0|[1-9][0-9]{{0,8}}') AS plain FROM known) AS known
        JOIN {NAME}.sets AS sets ON {_same_in("known", "sets", ("stem", *_SET))}
        ORDER BY item
        """
    )
    _link_members(connection)
    connection.execute(f"INSERT INTO {NAME}.instances SELECT run, position, item FROM member ORDER BY run, position")
    connection.execute(
        "CREATE TEMP TABLE named AS SELECT instance_id, min(item) AS item FROM known GROUP BY instance_id"
    )


def _number_known(connection: Connection) -> None:
    """The table `known`: each version of an instance's text with the key of its item, its id cut in two."""
    connection.execute(
        """
        CREATE TEMP TABLE sentences AS
        SELECT DISTINCT regexp_extract(id, '^(.*)#[0-9]+$', 1) AS instance_id
        FROM (
            SELECT unnest(json_extract_string(edit, '$.ids[*]')) AS id
            FROM variants
        )
        WHERE id NOT LIKE 'unrelated/%'
        """
    )
    # What no run asks has no place in a benchmark and comes last (NULLS LAST).
    connection.execute(
        f"""
        CREATE TEMP TABLE known AS
        SELECT {_OF_INSTANCE}, payload,
            row_number() OVER (ORDER BY benchmark NULLS LAST, place, instance_id) - 1 AS item,
            regexp_extract(instance_id, '^(.*/)?') AS stem, substr(instance_id, length(stem) + 1) AS tail
        FROM (
            SELECT {_OF_INSTANCE}, CASE WHEN numbered.keeps THEN payload END AS payload, min(position) AS place
            FROM instances
            JOIN numbered USING (run_id)
            GROUP BY ALL
            UNION ALL BY NAME
            SELECT DISTINCT instance_id, NULL AS place
            FROM (SELECT instance_id FROM sentences UNION SELECT instance_id FROM variants)
            WHERE instance_id NOT IN (SELECT instance_id FROM instances)
        )
        """
    )


def _link_members(connection: Connection) -> None:
    """The table `member`: which item a run's instance is."""
    # By all that is said of it: runs of different data may have an instance of one id with different texts.
    connection.execute(
        f"""
        CREATE TEMP TABLE member AS
        SELECT numbered.run_id, numbered.run, numbered.keeps, instances.instance_id, any_value(known.item) AS item,
            any_value(instances.position) AS position
        FROM instances
        JOIN numbered USING (run_id)
        JOIN known ON {_same_in("known", "instances", _OF_INSTANCE.split(", "))}
            AND known.payload IS NOT DISTINCT FROM CASE WHEN numbered.keeps THEN instances.payload END
        GROUP BY ALL
        """
    )


_SET = ("benchmark", "split", "grp", "phenomenon", "field", "kind")


def _fill_kinds(connection: Connection) -> None:
    rows = " UNION ".join(f"SELECT {_kind_columns(table)} FROM {table}" for table in _NAMES)
    ordered = ", ".join(f"{name} NULLS FIRST" for name in KIND)
    connection.execute(f"INSERT INTO {NAME}.kinds SELECT row_number() OVER (ORDER BY {ordered}) - 1, * FROM ({rows})")


def _kind_columns(table: str) -> str:
    """The columns of KIND as a table has them."""
    name_columns = {"name": _NAMES[table]}
    return ", ".join(
        f"{name_columns.get(column, column if column in schema.TABLES[table] else 'NULL')} AS {column}"
        for column in KIND
    )


def _fill_words(connection: Connection) -> None:
    rows = " UNION ".join(
        f"SELECT {_word_of(table, column)} AS text FROM {table}"
        for table, columns in _WORDS.items()
        for column in columns
    )
    connection.execute(
        f"INSERT INTO {NAME}.words SELECT row_number() OVER (ORDER BY text NULLS FIRST) - 1, text FROM ({rows})"
    )


def _word_of(table: str, column: str) -> str:
    if column == "suffix":
        return "substr(variant_id, length(instance_id) + 1)"
    return f"{table}.{column}"


def _thinned_rates(rates: str) -> str:
    """Every other corner of a ROC curve and the last, to a thousandth: finer than it is drawn."""
    listed = f"CAST(json_extract(detail, '$.roc.{rates}') AS DOUBLE[])"
    return f"list_transform(list_filter({listed}, lambda x, i: i % 2 = 1 OR i = len({listed})), lambda x: round(x, 3))"


# Whether a score keeps its tokens: those of the explorer's own sets do, so that a first visit sees them with no model.
_KEPT = "numbered.keeps_tokens AND token_texts IS NOT NULL"
# Table → its packed columns after run, kind and item, as they follow from the store's.
_FACTS = {
    "variants": """suffix_word.word, accepted, reason_word.word,
        CAST(json_extract(edit, '$.seed') AS INTEGER),
        json_extract_string(edit, '$.edit'),
        CASE WHEN json_exists(edit, '$.swaps') THEN json_transform(json_extract(edit, '$.swaps'),
            '[{"part": "VARCHAR", "start": "SMALLINT", "end": "SMALLINT", "synset": "VARCHAR", "lemma": "VARCHAR",
            "substitute": "VARCHAR"}]') END,
        drawn.context, drawn.drawn,
        CASE WHEN drawn.context IS NOT NULL THEN CAST(json_extract(edit, '$.checkpoints[*].length') AS VARCHAR) END,
        CASE WHEN drawn.context IS NOT NULL
            THEN CAST(json_extract(edit, '$.checkpoints[*].sentences') AS SMALLINT[]) END,
        CASE WHEN json_exists(edit, '$.first') AND numbered.keeps THEN edit
            WHEN json_exists(edit, '$.first')
                THEN json_merge_patch(edit, '{"first": "", "second": "", "label": ""}')
            WHEN json_exists(edit, '$.original')
                THEN json_merge_patch(edit, '{"original": "", "logprob": null, "weights": null}')
            END,
        CASE WHEN json_exists(edit, '$.first') AND numbered.keeps THEN variants.payload END""",
    "scores": f"""request, round(logprob, {DECIMALS}), CASE WHEN bare.tokens IS NULL THEN scores.tokens END,
        scores.tokens - scored, CASE WHEN bare.tokens IS NULL THEN scores.chars END,
        CASE WHEN bare.tokens IS NULL THEN scores.bytes - scores.chars END, greedy, straddles, truncated,
        reason_word.word, CASE WHEN {_KEPT} THEN scores.context END, CASE WHEN {_KEPT} THEN continuation END,
        CASE WHEN {_KEPT} THEN token_texts END,
        CASE WHEN {_KEPT} THEN list_transform(token_logprobs, lambda x: round(x, {DECIMALS})) END""",
    "generations": f"""request, tokens, finish_word.word, verdict_word.word, reason_word.word,
        CASE WHEN NOT (numbered.keeps OR regexp_full_match(generations.text, '{BARE}'))
            THEN CAST('0x' || left(sha256(generations.text), 16) AS UBIGINT) END,
        CASE WHEN numbered.keeps OR regexp_full_match(generations.text, '{BARE}') THEN generations.text END,
        CASE WHEN numbered.keeps THEN prompt END""",
    "counts": 'n, start, "count", approx, reason_word.word',
    "measures": f"""CASE WHEN measure IN ({_quoted(ROUNDED)}) THEN round(value, {DECIMALS}) ELSE value END,
        reason_word.word""",
    "findings": f"""grp_word.word, round(value, {SHARE}), round(low, {SHARE}), round(high, {SHARE}), p, n, left_out,
        reason_word.word, regexp_replace(CASE WHEN json_exists(detail, '$.roc.true_positive')
            THEN json_merge_patch(detail, json_object('roc', json_object(
                'false_positive', {_thinned_rates("false_positive")},
                'true_positive', {_thinned_rates("true_positive")})))
            ELSE detail END, '{LONG}', '\\1', 'g')""",
}


# How a row of millions gets small. A row of the store says everything again: its run, instance, measure and factors.
#
#     run_id     instance_id           option  condition  measure  value
#     3f2a...    blimp/anaphor/17           0  none       ips      4.217
#     3f2a...    blimp/anaphor/18           0  none       ips      6.902
#
# Packed, run and (measure, option, condition) are one small key each, and rows are sorted by them, so that both columns
# are long runs of the same number, which DuckDB stores as next to nothing. The instance is not stored at all: the rows
# of a kind follow the run's instances in order, so that place - row number is the same all the way down.
#
#     number  run  kind  shift  value          place of the instance = number + shift
#     900       3    41   -883  4.217          17
#     901       3    41   -883  6.902          18
def _fill_facts(connection: Connection, table: str) -> None:
    """Fills a packed table, sorted by run, kind and place."""
    # A variant may be of an instance that is none of the run: a demonstration.
    position = {"variants": "coalesce(member.item, named.item)", "findings": ""}.get(table, "member.position")
    joined = [f"JOIN {NAME}.kinds AS kinds ON {_kind_is(table)}"]
    joined += ["LEFT JOIN member USING (run_id, instance_id)"] if position else []
    if table == "variants":
        _make_contexts(connection)
        joined += ["LEFT JOIN named USING (instance_id)", "LEFT JOIN drawn USING (run_id, variant_id)"]
    if table == "scores":
        _make_bare_lengths(connection)
        joined += [
            """LEFT JOIN bare ON scores.length > 0 AND bare.run_id = scores.run_id
            AND bare.instance_id = scores.instance_id AND bare.option IS NOT DISTINCT FROM scores.option
            AND bare.tokens = scores.tokens AND bare.chars = scores.chars AND bare.bytes = scores.bytes"""
        ]
    joined += [
        f"JOIN {NAME}.words AS {column}_word ON {column}_word.text IS NOT DISTINCT FROM {_word_of(table, column)}"
        for column in _WORDS[table]
    ]
    kept_columns = {
        "measures": f"""WHERE measures.measure NOT IN ({_quoted(LEFT_OUT)})
            AND NOT (study = 'perturbation' AND measures.measure = 'relative_difference')""",
        "scores": f"WHERE study IN ({_quoted(SCORED)}) OR (study = 'ontology' AND scores.role = 'target')",
        "counts": "WHERE counts.condition = 'swap'",
    }.get(table, "")
    order = f"numbered.run, kinds.kind{f', {position}' if position else ''}"
    # Where the row belongs is the first column after the keys: the item itself, or by how much the place differs from
    # the row's number.
    belonging = {"variants": "place, ", "findings": ""}.get(table, "place - number, ")
    connection.execute(
        f"""
        INSERT INTO {NAME}.{table}
        SELECT run, kind, {belonging}* EXCLUDE (run, kind, place, number)
        FROM (
            SELECT numbered.run, kinds.kind, {position or "NULL"} AS place,
                row_number() OVER (ORDER BY {order}) - 1 AS number, {_FACTS[table]}
            FROM {table}
            JOIN numbered USING (run_id)
            {" ".join(joined)}
            {kept_columns}
        )
        ORDER BY number
        """
    )


# A target behind a context is the same text at every length, so that its tokens, characters and bytes are those of the
# score without a context. They are kept there once; the view (`_BARE` in precomputed_schema.py) puts them back.
def _make_bare_lengths(connection: Connection) -> None:
    """How long each text is that is scored without a context: after contexts it is as long, which is not kept again."""
    connection.execute(
        """
        CREATE TEMP TABLE bare AS
        SELECT run_id, instance_id, option, min(tokens) AS tokens, min(chars) AS chars, min(bytes) AS bytes
        FROM scores
        WHERE length = 0
        GROUP BY run_id, instance_id, option
        HAVING count(*) = 1
        """
    )


# One draw of sentences serves all models of a family; a model with a longer window only takes more of them:
#
#     model A    sentences 5 9 2           of the whole 5 9 2 7, the first 3
#     model B    sentences 5 9 2 7         the whole
#
# So each whole draw is kept once (`contexts`), and a variant keeps its key and how many of its sentences it took.
def _make_contexts(connection: Connection) -> None:
    """The sentences of every stored context as keys; one that begins another of its item and seed is not kept twice."""
    connection.execute(
        """
        CREATE TEMP TABLE listed AS
        SELECT run_id, variant_id, json_extract_string(edit, '$.seed') AS seed,
            json_extract_string(edit, '$.ids[*]') AS ids
        FROM variants
        WHERE json_exists(edit, '$.ids')
        """
    )
    connection.execute(
        """
        CREATE TEMP TABLE extended AS
        SELECT run_id, variant_id, len(ids) AS drawn,
            CASE WHEN list_slice(longest, 1, len(ids)) = ids THEN longest ELSE ids END AS ids
        FROM listed
        JOIN (SELECT variant_id, seed, arg_max(ids, len(ids)) AS longest FROM listed GROUP BY ALL)
            USING (variant_id, seed)
        """
    )
    # Sorted so that contexts drawn from the same sentences stand together: their keys then differ little.
    connection.execute(
        """
        CREATE TEMP TABLE whole AS
        SELECT ids, row_number() OVER (ORDER BY split_part(variant_id, '#', 2), variant_id) - 1 AS context
        FROM (SELECT ids, min(variant_id) AS variant_id FROM extended GROUP BY ids)
        """
    )
    connection.execute(
        "CREATE TEMP TABLE drawn AS SELECT run_id, variant_id, context, drawn FROM extended JOIN whole USING (ids)"
    )
    connection.execute(
        f"""
        INSERT INTO {NAME}.contexts
        SELECT context, list(key ORDER BY place)
        FROM (
            SELECT context, place,
                CASE
                    WHEN id LIKE 'unrelated/%' THEN -1 - CAST(substr(id, 11) AS INTEGER)
                    ELSE {OPTIONS} * CAST(regexp_extract(id, '#([0-9]+)$', 1) AS INTEGER) + named.item
                END AS key
            FROM (SELECT context, unnest(ids) AS id, generate_subscripts(ids, 1) AS place FROM whole)
            LEFT JOIN named ON named.instance_id = regexp_extract(id, '^(.*)#[0-9]+$', 1)
        )
        GROUP BY context
        UNION ALL
        SELECT context, []
        FROM whole
        WHERE len(ids) = 0
        ORDER BY context
        """
    )


def _kind_is(table: str) -> str:
    name_columns = {"name": _NAMES[table] if table == "variants" else f"{table}.{_NAMES[table]}"}
    return " AND ".join(
        f"kinds.{column} IS NOT DISTINCT FROM "
        + name_columns.get(column, f"{table}.{column}" if column in schema.TABLES[table] else "NULL")
        for column in KIND
    )


def _same_in(left: str, right: str, columns: Sequence[str]) -> str:
    return " AND ".join(f"{left}.{column} IS NOT DISTINCT FROM {right}.{column}" for column in columns)
