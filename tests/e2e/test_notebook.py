"""`identify` in a real notebook: a Jupyter kernel runs the cells, and a reader sees what they put out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

CELL = """
import random
import truebest

coin = random.Random(1)
arms = {"bad": lambda: float(coin.random() < 0.1), "good": lambda: float(coin.random() < 0.9)}
result = truebest.identify(arms, bounds=(0, 1), max_samples=2000, rng=1)
"""


class Recorded(NotebookClient):
    """Keeps every state that an output had: a display and its updates come as messages."""

    frames: list[str]

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        """Called for everything that the kernel sends."""
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.frames.append(msg["content"]["data"]["text/html"])
        return super().process_message(msg, cell, cell_index)


def test_a_notebook_shows_one_view_that_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One HTML output: at first that of an undecided run, in the end with the decision; nothing else."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    sources = (CELL, "print(result.best)", "result")
    cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    notebook: Any = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    client = Recorded(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.frames = []
    client.execute()
    view, printed, shown = (cell.outputs for cell in notebook.cells)
    assert [output.output_type for output in view] == ["display_data"]
    assert "good is best" in view[0].data["text/html"]
    assert "good is best" in view[0].data["text/plain"]
    assert len(client.frames) >= 2
    assert "no result yet" in client.frames[0]
    assert client.frames[-1] == view[0].data["text/html"]
    assert [(output.name, output.text) for output in printed] == [("stdout", "good\n")]
    assert [output.output_type for output in shown] == ["execute_result"]
    assert "<table>" in shown[0].data["text/html"]
