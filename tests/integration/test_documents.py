"""What the documents show of Python runs as it is shown: the notebook, cell by cell, Ctrl+C in it included, and every piece of
docs/python.md."""
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT
from support.served import Served

pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

NOTEBOOK = ROOT / "examples" / "notebooks" / "first.ipynb"

# As a notebook runs cells: the last expression of each is shown. A cell tagged "interrupt" is interrupted, as by its button.
RUN_CELLS = """
import ast, json, os, signal, sys, threading
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)) if "interrupt" in cell["metadata"].get("tags", []) else None
    if timer:
        timer.start()
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell["id"], "exec"), names)
    if timer:
        timer.join()
        print("after the interrupt:", 0 < len(names["big"]) < 800 * 800)
    if last:
        print(cell["id"], repr(eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)))
print("done")
"""


@pytest.fixture
def program_on_path(sweepd):
    return {**os.environ, "PATH": os.path.dirname(sweepd) + os.pathsep + os.environ["PATH"]}


def test_the_notebook_runs_from_its_first_cell_to_its_last(program_on_path):
    command = [sys.executable, "-c", RUN_CELLS, str(NOTEBOOK)]
    done = subprocess.run(command, env=program_on_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "done" and "after the interrupt: True" in lines
    assert "of 640,000 combos" in done.stderr  # the progress it asked for
    assert "<Sweep of 5 combos over 150000 bars" in done.stdout


def test_the_notebook_is_committed_without_outputs_and_is_a_notebook():
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["language_info"]["name"]) == (4, "python")
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)


def test_docs_python_md_runs_as_it_stands(sweepd, tmp_path, monkeypatch):
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    pieces = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(pieces) >= 5
    monkeypatch.chdir(tmp_path)
    np.savetxt("closes.txt", 100 + np.cumsum(np.sin(np.arange(400.0) ** 1.3)))
    (tmp_path / "bars.csv").write_text("close\n" + "".join(f"{100 + i % 7}\n" for i in range(300)))
    names = {}
    with Served(sweepd, tmp_path) as service:
        for piece in pieces:
            code = piece.replace("unix:/run/x.sock", service.url("unix"))
            try:
                exec(compile(code, "docs/python.md", "exec"), names)
            except ImportError as error:
                assert error.name in ("pandas", "polars", "pyarrow")
        names["eng"].close()
    assert len(names["t"]) > 0 and names["state"].bars == 401
