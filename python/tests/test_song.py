"""What a song is like: values of an analysis, and the table of a folder."""

from __future__ import annotations

import math
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import music, run_program

import hemiola_audio
from hemiola_audio import Analysis, Chord, InputError, analyze, analyze_many


@pytest.fixture(scope="module")
def whole(minuet: Path) -> Analysis:
    return analyze(minuet, analyzers=["+musical-key", "+chords"])


def test_values_of_a_song(whole: Analysis, minuet: Path) -> None:
    assert whole.tempo is not None and abs(whole.tempo - 104) < 1
    assert abs(whole.duration - 30.14) < 0.01 and whole.key == "G major"
    beats = [line.split()[0] for line in run_program("beats", minuet).decode().splitlines() if not line.startswith("#")]
    assert np.allclose(whole.beats, np.array(beats, dtype=float), atol=2e-3)
    assert 10 < len(whole.downbeats) < 20 and set(whole.downbeats) < set(whole.beats)
    chord = whole.chords[1]
    assert isinstance(chord, Chord) and chord.label == "G:maj" and all(one.end == pytest.approx(next.start, abs=1e-5)
        for one, next in zip(whole.chords, whole.chords[1:]))
    assert abs((hemiola_audio.tempo(minuet) or 0) - whole.tempo) < 0.1


def test_what_the_records_have_is_not_analysed_again(minuet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = analyze(minuet, analyzers=["beat", "musical-key", "chords"])
    copy = pickle.loads(pickle.dumps(result))
    monkeypatch.setenv("HEMIOLA", "/nothing")
    assert result.tempo and result.key == "G major" and len(result.chords) > 10 and len(result.downbeats) > 10
    assert copy.key == result.key


def test_what_the_records_lack_is_an_error_that_names_the_analyzer(minuet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = analyze(minuet, select="onset", duration=8)
    assert len(result.onsets) > 0 and not hasattr(result, "beats")
    with pytest.raises(InputError, match="not known"):
        Analysis(result._lines).summary()
    monkeypatch.setenv("HEMIOLA", "/nothing")
    for name, analyzer in {"tempo": "beat", "downbeats": "beat", "key": "musical-key", "chords": "chords"}.items():
        with pytest.raises(AttributeError, match=rf"analyzers='\+{analyzer}'"):
            getattr(result, name)


def test_without_beats_and_tones_there_is_nothing() -> None:
    analyzers = ["beat", "musical-key", "chords"]
    silence = analyze(np.zeros(44_100 * 4, dtype=np.float32), sample_rate=44_100, analyzers=analyzers)
    assert silence.tempo is None and silence.key is None and len(silence.beats) == 0 and silence.duration == 4
    assert [chord.label for chord in silence.chords] == ["N"]


def test_categories_are_texts_with_numbers(minuet: Path, tmp_path: Path) -> None:
    result = analyze(minuet, analyzers="musical-key")
    arrays = result.numpy()
    assert arrays["musical_key.tonic"][0] == "G" and arrays["musical_key.tonic_number"][0] == 7
    labels = result.features["musical_key.tonic"].labels
    assert labels is not None and labels[7] == "G"
    parquet = pytest.importorskip("pyarrow.parquet")
    result.to_parquet(tmp_path / "song.parquet")
    table = parquet.read_table(tmp_path / "song.parquet")
    assert str(table.schema.field("musical_key.tonic").type) == "string"
    assert str(table.schema.field("musical_key.mode_number").type) == "int64"
    assert table["musical_key.mode"][0].as_py() == "major" and table["musical_key.mode_number"][0].as_py() == 0


def test_representation_is_what_is_known(minuet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = analyze(minuet, analyzers=["beat", "musical-key"], duration=8)
    levels = analyze(minuet, analyzers="levels", duration=8)
    start = f"Analysis({str(minuet)!r}, 8.0 s"
    monkeypatch.setenv("HEMIOLA", "/nothing")
    assert repr(result) == f"{start}, {result.tempo:.1f} BPM, G major)" and repr(levels) == start + ")"


def test_summary_of_a_file_and_of_an_array(whole: Analysis) -> None:
    summary = whole.summary()
    assert summary["summaries.musical_key.key"] == "G major" and summary["summaries.musical_key.tonic_number"] == 7
    assert summary["rhythm.beats"] == len(whole.beats) and "features.levels.rms_db.p50" in summary
    array = analyze(music(3).astype(np.float32) / 32768, sample_rate=44_100, analyzers="levels")
    assert {key.split(".")[1] for key in array.summary() if key.startswith("features.")} == {"levels"}


def test_folder_is_a_table_with_errors(minuet: Path, truncated: Path, text_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    folder = truncated.parent
    (folder / "more").mkdir()
    shutil.copy(minuet, folder / "more" / "minuet.flac")
    with pytest.warns(hemiola_audio.PartialInputWarning, match="2 of 3 files .* column error") as caught:
        table = analyze_many(folder).set_index("file")
    assert [warning.filename for warning in caught] == [__file__]
    assert len(table) == 3 and table.loc[str(folder / "more" / "minuet.flac"), "summaries.musical_key.key"] == "G major"
    assert "not audio" in table.loc[str(text_file), "error"] and math.isnan(table.loc[str(text_file), "frames"])
    assert table.loc[str(truncated), "lost_frames"] > 0
    assert list(analyze_many(folder / "more", analyzers="levels").filter(like="spectrum").columns) == []


def test_a_file_or_an_empty_folder_is_refused(minuet: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="list of paths"):
        analyze_many(minuet)
    with pytest.raises(InputError, match="no sound files"):
        analyze_many(tmp_path)
    with pytest.raises(ValueError, match="select and whole_file"):
        analyze_many(tmp_path, select="levels")
