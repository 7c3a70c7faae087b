"""The result of an analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from dataclasses import replace
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

    `tempo`, `beats`, `onsets`, `key` and `chords` are those of the records. If the records do not have them, the input is analysed
    once more when one of them is used for the first time.
    """

    def __init__(self, lines: Sequence[bytes], *, error: str | None = None, input: Input | None = None) -> None:
        self._lines = lines
        self._input = input
        self._others: dict[str, Analysis] = {}
        self.error = error
        """Why the input was analysed in part only; None: it is complete."""
        if not lines or not lines[0].startswith(b'{"type":"header"'):
            raise InputError("the first record is not a header")

    def __iter__(self) -> Iterator[Record]:
        return map(decode, self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        """What is known without another analysis."""
        parts = [repr(self.header["source"]["name"]), f"{self.duration:.1f} s"]
        if self._has("beat") and self.tempo is not None:
            parts.append(f"{self.tempo:.1f} BPM")
        if self._has("musical_key") and self.key is not None:
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
        result = self._with("beat", "beat")
        # As `rhythm.bpm` of a summary, and `hemiola beats --tempo`.
        name = next((analyzer["id"] for analyzer in result.header["analyzers"] if analyzer["plugin"] == "beat"), None)
        tempo: float | None = result.end["summaries"][name]["bpm"] if result.end and name else None
        return tempo

    @cached_property
    def beats(self) -> NDArray[np.float64]:
        """The times of the beats in seconds. `events("beat")` also has tempo, position in the bar and confidence."""
        return _times(self._with("beat", "beat").events("beat"))

    @cached_property
    def downbeats(self) -> NDArray[np.float64]:
        """The times of the first beats of the bars, in seconds."""
        return _times(beat for beat in self._with("beat", "beat").events("beat") if beat["position"] == 1)

    @cached_property
    def onsets(self) -> NDArray[np.float64]:
        """The times of the onsets in seconds. `events("onset")` also has their strength."""
        return _times(self._with("beat", "onset").events("onset"))

    @cached_property
    def key(self) -> str | None:
        """The key of the whole input, such as `A minor`; None: it has none."""
        result = self._with("musical-key", "musical_key")
        name = next(analyzer["id"] for analyzer in result.header["analyzers"] if analyzer["plugin"] == "musical-key")
        key: str | None = result.end["summaries"][name]["key"] if result.end else None
        return key

    @cached_property
    def chords(self) -> list[Chord]:
        """The chords with start and end, without gaps. `events("chord")` also has their roots and qualities."""
        records = self._with("chords", "chord").events("chord")
        return [Chord(record["t"], round(record["t"] + record["duration_s"], 6), record["label"]) for record in records]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The row of `analyze_many(FOLDER)`, by column: tags, tempo, key, loudness, and mean and quantiles of each feature.

        It takes another analysis, when it is used for the first time.
        """
        return summary_of(self._repeatable("a summary"))

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

    def _has(self, output: str) -> bool:
        return self._declares(output) or output in self._others

    def _with(self, plugin: str, output: str) -> Analysis:
        """The analysis of this input that has an event output: this one, or one by that plugin."""
        if self._declares(output):
            return self
        if output not in self._others:
            input = self._repeatable(output)
            options = replace(input.options, analyzers=plugin, select=output, whole_file=None)
            with Stream(input.process(options)) as records:
                self._others[output] = Analysis(list(records.lines()))
        return self._others[output]

    def _repeatable(self, output: str) -> Input:
        if self._input is None:
            raise InputError(f"the records do not have {output}, and their input is not known")
        return self._input


def _times(records: Iterable[Record]) -> NDArray[np.float64]:
    return np.array([record["t"] for record in records], dtype=np.float64)
