"""Sound sources: FluidSynth through ctypes, one-shot samples, and simple oscillators. All return mono audio at 44.1 kHz."""
import ctypes
import ctypes.util

import numpy as np
from scipy.signal import lfilter

from .features import SAMPLE_RATE

# The soundfonts, all of them free of conditions on what is made with them; packages of Debian.
SOUNDFONTS = {
    "fluid": "/usr/share/sounds/sf2/FluidR3_GM.sf2",  # fluid-soundfont-gm, MIT
    "musescore": "/usr/share/sounds/sf2/MuseScore_General_Full.sf2",  # musescore-general-soundfont-lossless, MIT
    "gmbank": "/usr/share/sounds/sf2/sf_GMbank.sf2",  # csound-soundfont, public domain
}
# FluidSynth renders blocks of 64 frames: events move by up to 1.5 ms.
BLOCK = 64


class FluidSynth:
    """One synthesizer with all soundfonts loaded; each channel selects its own soundfont."""

    def __init__(self):
        library = ctypes.util.find_library("fluidsynth")
        if library is None:
            raise RuntimeError("libfluidsynth: not found; install the package libfluidsynth3")
        self._library = ctypes.CDLL(library)
        for name in ("new_fluid_settings", "new_fluid_synth"):
            getattr(self._library, name).restype = ctypes.c_void_p
        settings = ctypes.c_void_p(self._library.new_fluid_settings())
        self._library.fluid_settings_setnum(settings, b"synth.sample-rate", ctypes.c_double(SAMPLE_RATE))
        self._library.fluid_settings_setnum(settings, b"synth.gain", ctypes.c_double(0.35))
        self._library.fluid_settings_setint(settings, b"synth.dynamic-sample-loading", 1)
        self._library.fluid_settings_setint(settings, b"synth.midi-channels", 32)
        self._synth = ctypes.c_void_p(self._library.new_fluid_synth(settings))
        self._fonts = {}
        for name, path in SOUNDFONTS.items():
            font = self._library.fluid_synth_sfload(self._synth, path.encode(), 0)
            if font < 0:
                raise RuntimeError(f"{path}: cannot be loaded; install the soundfont packages of synthesis.py")
            self._fonts[name] = font

    def render(self, parts, seconds, effects):
        """Renders parts: (notes as (start, end, pitch, velocity) in seconds, font, program, is_drums, volume). `effects`: use
        FluidSynth's reverb and chorus."""
        library, synth = self._library, self._synth
        library.fluid_synth_system_reset(synth)
        library.fluid_synth_set_reverb_on(synth, int(effects))
        library.fluid_synth_set_chorus_on(synth, int(effects))
        events = []
        for index, (notes, font, program, is_drums, volume) in enumerate(parts[:31]):
            channel = 9 if is_drums else index if index < 9 else index + 1
            library.fluid_synth_cc(synth, channel, 7, int(volume))
            for choice in (program, 0):
                if library.fluid_synth_program_select(synth, channel, self._fonts[font], 128 if is_drums else 0, choice) == 0:
                    break
            for start, end, pitch, velocity in notes:
                if start < seconds:
                    events.append((start, 1, channel, int(pitch), int(velocity)))
                    events.append((max(end, start + 0.03), 0, channel, int(pitch), 0))
        events.sort()
        total = int(seconds * SAMPLE_RATE) // BLOCK * BLOCK
        sides = np.zeros((2, total), np.float32)
        at = 0
        for time, is_on, channel, pitch, velocity in [*events, (seconds, 0, -1, 0, 0)]:
            target = min(int(time * SAMPLE_RATE) // BLOCK * BLOCK, total)
            if target > at:
                left, right = (side[at:].ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for side in sides)
                library.fluid_synth_write_float(synth, target - at, left, 0, 1, right, 0, 1)
                at = target
            if channel < 0:
                break
            if is_on:
                library.fluid_synth_noteon(synth, channel, pitch, velocity)
            else:
                library.fluid_synth_noteoff(synth, channel, pitch)
        library.fluid_synth_all_sounds_off(synth, -1)
        return sides.mean(axis=0)


def place(hits, seconds):
    """Mixes hits: (time in seconds, mono sample, gain)."""
    audio = np.zeros(int(seconds * SAMPLE_RATE), np.float32)
    for time, sample, gain in hits:
        start = int(time * SAMPLE_RATE)
        if 0 <= start < len(audio):
            part = sample[:len(audio) - start]
            audio[start:start + len(part)] += gain * part
    return audio


def oscillator_note(rng, pitch, seconds, patch):
    """A note of a subtractive synthesizer. `patch`: shape, cutoff as a multiple of the pitch, attack and decay in seconds."""
    shape, cutoff, attack, decay, detune = patch
    length = int((seconds + 0.05) * SAMPLE_RATE)
    time = np.arange(length) / SAMPLE_RATE
    hertz = 440 * 2 ** ((pitch - 69) / 12)
    audio = np.zeros(length, np.float32)
    for offset in (-detune, detune) if detune else (0,):
        phase = (hertz * (1 + offset) * time + rng.random()) % 1
        if shape == "saw":
            audio += 2 * phase - 1
        elif shape == "square":
            audio += np.where(phase < 0.5, 1.0, -1.0)
        elif shape == "fm":
            audio += np.sin(2 * np.pi * phase + 3 * np.exp(-time / decay) * np.sin(4 * np.pi * phase))
        else:
            audio += np.sin(2 * np.pi * phase)
    pole = np.exp(-2 * np.pi * min(hertz * cutoff, 12_000) / SAMPLE_RATE)
    audio = lfilter([1 - pole], [1, -pole], lfilter([1 - pole], [1, -pole], audio))
    envelope = np.minimum(1, time / attack) * np.exp(-time / decay) * np.clip((seconds + 0.04 - time) / 0.04, 0, 1)
    return (audio * envelope).astype(np.float32)


def plucked_note(rng, pitch, seconds, damping):
    """A plucked string (Karplus and Strong 1983)."""
    period = max(2, int(SAMPLE_RATE / (440 * 2 ** ((pitch - 69) / 12))))
    length = int((seconds + 0.05) * SAMPLE_RATE)
    burst = np.zeros(length)
    burst[:period] = rng.uniform(-1, 1, min(period, length))
    feedback = np.zeros(period + 2)
    feedback[0] = 1
    feedback[period], feedback[period + 1] = -damping / 2, -damping / 2
    time = np.arange(length) / SAMPLE_RATE
    return (lfilter([1], feedback, burst) * np.clip((seconds + 0.04 - time) / 0.04, 0, 1)).astype(np.float32)
