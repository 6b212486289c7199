"""What in a run's folder is not as it was written: found, told, and taken away so that it is made again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from explorer import sharing
from explorer.errors import RunError
from explorer.rows.schema import TABLES
from explorer.runs import files
from explorer.runs.parquet import opens, sha256_of
from explorer.runs.parts import Parts


class CheckedParts(Parts):
    """Parts that are compared with what their marks say, where this account may read them."""

    def kept_from_us(self) -> str:
        """Why this account cannot read what another one made here, at a glance, or ""."""
        tables = (self.parts / table for table in TABLES)
        seen = (self.path / "spec.json", self.path / "progress.json", self.parts, *tables)
        newest = sorted(self.parts.glob("*.done"))[-1:] if os.access(self.parts, os.R_OK) else []
        return next((why for path in (*seen, *newest) if (why := sharing.kept_from_us(path))), "")

    def refuse_if_kept(self) -> None:
        """RunError where something in the folder is another account's, who does not let us go on with it."""
        if why := sharing.kept_within(self.path, writing=True):
            raise RunError(why)

    def damaged(self, *, thorough: bool = True) -> list[str]:
        """The files of parts with a mark, and the findings, that are not as they were written, as table/name.

        `thorough` reads them all and compares their SHA-256; without it they are only opened, which a file that was
        cut short does not survive.
        """
        if self.kept_from_us():
            return []  # another account's own, damaged or not
        damaged = self.damaged_marks()
        for path in (path for table in TABLES for path in self.part_files(table)):
            sha256 = self._sha256(path) if thorough else ""
            if not opens(path) or (sha256 and os.access(path, os.R_OK) and sha256_of(path) != sha256):
                damaged.append(f"{path.parent.name}/{path.name}")
        return damaged

    def damaged_marks(self) -> list[str]:
        """The marks that cannot be read, or name a file that is gone, of parts that have files, in order.

        Such a part does not count, though it was finished once; one without any mark never was.
        """
        damaged = []
        for done in sorted(self.parts.glob("*.done")):
            name = "all" if done.stem == "findings" else done.stem
            if os.access(done, os.R_OK) and any((self.parts / table / f"{name}.parquet").exists() for table in TABLES):
                mark = self.mark(done.stem)
                files_of = [self.parts / table / f"{name}.parquet" for table in mark.tables] if mark else []
                if mark is None or not all(path.exists() for path in files_of):
                    damaged.append(done.name)
        return damaged

    def changed_notes(self) -> list[str]:
        """The files that tell of the run, beside its spec and parts, and are not as they were written."""
        notes = [self.path / name for name in ("progress.json", "environment.json", "where.json")]
        environments = sorted(self.path.glob("environments/*.json"))
        changed = [path for path in (*notes, *environments) if not files.is_as_written(path)]
        return [path.relative_to(self.path).as_posix() for path in changed]

    def hashed(self) -> tuple[int, int]:
        """How many files of parts and findings have a hash in their mark, and how many have none."""
        known = [bool(self._sha256(path)) for table in TABLES for path in self.part_files(table)]
        return sum(known), len(known) - sum(known)

    def drop_damaged(self) -> list[str]:
        """Takes away what is not as it was written, so that it is made again; the files as table/name."""
        dropped = self.damaged()
        for name in dropped:
            path = self.parts / name
            (self.parts / f"{'findings' if path.parent.name == 'findings' else path.stem}.done").unlink(missing_ok=True)
            _remove(path)
            if name == "findings.done":
                _remove(self.parts / "findings" / "all.parquet")  # without its hash it would count unseen
        for temporary in self.path.rglob(".*.tmp"):  # of a worker that was killed while it wrote
            _remove(temporary)
        return dropped


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
