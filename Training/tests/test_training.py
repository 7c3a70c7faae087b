import json
import sys

import numpy as np
import pytest
import soundfile
import torch

from beats import dataset, evaluate, export, features, model, real, render, styles, train


def write_excerpts(folder, count=10):
    """Excerpts of 24 s with a stroke in all bands at each beat, at different tempi."""
    (folder / "items").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for index in range(count):
        beats = np.arange(0.5, 23.5, 60 / rng.uniform(80, 160))
        amplitudes = rng.rayleigh(1e-3, (2400, features.BANDS))
        for offset, level in enumerate((0.3, 0.2, 0.1)):
            amplitudes[np.round(beats * 100).astype(int) + offset] += level
        about = {"piece": f"piece{index}", "style": "strokes", "fold": index % 5, "fonts": ["one"], "delay": False, "has_onsets": True, "seed": 0}
        np.savez(folder / "items" / f"{index:06d}.npz", beats=beats.astype(np.float32), onsets=beats.astype(np.float32),
                 positions=(1 + np.arange(len(beats)) % 4).astype(np.int8), bands0=features.to_bytes(amplitudes),
                 hop0=np.float32(features.FRAME_SECONDS), about=json.dumps(about))


def run(monkeypatch, module, *arguments):
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    module.main()


def test_training_resumes_and_its_checkpoint_is_scored_and_exported(tmp_path, monkeypatch, capsys):
    write_excerpts(tmp_path)
    checkpoint = tmp_path / "a.pt"
    run(monkeypatch, train, tmp_path, checkpoint, "--fold", "0", "--steps", "1")
    run(monkeypatch, train, tmp_path, checkpoint, "--fold", "0", "--steps", "3")
    output = capsys.readouterr().out
    assert "8 training, 2 validation excerpts" in output and "step 1 of 3" in output and "epoch 3 step 3" in output
    network = model.load(checkpoint)
    assert export.from_file(export.to_file(network)).is_causal
    run(monkeypatch, evaluate, tmp_path / "items", checkpoint, "onsets", "--limit", "3")
    output = capsys.readouterr().out
    assert "| strokes | 3 |" in output and "F against a.pt" in output
    onsets = output[output.index("| onsets |"):].splitlines()[2].split("|")
    assert float(onsets[5]) > 0.9  # AMLt of the onset activation on steady strokes.


def test_training_begins_with_a_weights_file(tmp_path, monkeypatch, capsys):
    write_excerpts(tmp_path)
    weights, checkpoint = tmp_path / "a.bin", tmp_path / "a.pt"
    start = model.BeatNetwork(width=16, is_causal=False).eval()
    weights.write_bytes(export.to_file(start, 32))
    run(monkeypatch, train, tmp_path, checkpoint, "--from", weights, "--rate", "1e-6", "--whole-file", "--steps", "1")
    x = torch.rand(1, 2, 300, features.BANDS)
    with torch.no_grad():
        assert torch.allclose(model.load(checkpoint)(x, x[:, 0, :, 0]), start(x, x[:, 0, :, 0]), atol=1e-4)
    run(monkeypatch, evaluate, tmp_path / "items", weights, checkpoint, "--limit", "3", "--noise", "10")
    assert "F against a.bin: +0.000" in capsys.readouterr().out
    wide = tmp_path / "wide.pt"
    run(monkeypatch, train, tmp_path, wide, "--from", weights, "--width", "24", "--tempo-head", "--bar-head", "--whole-file", "--steps", "1")
    assert model.load(wide).settings["width"] == 24 and model.load(wide).tempo_head is not None
    with pytest.raises(SystemExit):
        run(monkeypatch, train, tmp_path, tmp_path / "b.pt", "--from", weights, "--steps", "1")
    assert "the network is for whole files" in capsys.readouterr().err


def test_pieces_are_spread_over_all_folds():
    assert {render.fold_of(f"pop/{index}") for index in range(50)} == set(range(render.FOLDS))


