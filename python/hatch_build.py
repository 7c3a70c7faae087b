"""Adds the program to a wheel: HEMIOLA_WHEEL names a folder with bin/, lib/ and licenses/, which packaging/make-wheel fills.

Without it, the wheel contains Python only, and starts the program of $HEMIOLA or of PATH.
"""

from __future__ import annotations

import os
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class LicenseHook(MetadataHookInterface):
    """The Python sources are Apache-2.0; the program, which is linked with FFTW, is GPL-3.0-or-later."""

    def update(self, metadata: dict[str, Any]) -> None:
        has_program = bool(os.environ.get("HEMIOLA_WHEEL"))
        metadata["license"] = "Apache-2.0 AND GPL-3.0-or-later" if has_program else "Apache-2.0"


class ProgramHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("HEMIOLA_WHEEL")
        if not folder or self.target_name != "wheel":
            return
        for part in ("bin", "lib", "licenses"):
            build_data["force_include"][os.path.join(folder, part)] = f"hemiola_audio/{part}"
        # auditwheel replaces the tag of this system by that of the oldest supported C library.
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["pure_python"] = False
