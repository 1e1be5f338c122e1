"""The notebook of the examples runs, and shows what it should."""

import json
import pathlib

import pytest

PATH = pathlib.Path(__file__).resolve().parents[1] / "examples" / "smooth.ipynb"


def test_the_notebooks_cells_run_in_order():
    cells = json.loads(PATH.read_text())["cells"]
    programs = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(programs) > 4
    names = {}
    for program in programs:
        exec(compile(program, str(PATH), "exec"), names)


def test_jupyter_shows_pictures_and_tables():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    try:
        KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        pytest.skip("no Jupyter kernel for Python here")
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    shown = [output["data"] for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs if output["output_type"] == "execute_result"]
    plan, _, check = shown[:3]
    assert "<svg" in plan["text/html"] and "<table>" in plan["text/html"]
    assert "<svg" in plan["image/svg+xml"] and "<?xml" not in plan["text/html"]
    assert "<svg" in check["text/html"] and "the body touches" in check["text/html"]
