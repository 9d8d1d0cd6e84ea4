"""An analysis in a notebook that is run for real, without a window."""

import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).resolve().parent.parent
CODE = f"""
import sys
sys.path[:0] = {[str(ROOT / "analysis")]!r}
import wallsplit
wallsplit.analyze({str(ROOT / "traces" / "keras-gpu.reconstructed.sqlite")!r})
"""


@pytest.mark.filterwarnings("ignore")  # the kernel's own
def test_a_cell_that_ends_with_an_analysis_shows_the_first_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    kernels = tmp_path / "kernels" / "here"
    kernels.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "here", "language": "python"}
    (kernels / "kernel.json").write_text(str(spec).replace("'", '"'), encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="here").execute()
    (output,) = notebook.cells[0].outputs
    page = output["data"]["text/html"]
    for part in ("waiting for input probably takes 58 %", "<svg", "What to do", "residual 0 ns", "Reconstructed trace"):
        assert part in page
    assert output["data"]["text/plain"].startswith("<Analysis of keras-gpu.reconstructed.sqlite")
