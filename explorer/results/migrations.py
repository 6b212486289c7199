"""Numbered changes of the schema; an applied one stays as it is, since somebody's database was made with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Connection = Any  # a duckdb connection


def m001_first_tables(connection: Connection) -> None:
    """Runs and the seven tables of a run folder, each with its run's id in front."""
    connection.execute(
        """
        CREATE TABLE runs (
            run_id VARCHAR PRIMARY KEY,
            study VARCHAR,
            model VARCHAR,
            benchmark VARCHAR,
            status VARCHAR,
            created TIMESTAMP,
            updated TIMESTAMP,
            done INTEGER,
            total INTEGER,
            seed INTEGER,
            dtype VARCHAR,
            message VARCHAR,
            spec JSON,
            environment JSON
        )
        """
    )
    factors = """condition VARCHAR, length INTEGER, k INTEGER, setting VARCHAR, part INTEGER, language VARCHAR,
        temperature DOUBLE"""
    for table, columns in {
        "instances": """instance_id VARCHAR, benchmark VARCHAR, split VARCHAR, grp VARCHAR, phenomenon VARCHAR,
            field VARCHAR, kind VARCHAR, gold INTEGER, label VARCHAR, text_hash VARCHAR, position INTEGER,
            payload VARCHAR""",
        "variants": f"""instance_id VARCHAR, variant_id VARCHAR, {factors}, edit VARCHAR, accepted BOOLEAN,
            reason VARCHAR, payload VARCHAR""",
        "scores": f"""instance_id VARCHAR, request INTEGER, option INTEGER, role VARCHAR, {factors}, logprob DOUBLE,
            tokens INTEGER, scored INTEGER, chars INTEGER, bytes INTEGER, greedy BOOLEAN, straddles BOOLEAN,
            truncated INTEGER, reason VARCHAR, context VARCHAR, continuation VARCHAR, token_texts VARCHAR[],
            token_logprobs FLOAT[]""",
        "generations": f"""instance_id VARCHAR, request INTEGER, role VARCHAR, {factors}, prompt VARCHAR, text VARCHAR,
            tokens INTEGER, finish VARCHAR, verdict VARCHAR, reason VARCHAR""",
        "counts": f"""instance_id VARCHAR, option INTEGER, {factors}, index_name VARCHAR, n INTEGER, start INTEGER,
            ids INTEGER[], count DOUBLE, approx BOOLEAN, reason VARCHAR""",
        "measures": f"""instance_id VARCHAR, option INTEGER, {factors}, measure VARCHAR, value DOUBLE,
            reason VARCHAR""",
        "findings": f"""finding VARCHAR, grp VARCHAR, {factors}, value DOUBLE, low DOUBLE, high DOUBLE, p DOUBLE,
            n INTEGER, left_out INTEGER, reason VARCHAR, detail VARCHAR""",
    }.items():
        connection.execute(f"CREATE TABLE {table} (run_id VARCHAR, {columns})")


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (m001_first_tables,)


def migrate(connection: Connection) -> None:
    """Brings a database up to the newest schema."""
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name VARCHAR)")
    applied = newest_version(connection)
    for number, step in enumerate(MIGRATIONS, start=1):
        if number > applied:
            step(connection)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", [number, step.__name__])


def newest_version(connection: Connection) -> int:
    """The number of the newest applied migration."""
    row = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    return int(row[0])
