"""Renders training excerpts: `python -m beats.render DATA FOLDER --count 2000`. Resumable; excerpt N depends on seed and N only."""
import argparse
import json
import multiprocessing
import os
import tarfile
import time
import zlib
from pathlib import Path

import numpy as np
import soundfile

from . import effects, styles
from .features import HOP, SAMPLE_RATE, band_amplitudes, to_bytes
from .synthesis import FluidSynth, place

FOLDS = 5
# The first variant of each excerpt is unchanged and serves validation; the others have effects and another hop.
VARIANTS = 3


def pause_while_present(path):
    """Waits while a file exists, so that others can measure times."""
    while path and os.path.exists(path):
        time.sleep(2)


def unpack(data, folder):
    """The folder of the scores: `data` itself, or FOLDER/raw, into which the archives training-*.tar.xz below `data` are unpacked."""
    archives = sorted(Path(data).glob("**/training-*.tar.xz"))
    if not archives:
        return Path(data)
    raw = Path(folder) / "raw"
    for archive in archives:
        if not (raw / f"{archive.name}.done").exists():
            raw.mkdir(parents=True, exist_ok=True)
            with tarfile.open(archive) as file:
                file.extractall(raw, filter="data")
            (raw / f"{archive.name}.done").touch()
    for excluded in Path(data).glob("**/DO-NOT-USE.txt"):
        (raw / excluded.name).write_text(excluded.read_text())
    return raw


def fold_of(piece):
    return zlib.crc32(piece.encode()) % FOLDS


def maker_of(index):
    """The style of an excerpt, from a low-discrepancy sequence: every short run of numbers has all styles in proportion."""
    shares = np.array(list(styles.STYLES.values()))
    return list(styles.STYLES)[int(np.searchsorted(np.cumsum(shares / shares.sum()), (index * 0.618034) % 1))]


def render_excerpt(index, seed, library, synthesizer, audio_path=None):
    """Excerpt number `index` as a dictionary of arrays; its audio without effects is written to `audio_path`."""
    rng = np.random.default_rng([seed, index])
    maker = maker_of(index)
    piece, arrangement = maker(rng, library)
    audio = place(arrangement.hits, styles.SECONDS)
    if arrangement.parts:
        played = synthesizer.render(arrangement.parts, styles.SECONDS, rng.random() < 0.5)
        audio[:len(played)] += played
    peak = abs(audio).max()
    audio = audio * (0.5 / peak) if peak > 1e-6 else audio
    if audio_path:
        soundfile.write(audio_path, audio, SAMPLE_RATE)
    is_audible = arrangement.onsets[arrangement.onsets < styles.SECONDS - 0.1] if len(arrangement.onsets) else np.zeros(0)
    keep = arrangement.beats < styles.SECONDS - 0.1
    if len(is_audible):
        # Beats before the first and after the last note are not labelled.
        keep &= (arrangement.beats > is_audible.min() - 0.1) & (arrangement.beats < is_audible.max() + 1.0)
    result = {
        "beats": arrangement.beats[keep].astype(np.float32), "positions": arrangement.positions[:len(keep)][keep].astype(np.int8),
        "onsets": np.unique(np.round(is_audible, 3)).astype(np.float32), "drums": arrangement.drums.astype(np.float32),
    }
    for variant in range(VARIANTS):
        hop = HOP if variant == 0 else HOP * float(np.exp(rng.uniform(np.log(0.85), np.log(1.17))))
        sound = audio if variant == 0 else effects.random_chain(rng, audio)
        result[f"bands{variant}"] = to_bytes(band_amplitudes(sound.astype(np.float32), hop))
        result[f"hop{variant}"] = np.float32(hop / SAMPLE_RATE)
    result["about"] = json.dumps({"piece": piece, "style": maker.__name__, "fold": fold_of(piece), "fonts": arrangement.fonts,
                                  "delay": arrangement.delay, "has_onsets": arrangement.has_onsets, "seed": seed})
    return result


def path_of(folder, index):
    return Path(folder) / "items" / f"{index:06d}.npz"


_state = {}


def _prepare(data, folder, seed, pause_file, audio):
    _state.update(library=styles.Library(data, Path(folder) / "scores"), synthesizer=FluidSynth(), folder=folder, seed=seed,
                  pause_file=pause_file, audio=audio)


def _render(index):
    path = path_of(_state["folder"], index)
    audio = _state["audio"] and Path(_state["audio"]) / f"{path.stem}.flac"
    if path.exists() and not (audio and not audio.exists()):
        return False
    pause_while_present(_state["pause_file"])
    result = render_excerpt(index, _state["seed"], _state["library"], _state["synthesizer"], audio)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, **result)
    partial.rename(path)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder with the training material, or with its archives training-*.tar.xz")
    parser.add_argument("folder", help="folder for the rendered excerpts")
    parser.add_argument("--count", type=int, default=2000, help="number of excerpts (default 2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first excerpt (default 0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes (default 1)")
    parser.add_argument("--pause-file", help="render nothing while this file exists")
    parser.add_argument("--audio", help="write the excerpts' audio without effects to this folder, for other programs")
    options = parser.parse_args()
    if options.audio:
        Path(options.audio).mkdir(parents=True, exist_ok=True)
    (Path(options.folder) / "items").mkdir(parents=True, exist_ok=True)
    arguments = (unpack(options.data, options.folder), options.folder, options.seed, options.pause_file, options.audio)
    indices = range(options.first, options.first + options.count)
    start, made = time.time(), 0
    if options.jobs > 1:
        pool = multiprocessing.get_context("spawn").Pool(options.jobs, _prepare, arguments)
        results = pool.imap_unordered(_render, indices, chunksize=4)
    else:
        _prepare(*arguments)
        results = map(_render, indices)
    for done, is_new in enumerate(results, 1):
        made += is_new
        if made and made % 50 == 0 and is_new:
            print(f"{done}/{options.count} excerpts, {(time.time() - start) / made:.2f} s each", flush=True)


if __name__ == "__main__":
    main()
