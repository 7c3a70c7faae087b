"""A warm process for many files."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Literal, overload

from ._errors import CrashError, FolderError, HemiolaError, InputError, OutputError, PartialInputWarning, UsageError, error, warn
from ._input import Input
from ._options import Options, PathLike, option_arguments, path_argument
from ._process import Process
from ._records import decode
from ._result import Analysis
from ._summary import folder_summaries

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

# Bytes of paths on the way to the program: less than a pipe contains, so that writing never waits for the program.
_PATH_BYTES = 32 * 1024


class Worker:
    """One process that analyses one file after another: a file costs no start of the program.

        with hemiola_audio.Worker(analyzers="levels") as worker:
            for path in paths:
                print(path, worker.analyze(path).end)

    The process starts with the first file. If it crashes, the next file starts another one; the file at which it crashed is tried a
    second time. The arguments are those of `analyze`. Several threads may use one worker: their files take turns.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self._options = options
        self._arguments = option_arguments(options)
        self._lock = threading.Lock()
        self._connection: _Connection | None = None

    @property
    def pid(self) -> int | None:
        """The identifier of the running process; None: it is started with the next file."""
        return None if self._connection is None else self._connection.process.pid

    def analyze(self, path: PathLike) -> Analysis:
        """Analyses a file.

        Raises InputError if it cannot be read, and CrashError if the program crashes at it twice. Warns with PartialInputWarning if
        the file is truncated or damaged. The worker can be used after each of them.
        """
        text = _checked(path)
        with self._lock:
            try:
                return self._exchange(text)
            except CrashError:
                return self._exchange(text)

    def close(self) -> None:
        """Ends the process. The next file starts another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.process.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _exchange(self, path: str) -> Analysis:
        if self._connection is None:
            self._connection = _Connection(self._arguments, jobs=1)
        try:
            self._connection.send(path)
            answer = self._connection.receive(path, self._options)
        except BaseException:
            # The process has ended, or an interrupt left a part of the answer in its pipe.
            self.close()
            raise
        if isinstance(answer, InputError):
            raise answer
        return answer


@overload
def analyze_many(
    paths: PathLike,
    *,
    jobs: int | None = None,
    **options: Unpack[Options],
) -> pandas.DataFrame: ...
@overload
def analyze_many(
    paths: Iterable[PathLike],
    *,
    jobs: int | None = None,
    return_exceptions: Literal[False] = False,
    **options: Unpack[Options],
) -> Iterator[Analysis]: ...
@overload
def analyze_many(
    paths: Iterable[PathLike],
    *,
    jobs: int | None = None,
    return_exceptions: Literal[True],
    **options: Unpack[Options],
) -> Iterator[Analysis | HemiolaError]: ...
def analyze_many(
    paths: PathLike | Iterable[PathLike],
    *,
    jobs: int | None = None,
    return_exceptions: bool = False,
    **options: Unpack[Options],
) -> Iterator[Analysis | HemiolaError] | pandas.DataFrame:
    """Analyses files with one process. Of a list of paths, yields the results in their order; of a folder, returns a table.

    paths: of a folder, the summaries of the sound files in it and below it, a row per file, with a progress bar if tqdm is installed. The
        columns are those of `hemiola schema --columns --summary`. A file that failed or was incomplete has a text in the column
        `error`; one PartialInputWarning says how many there are. Needs pandas.
        A list may be endless: 2 · jobs + 2 paths are read ahead of the results. If results are not consumed, the program waits.
    jobs: the number of files to analyse in parallel; 0: one per processor. It does not change the results. Default: 1, of a folder 0.
    analyzers: by default of a folder, also key and loudness.
    return_exceptions: yield the exception of a file in its place, instead of raising it. By default the first one ends the iteration.

    If the program crashes, the files that it had not completed are analysed again, one at a time. A file at which it crashes alone
    has a CrashError. The other arguments are those of `analyze`.
    """
    if jobs is None:
        jobs = 0 if isinstance(paths, (str, os.PathLike)) else 1
    if jobs < 0:
        raise ValueError(f"jobs is {jobs}: it is 0 (one per processor) or more")
    arguments = option_arguments(options)
    if isinstance(paths, (str, os.PathLike)):
        if not os.path.isdir(paths):
            raise TypeError(f"{os.fspath(paths)!r} is not a folder; pass a list of paths, or use analyze")
        if options.get("select") is not None or options.get("whole_file") is not None:
            raise ValueError("select and whole_file belong to a list of paths; a table has all columns, of whole files")
        return folder_summaries(path_argument(paths), options, jobs)
    return _many(iter(paths), arguments, options, jobs or len(os.sched_getaffinity(0)), return_exceptions)


def _many(
    paths: Iterator[PathLike], arguments: list[str], options: Options, jobs: int, return_exceptions: bool
) -> Iterator[Analysis | HemiolaError]:
    waiting: deque[str] = deque()  # read from `paths`, not sent
    sent: deque[str] = deque()
    sent_bytes = 0
    # After a crash: the number of files to analyse one at a time, because one of them is the reason.
    isolated = 0
    connection: _Connection | None = None
    try:
        while True:
            limit = 1 if isolated else 2 * jobs + 2
            try:
                if connection is None:
                    connection = _Connection(arguments, jobs)
                while len(sent) < limit:
                    if not waiting:
                        following = next(paths, None)
                        if following is None:
                            break
                        waiting.append(_checked(following))
                    size = len(os.fsencode(waiting[0])) + 1
                    if sent and sent_bytes + size > _PATH_BYTES:
                        break
                    sent.append(waiting.popleft())
                    sent_bytes += size
                    connection.send(sent[-1])
                if not sent:
                    return
                answer: Analysis | HemiolaError = connection.receive(sent[0], options)
            except CrashError as fault:
                if connection is not None:
                    connection.process.close()
                    connection = None
                if not isolated:
                    isolated = len(sent)
                    waiting.extendleft(reversed(sent))
                    sent.clear()
                    sent_bytes = 0
                    continue
                answer = fault
            sent_bytes -= len(os.fsencode(sent.popleft())) + 1
            isolated = max(0, isolated - 1)
            if isinstance(answer, HemiolaError) and not return_exceptions:
                raise answer
            yield answer
    finally:
        if connection is not None:
            connection.process.close()


class _Connection:
    """A process that reads paths and writes their records in the same order."""

    def __init__(self, arguments: list[str], jobs: int) -> None:
        self.process = Process(["analyze", *arguments, f"--jobs={jobs}", "--files-from", "-", "--null"], has_input=True)

    def send(self, path: str) -> None:
        try:
            self.process.write(os.fsencode(path) + b"\0")
        except BrokenPipeError:
            raise self._fault() from None

    def receive(self, path: str, options: Options) -> Analysis | InputError:
        """The result of the path that was sent first; InputError if the file cannot be read.

        Raises CrashError, UsageError or OutputError if the program has ended.
        """
        lines: list[bytes] = []
        while True:
            line = self.process.read_line()
            if not line.endswith(b"\n"):
                raise self._fault()
            if line.startswith(b'{"type":"failure"'):
                fault = _message(decode(line), path)
                return FolderError(path) if os.path.isdir(path) else InputError(fault, 1)
            lines.append(line)
            if line.startswith(b'{"type":"end"'):
                record = decode(line)
                damage = _message(record, path) if record.get("error") else None
                if damage:
                    warn(damage, PartialInputWarning)
                return Analysis(lines, error=damage, input=Input(path, options))

    def _fault(self) -> HemiolaError:
        exit_code, message = self.process.wait()
        fault = error(exit_code, message)
        if isinstance(fault, (UsageError, OutputError)):
            return fault
        return CrashError(f"hemiola ended before it had answered (exit code {exit_code}): {message}", exit_code)


def _message(record: dict[str, object], path: str) -> str:
    """The error of a record. The record of another file is a fault of the program."""
    name = str(record.get("file"))
    if name != path and "file_base64" not in record:
        raise HemiolaError(f"hemiola answered for {name!r} instead of {path!r}")
    message = str(record["error"])
    return message if message.startswith(name) else f"{name}: {message}"


def _checked(path: PathLike) -> str:
    text = path_argument(path)
    if "\0" in text:
        raise ValueError(f"the path {text!r} contains a NUL character")
    if not text:
        raise ValueError("a path is empty")
    return text