@pytest.mark.parametrize("kind", ["complete", "partial"])
def test_archives_are_unpacked_once(tmp_path, kind):
    import tarfile
    source, folder = tmp_path / "data", tmp_path / "work"
    source.mkdir()
    (source / "DO-NOT-USE.txt").write_text("a.mid\n")
    (source / "x.txt").write_text("x")
    with tarfile.open(source / "training-x.tar.xz", "w:xz") as archive:
        archive.add(source / "x.txt", "scores/x.txt")
    raw = render.unpack(source, folder)
    assert (raw / "scores/x.txt").read_text() == "x" and (raw / "DO-NOT-USE.txt").exists()
    if kind == "partial":
        (raw / "training-x.tar.xz.done").unlink()
        (raw / "scores/x.txt").unlink()
    else:
        (raw / "scores/x.txt").write_text("changed")
    render.unpack(source, folder)
    assert (raw / "scores/x.txt").read_text() == ("x" if kind == "partial" else "changed")


def test_pieces_kept_for_evaluation_are_left_out_by_their_name_with_and_without_a_folder():
    text = "# Kept\nharp.mid\n\nopenewld/Maple Leaf.mxl\n"
    assert styles.excluded_names(text) == {"harp.mid", "Maple Leaf.mxl"}


def test_excerpts_that_are_rendered_meanwhile_join_at_the_next_epoch(tmp_path, monkeypatch, capsys):
    write_excerpts(tmp_path, 8)
    later = (tmp_path / "items" / "000007.npz").rename(tmp_path / "later.npz")
    validated = train.validation_loss

    def render(*arguments, **options):
        if later.exists():
            later.rename(tmp_path / "items" / "000007.npz")
        return validated(*arguments, **options)

    monkeypatch.setattr(train, "validation_loss", render)
    monkeypatch.setattr(train, "BATCH", 7)
    run(monkeypatch, train, tmp_path, tmp_path / "a.pt", "--steps", "2")
    assert "7 training" in capsys.readouterr().out
    assert torch.load(tmp_path / "a.pt", weights_only=True)["excerpts"] == 8


def test_annotated_recordings_keep_their_labels(tmp_path, monkeypatch):
    for folder in ("audio", "annotations", "out"):
        (tmp_path / folder).mkdir()
    soundfile.write(tmp_path / "audio/a.wav", np.random.default_rng(0).normal(0, 0.1, features.SAMPLE_RATE * 3), features.SAMPLE_RATE)
    (tmp_path / "annotations/a.beats").write_text("0.5\t4\n1.0\t1\n1.5\n")
    (tmp_path / "annotations/b.beats").write_text("0.5\t4\n")
    run(monkeypatch, real, tmp_path / "out", "annotated", tmp_path)
    excerpt, = dataset.load(tmp_path / "out")
    assert np.allclose(excerpt.marked_beats, [0.5, 1.0, 1.5]) and excerpt.positions.tolist() == [4, 1, 0]
    assert len(excerpt.variants[0][0]) == 300


def test_the_table_of_levels_says_how_often_a_tempo_is_doubled():
    text = evaluate.levels_table("a", [60, 65, 90, 130], [2.01, 1.0, 0.99, 0.51])
    assert "| 55–70 | 2 | 0.50 | 0.50 | 0.00 |" in text and "| 85–100 | 1 | 1.00 |" in text and "| 120–140 | 1 | 0.00 | 0.00 | 1.00 |" in text


def test_bars_are_right_if_most_beats_have_their_place():
    beats = np.arange(0, 10, 0.5)
    places = 1 + np.arange(20) % 4
    assert evaluate.are_bars_right(beats, places, beats + 0.02, places)
    assert not evaluate.are_bars_right(beats, places, beats + 0.02, np.roll(places, 1))
    assert not evaluate.are_bars_right(beats, places, beats + 0.25, places)
    assert not evaluate.are_bars_right(beats, places, beats, np.zeros(20, int))


def test_a_loop_begins_with_a_bar_and_has_whole_beats(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "out").mkdir()
    soundfile.write(tmp_path / "package/a.wav", np.random.default_rng(0).normal(0, 0.1, features.SAMPLE_RATE * 6), features.SAMPLE_RATE)
    (tmp_path / "index.tsv").write_text("key\tpackage\tpath\tduration\tmeter\tbeats\nk\tpackage\ta.wav\t6.0\t3\t12\nl\tpackage\tb.wav\t6.0\t3\t12\n")
    run(monkeypatch, real, tmp_path / "out", "loops", tmp_path / "index.tsv", tmp_path)
    excerpt, = dataset.load(tmp_path / "out")
    assert np.allclose(np.diff(excerpt.beats), 0.5) and excerpt.positions.tolist() == [1, 2, 3] * 4
