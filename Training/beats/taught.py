"""Excerpts of real music whose labels are those of the whole-file program, where it is consistent.

    python -m beats.taught HEMIOLA OUTPUT FILE... --jobs 2

Free music without annotations, for training: the live network learns from it what the whole-file program, which has heard the whole song,
says of it. A label counts where the program says the same of the song played faster and slower. Never give it recordings of an
evaluation set.
"""
import argparse
import functools
import json
import multiprocessing
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

from . import effects
from .features import HOP, SAMPLE_RATE, band_amplitudes, to_bytes
from .phrases import matches
from .real import read_audio

LONGEST, SECONDS, MOST_EXCERPTS = 420.0, 40.0, 10
# The variants of an excerpt beside the unchanged one. All but the first have a tempo anywhere in this range, as far as the ratio allows:
# the pattern tells the level of the beat, and not how fast it is.
VARIANTS, TEMPI, RATIOS = 3, (58, 175), (0.6, 1.35)
# The song is played at these ratios of its speed, as (up, down) of its number of samples.
SPEEDS = ((1, 1), (16, 15), (14, 15))
TOLERANCE, LEAST_AGREEMENT, LEAST_CONFIDENCE = 0.07, 0.9, 0.6


def listen(hemiola, audio, up, down):
    """Beats as (seconds of the song, place in the bar or 0, confidence), of the song with `up` / `down` of its samples."""
    played = audio if up == down else resample_poly(audio, up, down)
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        soundfile.write(file.name, played / max(1.0, abs(played).max()), SAMPLE_RATE, subtype="FLOAT")
        output = subprocess.run([hemiola, "analyze", file.name, "--analyzer", "beat", "--select", "beat", "-o", "-"], check=True,
                                capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in output.splitlines()]
    return np.array([(row["t"] * down / up, row["position"] or 0, row["confidence"]) for row in rows if row["type"] == "beat"]).reshape(-1, 3)


def agreement(first, second):
    """The F measure of two lists of times."""
    return 2 * matches(first, second, TOLERANCE) / max(1, len(first) + len(second))


def places(beats, others):
    """The place in the bar of each beat where all agree, else 0."""
    result = beats[:, 1].astype(np.int8)
    for other in others:
        near = abs(beats[:, None, 0] - other[None, :, 0])
        same = (near.min(axis=1) <= TOLERANCE) & (other[near.argmin(axis=1), 1] == beats[:, 1])
        result[~same] = 0
    return result


def excerpts(versions, seconds):
    """The accepted (start, beats, places) of a song, in seconds."""
    for start in np.arange(0, seconds - SECONDS / 2, SECONDS):
        parts = [beats[(beats[:, 0] >= start) & (beats[:, 0] < start + SECONDS)] for beats in versions]
        if min(map(len, parts)) < 16 or parts[0][:, 2].mean() < LEAST_CONFIDENCE:
            continue
        if min(agreement(parts[0][:, 0], part[:, 0]) for part in parts[1:]) >= LEAST_AGREEMENT:
            known = places(parts[0], parts[1:])
            # A bar that is known here and there is not known.
            yield start, parts[0][:, 0] - start, known if (known > 0).mean() > 0.8 else np.zeros_like(known)


def teach(hemiola, output, path):
    """Writes the excerpts of a song; (name, number of excerpts, of these with bars)."""
    name = "/".join(Path(path).resolve().parts[-2:])
    try:
        audio = read_audio(path)[:int(LONGEST * SAMPLE_RATE)]
        if len(audio) < SECONDS * SAMPLE_RATE:
            return name, 0, 0
        audio = (audio * (0.5 / max(1e-9, abs(audio).max()))).astype(np.float32)
        versions = [listen(hemiola, audio, *speed) for speed in SPEEDS]
    except (RuntimeError, subprocess.CalledProcessError) as error:
        return f"{name}: {error}", 0, 0
    found = list(excerpts(versions, len(audio) / SAMPLE_RATE))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    chosen = [found[index] for index in np.sort(rng.permutation(len(found))[:MOST_EXCERPTS])]
    for start, beats, known in chosen:
        part = audio[int(start * SAMPLE_RATE):int((start + SECONDS) * SAMPLE_RATE)]
        about = {"piece": name, "style": "taught", "fold": -1, "fonts": ["taught"], "delay": False, "has_onsets": False, "seed": 0}
        result = {"beats": beats.astype(np.float32), "positions": known, "onsets": np.zeros(0, np.float32), "about": json.dumps(about)}
        tempo = 60 / np.median(np.diff(beats))
        for variant in range(1 + VARIANTS):
            ratio = rng.uniform(0.85, 1.17) if variant == 1 else np.clip(np.exp(rng.uniform(*np.log(TEMPI))) / tempo, *RATIOS)
            hop = HOP * (1.0 if variant == 0 else float(ratio))
            sound = part if variant == 0 else effects.random_chain(rng, part)
            result[f"bands{variant}"] = to_bytes(band_amplitudes(sound.astype(np.float32), hop))
            result[f"hop{variant}"] = np.float32(hop / SAMPLE_RATE)
        np.savez_compressed(Path(output) / f"t{zlib.crc32(name.encode()):08x}-{int(start):04d}.npz", **result)
    return name, len(chosen), sum(known.any() for _, _, known in chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("output", help="folder for the excerpts")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    Path(options.output).mkdir(parents=True, exist_ok=True)
    with multiprocessing.Pool(options.jobs) as pool:
        for name, count, bars in pool.imap_unordered(functools.partial(teach, options.hemiola, options.output), options.paths):
            print(f"{name}: {count} excerpts, {bars} with bars", flush=True)


if __name__ == "__main__":
    main()
