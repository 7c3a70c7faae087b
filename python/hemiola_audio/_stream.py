"""Records as they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from ._errors import HemiolaWarning, InputError, PartialInputWarning, error, warn
from ._options import PathLike
from ._process import Process
from ._records import Feature, Record, decode, features_of


class Stream(Iterator[Record]):
    """Iterator over the records of a running analysis. Memory does not depend on the length of the audio.

    Use it in a `with` statement, or call `close()`: this ends the program. At the end of the input, the program has ended already.

    `header` is read when it is needed, and the iterator returns it too, as its first record.
    """

    def __init__(self, process: Process) -> None:
        self._process: Process | None = process
        self._first: bytes | None = None
        self._has_ended = False
        self._header: Record | None = None
        self.end: Record | None = None
        """The record of the end, after it was read."""
        self.error: str | None = None
        """Why the input is incomplete, after its end; None: it is complete."""

    @property
    def header(self) -> Record:
        """The header: source, sample rate, analyzers and their features."""
        if self._header is None:
            self._first = self._read()
            if self._first is None:
                raise InputError("the stream is closed")
            self._header = decode(self._first)
        return self._header

    @property
    def features(self) -> dict[str, Feature]:
        """The features of a batch, by dotted name."""
        return features_of(self.header)

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Record:
        line = self.next_line()
        if line is None:
            raise StopIteration
        record = decode(line)
        if record["type"] == "header":
            self._header = record
        return record

    def lines(self) -> Iterator[bytes]:
        """The lines of the remaining records, not decoded."""
        while (line := self.next_line()) is not None:
            yield line

    def next_line(self) -> bytes | None:
        """The next line, not decoded; None at the end."""
        line, self._first = self._first, None
        return line if line is not None else self._read()

    def to_parquet(self, path: PathLike) -> None:
        """Writes the remaining records to Parquet files, as `Analysis.to_parquet` does, in bounded memory."""
        from ._parquet import write_parquet

        with self:
            write_parquet(self.lines(), path)

    def close(self) -> None:
        """Ends the program and reaps it. May be called again."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _read(self) -> bytes | None:
        process = self._process
        if process is None:
            return None
        try:
            line = process.read_line()
            if line.startswith(b'{"type":"end"'):
                self.end = decode(line)
                self._has_ended = True
            if line.endswith(b"\n"):
                return line
            self._finish(*process.wait())
            return None
        except BaseException:
            # Includes KeyboardInterrupt: the program must not remain.
            self.close()
            raise

    def _finish(self, exit_code: int, message: str) -> None:
        """Reports the end of the program. Raises the exception of an exit code, unless the input was analysed in part."""
        self.close()
        if exit_code == 0:
            if message:
                warn(message.removeprefix("warning: "), HemiolaWarning)
        elif exit_code == 1 and self._has_ended:
            self.error = message
            warn(message, PartialInputWarning)
        else:
            raise error(exit_code, message)
