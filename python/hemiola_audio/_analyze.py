"""Analysis of one file or array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ._input import Input
from ._options import Options, PathLike
from ._result import Analysis
from ._stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


def analyze(
    source: PathLike | NDArray[Any],
    *,
    sample_rate: float | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> Analysis:
    """Analyses a file or an array of samples. For several files and folders: `analyze_many`.

    source: a path, or an array: (frames,) for mono, else (channels, frames) as of librosa or (frames, channels) as of soundfile. The
        axis of 1 to 32 elements contains the channels; if both axes are that short, or both longer, pass `channel_axis` (0 or 1).
        Floating-point samples are in −1…1; integers of 8, 16 and 32 bits are divided by their full scale.
    sample_rate: of an array, in hertz. A file has its own.
    analyzers: plugins with settings, as `--analyzer`: "levels", ["levels", "spectrum:bands=40,mfcc=13"], "+spectrum:mfcc=13,as=timbre".
    select: only these records or features, as `--select`: "levels.rms_db,beat". Header, gaps and end are always included.
    whole_file: False: results from the preceding audio only, as of `listen`. By default the whole input is read first, if it can be; True: an error if not.
    batch: frames per batch, 256…8192. Default: 1024.
    start, duration: the part of a file, in seconds or as "1:30". Of an array, pass a slice.

    The result contains the output of the program: about 1.3 KB per batch with all analyzers, 3.4 MB per minute. `stream` has bounded
    memory.

    Raises InputError (the input cannot be read; FolderError: it is a folder), UsageError (a setting is invalid), ValueError or TypeError (the
    array is not usable).
    Warns with PartialInputWarning if the input is truncated or damaged; the result contains what was analysed.
    """
    input = Input(source, options, sample_rate, channel_axis)
    with Stream(input.process()) as records:
        lines = list(records.lines())
        return Analysis(lines, error=records.error, input=input)


def stream(
    source: PathLike | NDArray[Any],
    *,
    sample_rate: float | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> Stream:
    """Analyses a file or an array, and returns an iterator over the records as the program writes them.

    Memory does not depend on the length of the file. The arguments are those of `analyze`.
    """
    return Stream(Input(source, options, sample_rate, channel_axis).process())


def tempo(source: PathLike | NDArray[Any], *, sample_rate: float | None = None, channel_axis: int | None = None) -> float | None:
    """The tempo of a file or an array in beats per minute, from its beats; None: it has none."""
    return analyze(source, sample_rate=sample_rate, channel_axis=channel_axis, analyzers="beat", select="beat").tempo
