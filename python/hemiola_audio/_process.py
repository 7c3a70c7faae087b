"""One process of the program, with bounded memory, that is always ended and reaped."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from typing import IO

from ._errors import HemiolaError, error
from ._program import program

# Of the program's messages, the last ones are kept.
_MESSAGE_BYTES = 64 * 1024
# Time to wait for the end of standard error after the end of the program: a child of the program may have it open.
_MESSAGE_SECONDS = 2.0
_BUFFER_BYTES = 256 * 1024


class _Messages:
    """Reads standard error in a thread, so that the program never waits for it. Keeps its last lines."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._pipe = pipe
        self._thread = threading.Thread(target=self._read, name="hemiola messages", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._pipe:
            while line := self._pipe.readline(_MESSAGE_BYTES):
                self._lines.append(line)
                self._size += len(line)
                while self._size > _MESSAGE_BYTES and len(self._lines) > 1:
                    self._size -= len(self._lines.popleft())

    def text(self) -> str:
        """The messages, without the name of the program. Waits until the program has closed standard error."""
        self._thread.join(_MESSAGE_SECONDS)
        lines = (line.decode("utf-8", "replace").rstrip("\n").removeprefix("hemiola: ") for line in list(self._lines))
        return "\n".join(line for line in lines if line)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and its children (ffmpeg), reaps it, and closes its pipes. The thread of the messages closes standard error."""
    if process.poll() is None:
        # The process is the leader of its group, and is not reaped yet: the identifier cannot be that of another process. SIGTERM would
        # not end a program that waits for the reader of its output.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                # Unwritten bytes of a pipe without a reader.
                pass


class Process:
    """`hemiola ARGUMENTS`. Its standard output is read as lines; its standard error is collected.

    The process is ended by `close()`, when the object is deleted, and when Python exits. It is in a session of its own: a Ctrl-C in the
    terminal raises KeyboardInterrupt in Python, which then ends the process.
    """

    def __init__(self, arguments: Sequence[str], *, has_input: bool = False) -> None:
        command = [program(), *arguments]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=_BUFFER_BYTES,
                start_new_session=True,
            )
        except OSError as fault:
            raise HemiolaError(f"{command[0]}: cannot be started: {fault.strerror}") from fault
        assert self._process.stdout is not None and self._process.stderr is not None
        self._output = self._process.stdout
        self._messages = _Messages(self._process.stderr)
        self._writer: threading.Thread | None = None
        self._writer_fault: BaseException | None = None
        self._finalizer = weakref.finalize(self, _stop, self._process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def read_line(self) -> bytes:
        """The next line of standard output; empty at its end."""
        return self._output.readline()

    def read(self) -> bytes:
        """All of standard output."""
        return self._output.read()

    def write(self, data: bytes) -> None:
        """Writes to standard input at once. Raises BrokenPipeError if the program has closed it."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def close_input(self) -> None:
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass

    def write_all(self, blocks: Iterable[bytes]) -> None:
        """Writes all blocks to standard input in a thread, then closes it."""
        pipe = self._process.stdin
        assert pipe is not None

        def write() -> None:
            try:
                for block in blocks:
                    pipe.write(block)
                pipe.close()
            except (OSError, ValueError):
                # The program has ended or was stopped: its exit code and its message name the reason.
                pass
            except BaseException as fault:
                self._writer_fault = fault
                # The program would analyse the incomplete input as if it were complete.
                self._process.kill()

        self._writer = threading.Thread(target=write, name="hemiola input", daemon=True)
        self._writer.start()

    def wait(self) -> tuple[int, str]:
        """Waits for the end of the program. Returns its exit code and its messages. Raises what the thread of `write_all` raised."""
        exit_code = self._process.wait()
        if self._writer is not None:
            self._writer.join()
        message = self._messages.text()
        self.close()
        if self._writer_fault is not None:
            raise self._writer_fault
        return exit_code, message

    def close(self) -> None:
        """Ends the program if it runs, and reaps it. May be called again."""
        if self._finalizer.detach() is None:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        # Without a reader, the thread that writes ends with EPIPE. It closes the pipe.
        if self._writer is not None:
            self._writer.join()
        _stop(self._process)
        self._messages.text()


def output_of(arguments: Sequence[str]) -> bytes:
    """The standard output of a short run. Raises the exception of its exit code."""
    process = Process(arguments)
    try:
        output = process.read()
        exit_code, message = process.wait()
    finally:
        process.close()
    if exit_code != 0:
        raise error(exit_code, message)
    return output
