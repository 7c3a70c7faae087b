"""Where the program is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ._errors import ProgramNotFoundError

_BUNDLED = Path(__file__).resolve().parent / "bin" / "hemiola"


def program() -> str:
    """The path of the program: that of the wheel, else $HEMIOLA, else `hemiola` in PATH.

    Raises ProgramNotFoundError if there is none.
    """
    if os.access(_BUNDLED, os.X_OK):
        return str(_BUNDLED)
    named = os.environ.get("HEMIOLA")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFoundError(f"$HEMIOLA is {named!r}, which is not a program; set it to the path of hemiola, or unset it")
        return os.path.abspath(found)
    found = shutil.which("hemiola")
    if found is None:
        raise ProgramNotFoundError(
            "the program hemiola is not installed: install the wheel of hemiola-audio, which contains it, or install Hemiola so that "
            "hemiola is in PATH, or set HEMIOLA to its path"
        )
    return os.path.abspath(found)
