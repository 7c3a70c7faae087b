"""Arrow tables and Parquet files: types, values, readers, faults."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from conftest import run_program

from hemiola_audio import InputError, analyze, program, stream
from hemiola_audio.__main__ import main, output_path


def arrow_fields(column: Any, name: str) -> list[tuple[str, str]]:
    """The columns with dotted names and Arrow types that `hemiola schema --columns` describes."""
    if isinstance(column, dict):
        return [field for key, part in column.items() for field in arrow_fields(part, f"{name}.{key}" if name else key)]
    if column == ["float64"]:
        return [(name, "list<element: double>")]
    if column == ["string"]:
        return [(name, "list<element: string>")]
    return [(name, {"int64": "int64", "float64": "double", "bool": "bool"}.get(column, "string"))]


ANALYZERS: list[list[str]] = [
    [],
    ["levels"],
    ["spectrum:bands=8,scale=mel-slaney,mfcc=13,magnitudes=true"],
    ["+spectrum:mfcc=2,as=timbre", "+visualizer:bars=3,as=bars"],
    ["spectrum:bands=1", "beat"],
]


@pytest.mark.parametrize("analyzers", ANALYZERS, ids=lambda value: "+".join(value) or "default")
def test_columns_and_types_are_those_of_the_schema(song: Path, tmp_path: Path, analyzers: list[str]) -> None:
    options = [text for spec in analyzers for text in ("--analyzer", spec)]
    described = json.loads(run_program("schema", "--columns", *options))["columns"]
    result = analyze(song, analyzers=analyzers or None)
    result.to_parquet(tmp_path / "song.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "song.parquet")
    names = {"n", "frame", "t", "partial"} | {analyzer["id"] for analyzer in result.header["analyzers"]}
    expected = arrow_fields({name: column for name, column in described.items() if name in names}, "")
    actual = [(field.name, str(field.type).replace("item:", "element:")) for field in schema]
    assert sorted(actual) == sorted(expected)

    events = pyarrow.parquet.read_schema(tmp_path / "song.events.parquet")
    nested = {"analyzers"}
    types = dict(arrow_fields({name: column for name, column in described.items() if name not in names | nested}, ""))
    for field in events:
        if field.name in types:
            assert str(field.type).replace("item:", "element:") == types[field.name], field.name
    assert set(types) <= set(events.names)


def test_values_equal_the_records(minuet: Path, tmp_path: Path) -> None:
    result = analyze(minuet)
    result.to_parquet(tmp_path / "song.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "song.parquet").to_pylist()
    batches = result.events("batch")
    assert len(rows) == len(batches)
    for row, batch in zip(rows, batches):
        expected = {"n": batch["n"], "frame": batch["frame"], "t": batch["t"], "partial": batch.get("partial")}
        for name in result.features:
            analyzer, output = name.split(".")
            expected[name] = batch[analyzer][output]
        assert row == expected

    events = pyarrow.parquet.read_table(tmp_path / "song.events.parquet").to_pylist()
    records = [record for record in result if record["type"] != "batch"]
    assert [row["type"] for row in events] == [record["type"] for record in records]
    for row, record in zip(events, records):
        for key, value in record.items():
            if key in ("dropped", "summaries"):
                assert json.loads(row[key]) == value
            elif key == "source":
                tags = value.pop("tags")
                assert tags and {name: row[f"source.tags.{name}"] for name in tags} == tags
                assert {name: row[f"source.{name}"] for name in value} == value
            elif key == "analyzers":
                assert [analyzer["id"] for analyzer in row[key]] == [analyzer["id"] for analyzer in value]
                assert json.loads(row[key][1]["parameters"]) == value[1]["parameters"]
                assert row[key][1]["outputs"][0]["edges_hz"] == value[1]["outputs"][0]["edges_hz"]
            else:
                assert row[key] == value
        assert row["more"] is None


def test_metadata_contains_the_header(minuet: Path, tmp_path: Path) -> None:
    result = analyze(minuet, analyzers="levels")
    result.to_parquet(tmp_path / "song.parquet")
    for name in ("song.parquet", "song.events.parquet"):
        metadata = pyarrow.parquet.read_metadata(tmp_path / name).metadata
        assert json.loads(metadata[b"hemiola.header"]) == result.header


def test_readers(minuet: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    path, events = tmp_path / "song.parquet", tmp_path / "song.events.parquet"
    result = analyze(minuet)
    result.to_parquet(path)
    arrays = result.numpy("float64")
    loudest = float(arrays["levels.rms_db"].max())

    frame = pandas.read_parquet(path)
    assert len(frame) == 1299 and frame["levels.rms_db"].max() == loudest
    assert frame["levels.rms_db"].dtype == "float64" and frame["n"].dtype == "int64"
    assert len(frame["spectrum.bands_db"][0]) == 64
    assert frame.equals(result.to_pandas())
    assert (pandas.read_parquet(events)["type"] == "beat").sum() == len(result.beats)

    query = f"select count(*), max(\"levels.rms_db\"), min(len(\"spectrum.bands_db\")), count(\"beat.bpm\") from '{path}'"
    known = sum(not math.isnan(value) for value in arrays["beat.bpm"])
    assert duckdb.sql(query).fetchall() == [(1299, loudest, 64, known)]
    assert duckdb.sql(f"select t from '{events}' where type = 'beat' order by t").fetchall() == [(t,) for t in result.beats]
    kinds = duckdb.sql(f"select summaries::JSON->'$.beat.beats' from '{events}' where type = 'end'").fetchall()
    assert kinds == [(str(len(result.beats)),)]

    lazy = polars.scan_parquet(path)
    assert lazy.select(polars.col("levels.rms_db").max()).collect().item() == loudest
    assert lazy.collect_schema()["spectrum.bands_db"] == polars.List(polars.Float64)
    assert polars.read_parquet(events).filter(polars.col("type") == "onset").height == len(result.onsets)


def test_datasets_knows_the_labels_of_categories(song: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    path = tmp_path / "song.parquet"
    result = analyze(song, analyzers=["levels", "musical-key"])
    result.to_parquet(path)
    loaded = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    feature = loaded.features["musical_key.tonic_number"]
    assert isinstance(feature, datasets.ClassLabel) and tuple(feature.names) == result.features["musical_key.tonic"].labels
    assert {(row["musical_key.tonic_number"], row["musical_key.tonic"]) for row in loaded if row["musical_key.tonic"]} == {
        (index, name) for index, name in enumerate(feature.names) if name in loaded["musical_key.tonic"]
    }
    assert loaded.features["levels.rms_db"] == datasets.Value("float64") and loaded.num_rows == len(result.events("batch"))
    result = analyze(song, analyzers="levels")
    result.to_parquet(path)
    assert b"huggingface" not in pyarrow.parquet.read_metadata(path).metadata


READ_SAMPLES = """
import json, sys, webdataset
for sample in webdataset.WebDataset(sys.argv[1], shardshuffle=False).decode():
    print(json.dumps([sample["__key__"], len(sample.get("flac") or sample["wav"]), sample["json"]["rhythm"]["bpm"]]))
