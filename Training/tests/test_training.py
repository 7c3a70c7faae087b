import json
import sys

import numpy as np
import pytest
import torch

from beats import evaluate, export, features, model, render, styles, train


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
