"""Live analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._options import Options, option_arguments
from ._process import Process
from ._stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


def listen(
    device: str | None = None,
    *,
    capture: str | None = None,
    rate: int | str | None = None,
    wait: bool = False,
    **options: Unpack[Options],
) -> Stream:
    """Analyses live audio: an iterator over the records, each about 25 ms after its sound. `close()` ends it, or the end of a `duration`.

        with hemiola_audio.listen(select="levels.rms_db") as records:
            for record in records:
                ...

    device: a name or description from `hemiola devices`, "auto" (what this computer plays; the default), "auto-input" (the default
        input) or "app:NAME" (one application). A microphone is captured only if it is named.
    capture: a capture plugin instead, as `--capture`: "tone:clicks".
    rate: the sample rate in hertz; "native": that of the device. Default: that of the sound server.
    wait: wait for the sound server or the device instead of an error.

    The options are those of `analyze`, without `start` and `whole_file`.

    The defaults file of `hemiola listen` is not read: the result depends on the arguments only.

    If the records are read too slowly, the program drops its oldest batches and reports them in a record of the type `dropped`.
    Raises InputError if the source cannot be opened.
    """
    if options.get("start") is not None or options.get("whole_file") is not None:
        raise ValueError("start and whole_file belong to a file")
    arguments = ["listen", "--json", "--no-defaults", *option_arguments(options)]
    if device is not None:
        arguments.append(f"--device={device}")
    if capture is not None:
        arguments.append(f"--capture={capture}")
    if rate is not None:
        arguments.append(f"--rate={rate}")
    if wait:
        arguments.append("--wait")
    return Stream(Process(arguments))
