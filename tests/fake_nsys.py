"""An nsys for tests: a script that answers as nsys does, and profiles and exports as the test says."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

# `program` (list), `output` (path) and `report` (path, when exporting) are at the disposal of the two bodies.
_SCRIPT = """#!{python}
import os, pathlib, shutil, signal, subprocess, sys, time

arguments = sys.argv[1:]
if arguments == ["--version"]:
    {version_body}
flags = [a for a in arguments[1:] if a.startswith("--")]
if arguments == ["status", "--environment"]:
    print("CPU Profiling Environment (process-tree): {sampling}")
    sys.exit()
if flags == ["--help"]:
    print("\\t-t, --trace=\\n\\n\\t   Possible values are 'cuda', 'nvtx' or 'none'.\\n\\n\\t-x, --other=")
    sys.exit()
output = next(a.partition("=")[2] for a in flags if a.startswith("--output=")).replace("%%", "%")
if arguments[0] == "profile":
    first = next(i for i, a in enumerate(arguments[1:], 1) if not a.startswith("--"))
    program = arguments[first:]
    {profile_body}
report = arguments[-1]
{export_body}
"""
REPORT_OF_PROGRAM = """code = subprocess.run(program).returncode
    pathlib.Path(output).write_text("report")
    sys.exit(code)"""


def fake_nsys(
    folder: Path,
    *,
    version: str = "2023.4.4.54-234433681190v0",
    version_body: str | None = None,
    sampling: str = "OK",
    profile_body: str = REPORT_OF_PROGRAM,
    export_body: str | None = None,
) -> Path:
    """Return the path of such an nsys; its export is an empty one unless a body says otherwise."""
    if export_body is None:
        write_export(folder / "prepared.sqlite")
        export_body = f"shutil.copyfile({str(folder / 'prepared.sqlite')!r}, output)"
    said = f'print("NVIDIA Nsight Systems version {version}")\n    sys.exit()'
    path = folder / "nsys"
    path.write_text(
        _SCRIPT.format(
            python=sys.executable,
            sampling=sampling,
            version_body=version_body or said,
            profile_body=profile_body,
            export_body=export_body,
        )
    )
    path.chmod(0o755)
    return path


def write_export(path: Path, ranges: tuple[tuple[str, int, int | None], ...] = (), utc_ns: int = 0) -> None:
    """Write an export that holds these NVTX ranges (name, start, end) and began at that time."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime)")
        database.execute("INSERT INTO ANALYSIS_DETAILS VALUES (1, 5000, 0, 5000)")
        database.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, localTime)")
        database.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (utc_ns,))
        if not ranges:
            return  # nsys makes no table it has no rows for
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value)")
        database.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId)")
        database.execute("INSERT INTO NVTX_EVENTS VALUES (NULL, NULL, 76, NULL, NULL)")
        for id_, (name, start, end) in enumerate(ranges):
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (id_, name))
            database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?)", (start, end, id_))
