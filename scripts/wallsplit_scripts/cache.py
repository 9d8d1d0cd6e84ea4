"""Exports made on the way to an analysis, kept in the user's cache folder while the report is unchanged."""

from pathlib import Path

import platformdirs

from wallsplit.errors import CaptureError
from wallsplit.run.manifest import sha256
from wallsplit_scripts import nsys


def cache_folder() -> Path:
    """Return where this user's exports go, by the platform's convention."""
    return platformdirs.user_cache_path("wallsplit", appauthor=False) / "exports"


def cached_export(report: Path, nsys_option: str | None = None) -> Path:
    """Return the SQLite export of the report, in the user's cache folder; nsys makes it if there is none yet.

    An export holds the whole environment of the profiled program: the folder is open to its owner alone.

    Raises:
        CaptureError: the report cannot be read, there is no nsys, it refuses the report, or the cache is unwritable.
    """
    try:
        digest = sha256(report)
    except OSError as error:
        raise CaptureError(f"{report}: cannot be read ({error.strerror})") from error
    folder = cache_folder()
    try:
        path = nsys.locate(nsys_option)
    except CaptureError as error:
        hint = f"nsys export --type=sqlite {report.name!r}"
        raise CaptureError(
            f"{report}: an nsys report, not an export, and {error}; or export it with `{hint}`"
        ) from error
    target = folder / f"{digest}-{nsys.version_text(path)}.sqlite"
    if target.is_file():
        return target
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise CaptureError(f"{folder}: the cache folder cannot be made ({error.strerror})") from error
    nsys.export(path, report, target)
    return target
