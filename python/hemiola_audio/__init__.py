"""Audio analysis with Hemiola: levels, spectrum, onsets and beats as records, numpy arrays, Arrow tables and Parquet files.

    >>> import hemiola_audio
    >>> song = hemiola_audio.analyze("song.flac")
    >>> song.tempo, song.beats
    >>> song.numpy()["spectrum.centroid_hz"]

The program `hemiola` computes everything. It is part of the wheel; without it, the program of $HEMIOLA or of PATH is started.
"""

from ._analyze import analyze, stream, tempo
from ._errors import (
    CrashError,
    FolderError,
    HemiolaError,
    HemiolaWarning,
    InputError,
    OutputError,
    PartialInputWarning,
    ProgramNotFoundError,
    UsageError,
)
from ._listen import listen
from ._options import Options
from ._program import program
from ._records import Feature, Record
from ._result import Analysis, Chord
from ._stream import Stream
from ._worker import Worker, analyze_many

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Chord",
    "CrashError",
    "Feature",
    "FolderError",
    "HemiolaError",
    "HemiolaWarning",
    "InputError",
    "Options",
    "OutputError",
    "PartialInputWarning",
    "ProgramNotFoundError",
    "Record",
    "Stream",
    "UsageError",
    "Worker",
    "analyze",
    "analyze_many",
    "listen",
    "program",
    "stream",
    "tempo",
]
