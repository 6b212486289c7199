"""Run folders in, DuckDB and named questions to it out."""
