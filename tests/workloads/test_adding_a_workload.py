"""The page on adding a workload shows one that runs, and names every file there is to change."""

import re
from typing import Any

from wallsplit_workloads import running
from wallsplit_workloads.workload import Workload, resolve
from workload_runs import ROOT

PAGE = (ROOT / "docs" / "adding-a-workload.md").read_text()


def test_the_workload_on_the_page_runs() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code.group(1), names)
    workload = names["WORKLOAD"]
    assert isinstance(workload, Workload)
    manifest = running.run(workload, resolve(workload, {"steps": "3", "size": "8"}), lambda line: None)
    assert manifest.marks["step"] == 3


def test_the_files_the_page_names_exist() -> None:
    assert (ROOT / "workloads" / "wallsplit_workloads" / "running.py").is_file()
    for path in re.findall(r"`((?:workloads|tests)/[\w/]+(?:\.py|/))`", PAGE):
        assert (ROOT / path).exists(), path
