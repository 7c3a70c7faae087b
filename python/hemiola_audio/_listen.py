"""Live analysis."""

from __future__ import annotations

from ._options import Options, Specs
from ._process import Process
from ._stream import Stream


def listen(
    device: str | None = None,
    *,
    capture: str | None = None,
    rate: int | str | None = None,
    wait: bool = False,
    analyzers: Specs = None,
    select: Specs = None,
    batch: int | None = None,
) -> Stream:
    """Analyses live audio: an iterator over the records, each about 25 ms after its sound. It has no end; `close()` ends it.

        with hemiola_audio.listen(select="levels.rms_db") as records:
            for record in records:
                ...

    device: a name or description from `hemiola devices`, "auto" (what this computer plays; the default), "auto-input" (the default
        input) or "app:NAME" (one application). A microphone is captured only if it is named.
    capture: a capture plugin instead, as `--capture`: "tone:clicks".
    rate: the sample rate in hertz; "native": that of the device. Default: that of the sound server.
    wait: wait for the sound server or the device instead of an error.

    The defaults file of `hemiola listen` is not read: the result depends on the arguments only.

    If the records are read too slowly, the program drops its oldest batches and reports them in a record of the type `dropped`.
    Raises InputError if the source cannot be opened.
    """
    arguments = ["listen", "--json", "--no-defaults", *Options(analyzers, select, batch).arguments()]
    if device is not None:
        arguments.append(f"--device={device}")
    if capture is not None:
        arguments.append(f"--capture={capture}")
    if rate is not None:
        arguments.append(f"--rate={rate}")
    if wait:
        arguments.append("--wait")
    return Stream(Process(arguments))
