"""The notebook, run cell by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOK = ROOT / "examples" / "notebook" / "songs.ipynb"


def test_cells_run_and_outputs_are_stripped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("matplotlib", "pandas", "tqdm"):
        pytest.importorskip(module)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}: {cell['id']}", "exec"), names)
    assert "G major" in capsys.readouterr().out
    assert len(names["figure"].axes[0].collections) == 3
    assert len(names["songs"]) == len([path for path in Path("../music").iterdir() if path.suffix == ".flac"])
    assert names["songs"]["summaries.musical_key.key"].notna().all() and names["timbre"].shape[1] > 5
