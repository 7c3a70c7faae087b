"""The examples of the README, run with the bundled minuet."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import pytest
from conftest import ROOT


def test_examples(tmp_path: Path, minuet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    shutil.copy(minuet, tmp_path / "song.flac")
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / "python" / "README.md"), module_relative=False)
    assert failed == 0 and tried > 20
