"""A run's spec that was damaged, put back from the database, which keeps a copy; its hash is the run's id."""

from __future__ import annotations

from explorer.errors import ExplorerError, RunError
from explorer.results import queries, store
from explorer.runs import files
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.settings import Settings


def restore_spec(settings: Settings, folder: RunFolder) -> bool:
    """Whether the run's spec was damaged and stands again as it was."""
    if folder.kept_from_us():
        return False
    try:
        _ = folder.spec
        return False
    except RunError:
        pass
    try:
        opened = store.open_store(settings)
        try:
            rows = queries.run(opened, folder.run_id)
        finally:
            opened.close()
        text = str(rows["spec"].iloc[0])
        if specs.run_id(specs.from_json(text)) != folder.run_id:
            return False
    except (ExplorerError, IndexError):
        return False
    files.write_json_text(folder.path / "spec.json", text)
    return True
