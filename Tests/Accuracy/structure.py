#!/usr/bin/env python3
"""Compares the analyzer `structure` with librosa's `segment.agglomerative` on pieces with known segments.

    structure.py [--hemiola PROGRAM] [--music DIR] [--recordings DIR] [--count N] [--first SEED] [--folder DIR]

The pieces are those of structure_music.py: songs and medleys, with DIRs also parts of MIDI files and of recordings. The figures are the F of
the boundaries within 0.5 s and 3 s, without the start and the end (mir_eval.segment.detection, trim), and the F of the labels
(mir_eval.segment.pairwise). librosa has the true number of segments and of labels: beat-synchronous chroma_cqt and MFCC, each
standardized, are divided by segment.agglomerative, and the segments' means are clustered (average linkage). The interval is that of the
mean difference of the whole file and librosa, 95 %, from 2000 bootstrap samples of the pieces. The constants of the analyzer were chosen on
songs and medleys of the seeds 100 to 123 and on parts of other MIDI files; the seeds from --first on are reported.
Needs Python with librosa, soundfile, mido and mir_eval, and fluidsynth with the soundfont FluidR3_GM.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import librosa
import mir_eval
import numpy as np
import sklearn.cluster

import structure_music

KINDS = {"song": "made songs", "medley": "made medleys", "scores": "parts of MIDI files", "recordings": "parts of recordings"}
MEASURES = ("F, 0.5 s", "F, 3 s", "labels")


def reference(path):
    """Boundaries from 0 to the end of the last segment, and labels."""
    lines = [line.split("\t") for line in path.with_suffix(".segments").read_text().splitlines()]
    return np.array([0.0, *(float(time) for time, _ in lines[1:])]), [label for _, label in lines[:-1]]


def ours(program, path, *options):
    """Starts and labels of the segment records of a file."""
    command = [program, "analyze", "--quiet", "--analyzer", "structure", "--select", "segment", *options, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    records = [record for record in map(json.loads, done.stdout.splitlines()) if record["type"] == "segment"]
    # The start of the stream is a segment too; with --causal there is no record of it.
    return [(0.0, None)] * (not records or records[0]["t"] > 0) + [(record["t"], record["label"]) for record in records]


def librosa_segments(path, segment_count, label_count):
    """Starts and labels of librosa's segments."""
    samples, rate = librosa.load(path)
    chroma = librosa.feature.chroma_cqt(y=samples, sr=rate)
    mfcc = librosa.feature.mfcc(y=samples, sr=rate, n_mfcc=13)
    _, beats = librosa.beat.beat_track(y=samples, sr=rate, trim=False)
    beats = librosa.util.fix_frames(beats, x_min=0, x_max=min(chroma.shape[1], mfcc.shape[1]) - 1)
    parts = []
    for values in (chroma, mfcc):
        values = librosa.util.sync(values, beats)
        parts.append((values - values.mean(axis=1, keepdims=True)) / (values.std(axis=1, keepdims=True) + 1e-9))
    features = np.vstack(parts)
    starts = librosa.segment.agglomerative(features, min(segment_count, features.shape[1]))
    means = np.array([part.mean(axis=1) for part in np.split(features, starts[1:], axis=1)])
    clusters = sklearn.cluster.AgglomerativeClustering(min(label_count, len(means)), linkage="average").fit_predict(means)
    times = librosa.frames_to_time(np.concatenate([[0], beats])[starts], sr=rate)
    return [(float(time), str(label)) for time, label in zip(times, clusters)]


def score(segments, times, labels):
    """The F of the boundaries within 0.5 s and 3 s, and that of the labels, which is NaN without labels."""
    end = times[-1]
    found = dict(segment for segment in segments if segment[0] < end - 0.01)
    edges = np.array([*found, end])
    intervals, estimate = np.stack([times[:-1], times[1:]], 1), np.stack([edges[:-1], edges[1:]], 1)
    with warnings.catch_warnings():
        # A piece without any boundary has the score 0.
        warnings.simplefilter("ignore", UserWarning)
        scores = [mir_eval.segment.detection(intervals, estimate, window=window, trim=True)[2] for window in (0.5, 3)]
    if None in found.values():
        return [*scores, np.nan]
    return [*scores, mir_eval.segment.pairwise(intervals, labels, estimate, list(found.values()))[2]]


def interval(differences):
    """The 95 % interval of the mean of some values."""
    samples = np.random.default_rng(0).choice(differences, (2000, len(differences))).mean(axis=1)
    return np.percentile(samples, (2.5, 97.5))


def pieces(arguments, folder):
    """Makes the pieces, and returns their kinds and paths."""
    sources = {"song": (), "medley": ()}
    if arguments.music:
        sources["scores"] = sorted(path for path in arguments.music.rglob("*.mid") if path.parent.name != "versions")
    if arguments.recordings:
        suffixes = {".flac", ".ogg", ".wav", ".mp3"}
        sources["recordings"] = sorted(path for path in arguments.recordings.rglob("*") if path.suffix.lower() in suffixes)
    for kind, files in sources.items():
        if kind in ("scores", "recordings") and len(files) < 6:
            sys.exit(f"structure: {kind}: fewer than six files; choose another folder")
        for seed in range(arguments.first, arguments.first + arguments.count):
            path = folder / f"{kind}-{seed}.flac"
            structure_music.make(path, kind, seed, files)
            yield kind, path


def peer(path, segment_count, label_count):
    """librosa's segments, which are kept beside the piece."""
    kept = path.with_suffix(".librosa.json")
    if not kept.is_file():
        kept.write_text(json.dumps(librosa_segments(path, segment_count, label_count)))
    return [tuple(segment) for segment in json.loads(kept.read_text())]


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hemiola", default=here.parents[1] / ".build/release/hemiola", metavar="PROGRAM")
    parser.add_argument("--music", type=pathlib.Path, metavar="DIR", help="a folder with MIDI files")
    parser.add_argument("--recordings", type=pathlib.Path, metavar="DIR", help="a folder with recordings")
    parser.add_argument("--count", type=int, default=16, help="pieces of each kind")
    parser.add_argument("--first", type=int, default=200, metavar="SEED")
    parser.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="keep the pieces and librosa's results in DIR")
    arguments = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for kind, path in pieces(arguments, folder):
            times, labels = reference(path)
            found = (
                ours(arguments.hemiola, path), ours(arguments.hemiola, path, "--causal"),
                peer(path, len(labels), len(set(labels))))
            rows.setdefault(kind, []).append([score(segments, times, labels) for segments in found])
    print("music\tpieces\tmeasure\twhole file\tlive\tlibrosa\twhole file - librosa")
    for kind, values in [*rows.items(), ("all", [value for values in rows.values() for value in values])]:
        values = np.array(values)
        for index, measure in enumerate(MEASURES):
            whole, live, other = values[:, :, index].T
            low, high = interval(whole - other)
            figures = [f"{value:.3f}" if np.isfinite(value) else "-" for value in (whole.mean(), live.mean(), other.mean())]
            print("\t".join([KINDS.get(kind, kind), str(len(values)), measure, *figures, f"{low:+.3f} to {high:+.3f}"]))


if __name__ == "__main__":
    main()
