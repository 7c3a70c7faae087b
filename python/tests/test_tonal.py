"""Chroma and pitch: lists, null values and records with a duration appear by declaration."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from conftest import run_program

from hemiola_audio import analyze

pyarrow = pytest.importorskip("pyarrow.parquet")

RATE = 22050
ANALYZERS = ["chroma", "cqt", "pitch"]


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    """Silence, two seconds of A4, silence."""
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(2 * RATE) / RATE)
    return np.concatenate([np.zeros(RATE), tone, np.zeros(RATE)]).astype(np.float32)


def test_arrays_have_nan_in_silence(samples: np.ndarray) -> None:
    result = analyze(samples, sample_rate=RATE, analyzers=ANALYZERS)
    arrays = result.numpy()
    chroma = arrays["chroma.bins"]
    assert chroma.shape == (len(result.times), 12)
    assert np.isnan(chroma[0]).all()
    middle = len(chroma) // 2
    assert chroma[middle].argmax() == 9 and chroma[middle].max() == 1
    assert arrays["cqt.magnitudes_db"].shape == (len(result.times), result.features["cqt.magnitudes_db"].count)
    assert np.isnan(arrays["pitch.f0_hz"][0]) and abs(arrays["pitch.f0_hz"][middle] - 440) < 2


def test_notes_are_records_with_a_duration(samples: np.ndarray, tmp_path: Path) -> None:
    result = analyze(samples, sample_rate=RATE, analyzers=ANALYZERS)
    notes = result.events("note")
    assert len(notes) == 1 and notes[0]["midi"] == 69 and abs(notes[0]["duration_s"] - 2) < 0.2
    result.to_parquet(tmp_path / "x.parquet")
    rows = [row for row in pyarrow.read_table(tmp_path / "x.events.parquet").to_pylist() if row["type"] == "note"]
    assert len(rows) == 1 and rows[0]["midi"] == 69 and rows[0]["duration_s"] == notes[0]["duration_s"]


def test_parquet_has_lists_with_null(samples: np.ndarray, tmp_path: Path) -> None:
    analyze(samples, sample_rate=RATE, analyzers=ANALYZERS).to_parquet(tmp_path / "x.parquet")
    table = pyarrow.read_table(tmp_path / "x.parquet")
    chroma = table["chroma.bins"].to_pylist()
    assert str(table.schema.field("chroma.bins").type) in ("list<element: double>", "list<item: double>")
    assert chroma[0] == [None] * 12 and max(chroma[len(chroma) // 2]) == 1
    assert table["pitch.f0_hz"][0].as_py() is None


@pytest.mark.parametrize("bins", [12, 24, 36])
def test_schema_and_csv_follow_the_declaration(minuet: Path, tmp_path: Path, bins: int) -> None:
    option = ["--analyzer", f"chroma:bins={bins}"]
    columns = json.loads(run_program("schema", "--columns", *option))["columns"]
    assert columns["chroma"] == {"bins": ["float64"], "tuning_cents": "float64"}
    run_program("analyze", minuet, *option, "-o", tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [name for name in rows[0] if name.startswith("chroma.bins")] == [f"chroma.bins[{index}]" for index in range(bins)]
    assert rows[0]["chroma.bins[0]"] == "" and float(rows[100]["chroma.bins[7]"]) >= 0


def test_summary_has_statistics_of_each_feature(minuet: Path) -> None:
    summary = json.loads(run_program("analyze", minuet, "--summary", "--analyzer", "chroma", "--analyzer", "pitch"))
    assert {"bins", "tuning_cents"} <= summary["features"]["chroma"].keys()
    assert {"f0_hz", "voicing"} <= summary["features"]["pitch"].keys()
