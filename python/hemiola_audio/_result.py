"""The result of an analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._errors import InputError
from ._input import Input
from ._options import PathLike
from ._records import BATCH_PREFIX, Feature, Record, decode, features_of
from ._stream import Stream
from ._summary import summary_of

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Chord(NamedTuple):
    """A chord, or a part without one."""

    start: float
    """In seconds."""
    end: float
    label: str
    """In Harte's syntax, as mir_eval reads it: `A:min7`; `N`: no chord."""


class Analysis:
    """The records of one input. Iterating decodes them in their order: header, batches with their events, end.

    `tempo`, `beats`, `downbeats`, `onsets`, `key` and `chords` are those of the records. Where the records do not have them, they are an
    AttributeError that names the analyzer.
    """

    def __init__(self, lines: Sequence[bytes], *, error: str | None = None, input: Input | None = None) -> None:
        self._lines = lines
        self._input = input
        self.error = error
        """Why the input was analysed in part only; None: it is complete."""
        if not lines or not lines[0].startswith(b'{"type":"header"'):
            raise InputError("the first record is not a header")

    def __iter__(self) -> Iterator[Record]:
        return map(decode, self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        parts = [repr(self.header["source"]["name"]), f"{self.duration:.1f} s"]
        if self._declares("beat") and self.tempo is not None:
            parts.append(f"{self.tempo:.1f} BPM")
        if self._declares("musical_key") and self.key is not None:
            parts.append(self.key)
        return f"Analysis({', '.join(parts)})"

    @cached_property
    def header(self) -> Record:
        """The header: source, sample rate, analyzers and their features."""
        return decode(self._lines[0])

    @cached_property
    def end(self) -> Record | None:
        """The last record: number of frames and batches, summaries."""
        last = decode(self._lines[-1])
        return last if last["type"] == "end" else None

    @cached_property
    def features(self) -> dict[str, Feature]:
        """The features of a batch, by dotted name: unit, range, edges of the bands."""
        return features_of(self.header)

    @property
    def sample_rate(self) -> int:
        return int(self.header["sample_rate"])

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """The time of each batch's first frame, in seconds. The window of a feature is centred `center_offset_s` of the feature later."""
        return np.array([decode(line)["frame"] for line in self._batches], dtype=np.float64) / self.sample_rate

    def numpy(self, dtype: DTypeLike = np.float32) -> dict[str, NDArray[Any]]:
        """Arrays by dotted name: (batches,), or (batches, values) for a feature that is a list. NaN where the record has null.
        A category, such as a key's tonic, is an array of str, with None, beside its numbers.

        "t" is the time of each batch in seconds, always of type float64. `dtype` is the type of the features.
        """
        names = [(name, *name.split(".", 1)) for name in self.features]
        columns: dict[str, list[Any]] = {name: [] for name in self.features}
        times: list[float] = []
        for line in self._batches:
            record = decode(line)
            times.append(record["t"])
            for name, analyzer, output in names:
                columns[name].append(record[analyzer][output])
        arrays: dict[str, NDArray[Any]] = {"t": np.array(times, dtype=np.float64)}
        for name, feature in self.features.items():
            if feature.labels:
                arrays[name] = np.array(columns.pop(name), dtype=object)
                continue
            shape = (len(times), feature.count) if feature.is_list else (len(times),)
            arrays[name] = np.array(columns.pop(name), dtype=np.float64).reshape(shape).astype(dtype)
        return arrays

    def events(self, kind: str) -> list[Record]:
        """The records of one type, for example "beat", "onset" or "gap"."""
        prefix = b'{"type":"%s"' % kind.encode()
        return [decode(line) for line in self._lines if line.startswith(prefix)]

    @property
    def duration(self) -> float:
        """The duration of the audio in seconds; of an interrupted analysis, of its batches."""
        return float(self.end["t"]) if self.end else len(self._batches) * int(self.header["batch_frames"]) / self.sample_rate

    @cached_property
    def tempo(self) -> float | None:
        """The tempo in beats per minute, of several that with most beats; None: there are no beats, or the analysis was interrupted."""
        # As `rhythm.bpm` of a summary, and `hemiola beats --tempo`.
        tempo: float | None = self._summarized("beat", "beat", "bpm")
        return tempo

    @cached_property
    def beats(self) -> NDArray[np.float64]:
        """The times of the beats in seconds. `events("beat")` also has tempo, position in the bar and confidence."""
        return _times(self._declared("beat", "beat"))

    @cached_property
    def downbeats(self) -> NDArray[np.float64]:
        """The times of the first beats of the bars, in seconds."""
        return _times(beat for beat in self._declared("beat", "beat") if beat["position"] == 1)

    @cached_property
    def onsets(self) -> NDArray[np.float64]:
        """The times of the onsets in seconds. `events("onset")` also has their strength."""
        return _times(self._declared("onset", "beat"))

    @cached_property
    def key(self) -> str | None:
        """The key of the whole input, such as `A minor`; None: it has none."""
        key: str | None = self._summarized("musical_key", "musical-key", "key")
        return key

    @cached_property
    def chords(self) -> list[Chord]:
        """The chords with start and end, without gaps. `events("chord")` also has their roots and qualities."""
        records = self._declared("chord", "chords")
        return [Chord(record["t"], round(record["t"] + record["duration_s"], 6), record["label"]) for record in records]

    def summary(self) -> dict[str, Any]:
        """The row of `analyze_many(FOLDER)`, by column: tags, tempo, key, loudness, and mean and quantiles of each feature.

        It analyses the input once more.
        """
        if self._input is None:
            raise InputError("the input of the records is not known")
        return summary_of(self._input)

    @property
    def gaps(self) -> list[Record]:
        """The lost parts of a truncated or damaged file."""
        return self.events("gap")

    def table(self) -> pyarrow.Table:
        """A row per batch, a column per feature, with dotted names. Types as `hemiola schema --columns`. Needs pyarrow."""
        from ._parquet import batch_table

        return batch_table(self._lines)

    def events_table(self) -> pyarrow.Table:
        """A row per record that is not a batch: header, onsets, beats, gaps, end. Needs pyarrow."""
        from ._parquet import event_table

        return event_table(self._lines)

    def to_pandas(self, *, expand: bool = False) -> pandas.DataFrame:
        """`table()` as a data frame of pandas: a feature that is a list is one column; with `expand` each of its values is one, named as
        in CSV: `spectrum.mfcc[0]`. Needs pyarrow and pandas.
        """
        from ._parquet import expanded

        table = self.table()
        return (expanded(table, self.features) if expand else table).to_pandas()

    def to_parquet(self, path: PathLike) -> None:
        """Writes the batches to `path`, and all other records to the file beside it: song.parquet, song.events.parquet. Needs pyarrow.

        Both files have the header as JSON in their metadata, under the key `hemiola.header`. They are created when they are complete.
        """
        from ._parquet import write_parquet

        write_parquet(self._lines, path)

    @cached_property
    def _batches(self) -> list[bytes]:
        return [line for line in self._lines if line.startswith(BATCH_PREFIX)]

    def _declares(self, output: str) -> bool:
        return any(event["name"] == output for analyzer in self.header["analyzers"] for event in analyzer["events"])

    def _declared(self, output: str, plugin: str) -> list[Record]:
        """The records of an event output. Raises AttributeError if no analyzer of this analysis has it."""
        if not self._declares(output):
            remedy = f"analyze with analyzers='+{plugin}', and if there is a select, with {output!r} in it"
            raise AttributeError(f"the analysis has no records of the type {output!r}: {remedy}")
        return self.events(output)

    def _summarized(self, output: str, plugin: str, value: str) -> Any:
        """A value of the summary of the plugin that has an event output; None: the analysis was interrupted."""
        self._declared(output, plugin)
        name = next((analyzer["id"] for analyzer in self.header["analyzers"] if analyzer["plugin"] == plugin), None)
        return self.end["summaries"][name][value] if self.end and name else None


def _times(records: Iterable[Record]) -> NDArray[np.float64]:
    return np.array([record["t"] for record in records], dtype=np.float64)
