#!/usr/bin/env python3
"""Scores the beats or onsets of Hemiola and of other programs on annotated music.

    peer_accuracy.py HEMIOLA DATA [--python PYTHON] [-- OPTION …]

DATA contains audio/ID.* and annotations/ID.beats or ID.onsets, as for `make accuracy`. The estimates of the programs are written to
.build/peers/estimates. Tests/Accuracy/accuracy.py scores them, with the options after --: live methods against --causal of
Hemiola, and whole-file methods against its default.

Exit status: 0 success, 1 a program failed or is missing, 2 wrong usage.
"""

import argparse
import glob
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from peer_programs import ENVIRONMENT, FILE, PYTHON, ROOT, TASKS, WORK, fail, set_up  # noqa: E402

SCORE = ROOT / "Tests" / "Accuracy" / "accuracy.py"
# The options of `hemiola analyze` for the same method, by task.
METHODS = {"beat": {"beats, live method": ["--causal"], "beats, whole file": []}, "onset": {"onsets": ["--causal"]}}


def estimate(peer, files, folder, suffix):
    """Writes the events that a program detects in the files into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if peer.is_library:
        command = [*peer.command[:-1], "--output", folder, *files]
        if subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            fail(f"{peer.name} failed")
        return
    for file in files:
        with tempfile.NamedTemporaryFile(suffix=".wav") as copy:
            # All programs read WAV files.
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", file, "-vn", copy.name], check=True)
            command = [copy.name if word == FILE else word for word in peer.command]
            run = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if run.returncode:
            fail(f"{peer.name}: {file.name}: {run.stderr.strip()[-300:]}")
        # vamp-simple-host prints a colon after the time.
        lines = [line.replace(":", " ").split() for line in run.stdout.splitlines()]
        times = [words for words in lines if words and re.fullmatch(r"\d+(\.\d+)?", words[0])]
        (folder / f"{file.stem}{suffix}").write_text("".join(" ".join(words[:2]) + "\n" for words in times))


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hemiola")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--python", default="python3")
    arguments = parser.parse_args(own)
    annotations = arguments.data / "annotations"
    kind = "onset" if list(annotations.glob("*.onsets")) else "beat"
    files = sorted(p for p in (arguments.data / "audio").glob("*") if list(annotations.glob(f"{glob.escape(p.stem)}.*")))
    if not files:
        fail(f"{arguments.data}: no files in audio/ with annotations in annotations/")
    installed, missing = set_up(arguments.python)
    for task in TASKS:
        if task.name not in METHODS[kind]:
            continue
        command = [PYTHON / "bin" / "python", SCORE, arguments.data, "--hemiola", pathlib.Path(arguments.hemiola).resolve(), "--kind", kind]
        for peer in task.peers:
            if peer.package in installed:
                name = re.sub(r"\W+", "-", peer.name)
                estimate(peer, files, WORK / "estimates" / name, f".{kind}s")
                command += ["--peer", f"{name}={WORK / 'estimates' / name}"]
        print(f"\n== {task.name}\n", flush=True)
        if subprocess.run([*command, "--", *METHODS[kind][task.name], *options]).returncode:
            sys.exit(1)
    sys.exit(1 if missing else 0)


main()