"""


def test_webdataset_joins_songs_and_summaries_of_one_run(song: Path, minuet: Path, tmp_path: Path) -> None:
    pytest.importorskip("webdataset")
    folder = tmp_path / "music"
    folder.mkdir()
    for source in (song, minuet):
        (folder / source.name).write_bytes(source.read_bytes())
    sinks = ["--sink", "summary:{dir}/{stem}.json,select=bpm+key", "--sink", f"summary:{tmp_path}/songs.jsonl,select=bpm+key"]
    run_program("analyze", *sorted(folder.iterdir()), *sinks)
    assert main(["to-parquet", str(tmp_path / "songs.jsonl")]) == 0
    subprocess.run(["tar", "--sort=name", "-cf", tmp_path / "music.tar", "-C", tmp_path, "music"], check=True)
    # In a process of its own, because it leaves the archive open.
    samples = subprocess.run(
        [sys.executable, "-c", READ_SAMPLES, tmp_path / "music.tar"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    tempi = pyarrow.parquet.read_table(tmp_path / "songs.parquet")["rhythm.bpm"].to_pylist()
    assert [json.loads(sample) for sample in samples] == [
        ["music/minuet", minuet.stat().st_size, tempi[0]],
        ["music/song", song.stat().st_size, tempi[1]],
    ]


def test_pandas_a_column_per_value_of_a_list(song: Path) -> None:
    pytest.importorskip("pandas")
    result = analyze(song, analyzers=["levels", "spectrum:bands=0,mfcc=13", "chroma"])
    lists, values = result.to_pandas(), result.to_pandas(expand=True)
    assert "spectrum.bands_db" not in lists.columns and "spectrum.bands_db" not in result.numpy()
    assert [name for name in values.columns if name.startswith("spectrum.mfcc")] == [f"spectrum.mfcc[{index}]" for index in range(13)]
    assert "spectrum.mfcc" in lists.columns and values["spectrum.mfcc[12]"].tolist() == [row[12] for row in lists["spectrum.mfcc"]]
    assert values["levels.channel_rms_db[1]"].dtype == "float64" and "chroma.bins[11]" in values.columns
    assert [name.split("[")[0] for name in values.columns if not name.endswith("]")] == [
        name for name in lists.columns if name not in result.features or not result.features[name].is_list
    ]


def test_stream_and_command_write_the_same_tables(minuet: Path, tmp_path: Path) -> None:
    analyze(minuet).to_parquet(tmp_path / "a.parquet")
    stream(minuet, whole_file=True).to_parquet(tmp_path / "b.parquet")
    run_program("analyze", "--whole-file", minuet, "-o", tmp_path / "c.jsonl")
    run_program("analyze", "--whole-file", minuet, "-o", tmp_path / "d.jsonl.zst")
    assert main(["to-parquet", str(tmp_path / "c.jsonl")]) == 0
    assert main(["to-parquet", str(tmp_path / "d.jsonl.zst"), "-o", str(tmp_path / "d.parquet")]) == 0
    for ending in ("parquet", "events.parquet"):
        first = pyarrow.parquet.read_table(tmp_path / f"a.{ending}")
        for other in "bcd":
            assert pyarrow.parquet.read_table(tmp_path / f"{other}.{ending}").equals(first)


def test_several_files_have_a_column_file(minuet: Path, song: Path, tmp_path: Path) -> None:
    records = tmp_path / "all.jsonl"
    run_program("analyze", minuet, song, "--analyzer", "levels", "-o", records)
    assert main(["to-parquet", str(records)]) == 0
    table = pyarrow.parquet.read_table(tmp_path / "all.parquet")
    assert table["file"].unique().to_pylist() == [str(minuet), str(song)]
    events = pyarrow.parquet.read_table(tmp_path / "all.events.parquet").to_pylist()
    assert [row["file"] for row in events if row["type"] == "header"] == [str(minuet), str(song)]


def test_python_minus_m(song: Path, tmp_path: Path) -> None:
    run_program("analyze", song, "-o", tmp_path / "song.jsonl")
    command = [sys.executable, "-m", "hemiola_audio", "to-parquet", str(tmp_path / "song.jsonl")]
    subprocess.run(command, check=True)
    assert (tmp_path / "song.parquet").exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.jsonl", "a.parquet"), ("a.jsonl.zst", "a.parquet"), ("a.b.json", "a.b.parquet"), ("a.txt", "a.txt.parquet"), ("a.zst", "a.parquet")],
)
def test_output_path(name: str, expected: str) -> None:
    assert output_path(Path("x") / name) == Path("x") / expected


def test_key_of_a_later_version_is_kept(song: Path, tmp_path: Path) -> None:
    records = run_program("analyze", song, "--analyzer", "levels").splitlines(keepends=True)
    (tmp_path / "song.jsonl").write_bytes(b"".join([*records, b'{"type":"new","t":1.0,"sparkle":[1,2]}\n']))
    assert main(["to-parquet", str(tmp_path / "song.jsonl")]) == 0
    last = pyarrow.parquet.read_table(tmp_path / "song.events.parquet").to_pylist()[-1]
    assert last["type"] == "new" and last["t"] == 1.0 and json.loads(last["more"]) == {"sparkle": [1, 2]}


def test_incomplete_last_line_is_left_out_and_reported(song: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = run_program("analyze", song, "--analyzer", "levels")
    (tmp_path / "song.jsonl").write_bytes(records[:-5])
    assert main(["to-parquet", str(tmp_path / "song.jsonl")]) == 1
    assert "the last line is incomplete" in capsys.readouterr().err
    assert pyarrow.parquet.read_metadata(tmp_path / "song.parquet").num_rows == 173


FAULTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "text": (b"hello\n", "not a record"),
    "no header": (b'{"type":"batch","n":0}\n', "select header too"),
    "not an object": (b"[1]\n", "not a record"),
    "damaged zstd": (b"\x28\xb5\x2f\xfd" + b"damage" * 20, "(?i)zstd"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_unusable_input_leaves_no_file(tmp_path: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    import re

    content, message = FAULTS[fault]
    (tmp_path / "song.jsonl").write_bytes(content)
    assert main(["to-parquet", str(tmp_path / "song.jsonl")]) == 1
    line = capsys.readouterr().err
    assert line.startswith(f"hemiola_audio: {tmp_path}/song.jsonl: ") and re.search(message, line) and line.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["song.jsonl"]


def test_truncated_zstd_leaves_no_file(song: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_program("analyze", song, "-o", tmp_path / "song.jsonl.zst")
    whole = (tmp_path / "song.jsonl.zst").read_bytes()
    (tmp_path / "song.jsonl.zst").write_bytes(whole[: len(whole) // 2])
    assert main(["to-parquet", str(tmp_path / "song.jsonl.zst")]) == 1
    assert "song.jsonl.zst" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["song.jsonl.zst"]


def test_other_features_in_one_file_are_refused(song: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [run_program("analyze", song, "--analyzer", analyzer) for analyzer in ("levels", "spectrum")]
    (tmp_path / "both.jsonl").write_bytes(b"".join(parts))
    assert main(["to-parquet", str(tmp_path / "both.jsonl")]) == 1
    assert "different analyzers separately" in capsys.readouterr().err


def test_missing_input_and_output(song: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["to-parquet", str(tmp_path / "nothing.jsonl")]) == 1
    assert "nothing.jsonl: No such file or directory" in capsys.readouterr().err
    run_program("analyze", song, "-o", tmp_path / "song.jsonl")
    assert main(["to-parquet", str(tmp_path / "song.jsonl"), "-o", str(tmp_path / "nothing" / "x.parquet")]) == 3
    assert "x.parquet" in capsys.readouterr().err


def test_existing_file_is_unchanged_after_a_failure(song: Path, tmp_path: Path) -> None:
    (tmp_path / "song.parquet").write_text("old")
    (tmp_path / "song.jsonl").write_bytes(run_program("analyze", song, "--analyzer", "levels") + b"damage\n")
    assert main(["to-parquet", str(tmp_path / "song.jsonl")]) == 1
    assert (tmp_path / "song.parquet").read_text() == "old"


def test_input_error_of_a_stream(text_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not audio"):
        stream(text_file).to_parquet(tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()


def test_program_refuses_parquet_with_the_remedy(song: Path, tmp_path: Path, program: str) -> None:
    result = subprocess.run([program, "analyze", song, "-o", tmp_path / "x.parquet"], capture_output=True, text=True)
    assert result.returncode == 2 and "python3 -m hemiola_audio to-parquet" in result.stderr


def test_summaries_are_rows_of_one_file(minuet: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.wav").write_bytes(b"")
    arguments = ["analyze", "--summary", "--select", "title,album,bpm,levels.channel_rms_db", tmp_path / "empty.wav", minuet]
    outcome = subprocess.run([program(), *map(str, arguments)], capture_output=True, check=False)
    assert outcome.returncode == 1
    source = tmp_path / "songs.jsonl"
    source.write_bytes(outcome.stdout)
    assert main(["to-parquet", str(source)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.wav", "songs.jsonl", "songs.parquet"]
    table = pyarrow.parquet.read_table(tmp_path / "songs.parquet")
    failed, song = table.to_pylist()
    assert "empty.wav" in failed["error"] and song["error"] is None
    assert failed["rhythm.bpm"] is None and song["rhythm.bpm"] == 104.01
    assert song["tags.title"].startswith("Minuet") and len(song["features.levels.channel_rms_db.mean"]) == 2
    # No song has an album.
    assert table.schema.field("tags.album").type == pyarrow.string()
    assert table.schema.field("rhythm.bpm").type == pyarrow.float64()


def test_a_recording_of_another_schema_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "old.jsonl"
    source.write_text('{"type":"header","schema":1}\n')
    assert main(["to-parquet", str(source), "-o", str(tmp_path / "x.parquet")]) == 1
    assert "old.jsonl: schema 1 is not supported" in capsys.readouterr().err
