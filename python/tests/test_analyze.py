"""Analysis of files: records, arrays, errors."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import music, run_program, write_wav

import hemiola_audio
from hemiola_audio import FolderError, HemiolaWarning, InputError, PartialInputWarning, UsageError, analyze, stream


def test_records_equal_those_of_the_program(minuet: Path) -> None:
    expected = [json.loads(line) for line in run_program("analyze", "--whole-file", minuet).splitlines()]
    song = analyze(minuet)
    assert list(song) == expected
    assert len(song) == len(expected)
    assert song.header == expected[0] and song.end == expected[-1]
    assert song.error is None and song.gaps == []
    assert song.sample_rate == 44_100


def test_arrays_equal_the_records(minuet: Path) -> None:
    song = analyze(minuet)
    batches = song.events("batch")
    arrays = song.numpy(np.float64)
    assert list(arrays) == ["t", *song.features]
    for name, feature in song.features.items():
        analyzer, output = name.split(".")
        values = [batch[analyzer][output] for batch in batches]
        expected = np.array(values, dtype=np.float64)
        assert arrays[name].shape == ((len(batches), feature.count) if feature.is_list else (len(batches),))
        assert arrays[name].dtype == np.float64
        np.testing.assert_array_equal(arrays[name], expected)
    assert arrays["spectrum.bands_db"].shape == (1299, 64)
    assert song.numpy()["spectrum.bands_db"].dtype == np.float32


def test_null_is_nan(minuet: Path) -> None:
    bpm = analyze(minuet, select="beat.bpm", whole_file=False).numpy()["beat.bpm"]
    assert np.isnan(bpm[0]) and not np.isnan(bpm[-1])


def test_time_axis_is_exact(minuet: Path) -> None:
    song = analyze(minuet, select="levels.rms_db")
    np.testing.assert_array_equal(song.times, np.arange(1299) * 1024 / 44_100)
    np.testing.assert_allclose(song.numpy()["t"], song.times, atol=1e-6)


def test_beats_and_onsets(minuet: Path) -> None:
    song = analyze(minuet)
    assert song.end is not None
    assert len(song.beats) == song.end["summaries"]["beat"]["beats"] > 40
    assert len(song.onsets) == song.end["summaries"]["beat"]["onsets"]
    assert np.median(np.diff(song.beats)) == pytest.approx(60 / 104, rel=0.02)
    assert song.beats.tolist() == [beat["t"] for beat in song.events("beat")]


@pytest.mark.parametrize("whole_file", [None, False])
def test_stream_gives_the_records_of_an_analysis(minuet: Path, whole_file: bool | None) -> None:
    with stream(minuet, whole_file=whole_file) as records:
        assert list(records) == list(analyze(minuet, whole_file=whole_file))


def test_options(song: Path) -> None:
    result = analyze(
        song, analyzers=["levels", "spectrum:bands=8,mfcc=13"], select=["levels.rms_db", "spectrum.mfcc"], batch=512, start=1.5, duration="2"
    )
    arrays = result.numpy()
    assert list(result.features) == ["levels.rms_db", "spectrum.mfcc"]
    assert arrays["spectrum.mfcc"].shape == (173, 13)
    assert result.header["batch_frames"] == 512
    assert result.header["source"]["start_s"] == 1.5
    assert result.end is not None and result.end["t"] == 2.0


def test_feature_declarations(minuet: Path) -> None:
    features = analyze(minuet).features
    bands = features["spectrum.bands_db"]
    assert bands.unit == "dBFS" and bands.count == 64 and bands.is_list and bands.minimum == -120
    assert bands.edges_hz is not None and len(bands.edges_hz) == 65
    assert features["visualizer.bass"].center_offset_s == pytest.approx(0.01161)
    assert features["levels.rms_db"].edges_hz is None


def test_a_file_named_minus_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wav(tmp_path / "-", music(1), 44_100)
    monkeypatch.chdir(tmp_path)
    end = analyze("-", analyzers="levels").end
    assert end is not None and end["frames"] == 44_100


@pytest.mark.parametrize("name", ["--version", "a b.wav", "ünï.wav", os.fsdecode(b"latin-\xe9.wav"), "line\nfeed.wav"])
def test_any_file_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_wav(tmp_path / name, music(1), 44_100)
    end = analyze(name, analyzers="levels").end
    assert end is not None and end["frames"] == 44_100


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing.wav: no such file") as caught:
        analyze(tmp_path / "nothing.wav")
    assert caught.value.exit_code == 1


def test_file_that_is_not_audio_is_an_input_error(text_file: Path) -> None:
    with pytest.raises(InputError, match=r"notes.wav: is not audio: it looks like text"):
        analyze(text_file)


def test_invalid_setting_is_a_usage_error(song: Path) -> None:
    with pytest.raises(UsageError, match="did you mean bands") as caught:
        analyze(song, analyzers="spectrum:band=8")
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match="nothing"):
        analyze(song, select="nothing")


def test_truncated_file_warns_and_has_a_result(truncated: Path) -> None:
    with pytest.warns(PartialInputWarning, match="the file ends at 3.065 s, 27.075 s too early"):
        result = analyze(truncated)
    assert result.error is not None and "27.075 s too early" in result.error
    assert [gap["reason"] for gap in result.gaps] == ["truncated-file"]
    assert len(result.times) == 132


def test_warning_names_the_line_of_the_caller(truncated: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with hemiola_audio.Worker(analyzers="levels") as worker:
        functions: list[Callable[[], object]] = [
            lambda: analyze(truncated, analyzers="levels"),
            lambda: list(stream(truncated, analyzers="levels")),
            lambda: stream(truncated, analyzers="levels").to_parquet(tmp_path / "song.parquet"),
            lambda: worker.analyze(truncated),
            lambda: list(hemiola_audio.analyze_many([truncated], analyzers="levels")),
        ]
        for function in functions:
            with pytest.warns(PartialInputWarning) as caught:
                function()
            assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, function.__code__.co_firstlineno)]


def test_unknown_option_is_an_error_at_the_call(song: Path) -> None:
    functions: list[Callable[..., object]] = [analyze, stream, hemiola_audio.listen, hemiola_audio.analyze_many]
    for function in functions:
        with pytest.raises(TypeError, match="'analyser'; the options are analyzers, select"):
            function([song] if function is hemiola_audio.analyze_many else song, analyser="levels")
    with pytest.raises(TypeError, match="analyser"):
        hemiola_audio.Worker(analyser="levels")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="belong to a file"):
        hemiola_audio.listen(capture="tone:sine", start=1)


def test_warning_of_the_program_is_a_warning(tmp_path: Path) -> None:
    samples = struct.pack("<4f", 0.1, float("nan"), 0.2, 0.3)
    chunk = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 16, b"WAVE", b"fmt ", 16, 3, 1, 44_100, 44_100 * 4, 4, 32, b"data", 16)
    (tmp_path / "nan.wav").write_bytes(chunk + samples)
    with pytest.warns(HemiolaWarning, match=r"nan.wav: 1 sample was NaN or infinite"):
        end = analyze(tmp_path / "nan.wav").end
    assert end is not None and end["non_finite"] == 1


def test_arguments_of_arrays_are_refused_for_files(song: Path) -> None:
    with pytest.raises(ValueError, match="a file has its own sample rate"):
        analyze(song, sample_rate=44_100)


def test_exceptions_can_be_pickled(tmp_path: Path) -> None:
    import pickle

    with pytest.raises(InputError) as caught:
        analyze(tmp_path / "nothing.wav")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is InputError and str(copy) == str(caught.value) and copy.exit_code == 1


def test_version_is_that_of_the_program() -> None:
    assert run_program("--version").decode().strip() == hemiola_audio.__version__


@pytest.mark.parametrize("name", ["analyze", "stream", "worker"])
def test_folder_is_an_error_that_names_analyze_many(name: str, tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", music(0.5), 44_100)
    with hemiola_audio.Worker() as worker:
        functions: dict[str, Callable[[Path], object]] = {"analyze": analyze, "stream": hemiola_audio.stream, "worker": worker.analyze}
        with pytest.raises(FolderError, match="analyze_many") as fault:
            functions[name](tmp_path)
    assert isinstance(fault.value, InputError) and isinstance(fault.value, IsADirectoryError) and str(fault.value).startswith(f"{tmp_path}: ")
    assert str(pickle.loads(pickle.dumps(fault.value))) == str(fault.value)


def test_several_paths_are_an_error_that_names_analyze_many(song: Path) -> None:
    with pytest.raises(TypeError, match="analyze_many"):
        analyze([song, song])  # type: ignore[arg-type]
