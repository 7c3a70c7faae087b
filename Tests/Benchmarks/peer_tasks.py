#!/usr/bin/env python3
"""The tasks of Python libraries for peers.py: one task per process, as the documentation of the library recommends it.

    peer_tasks.py TASK FILE               print the result: times of events in seconds, or the number of values
    peer_tasks.py TASK --output DIR FILE… write the times to DIR/STEM.beats or DIR/STEM.onsets

A task reads and decodes the file itself. Libraries are imported by the task that uses them, because the import is part of the cost.
"""

import pathlib
import sys

SIZE, HOP, BANDS = 2048, 1024, 64


def librosa_features(path):
    """RMS, 64 mel bands, centroid, rolloff, flatness and onset strength, from one spectrogram."""
    import librosa
    import numpy

    samples, rate = librosa.load(path, sr=None, mono=True)
    spectrum = numpy.abs(librosa.stft(samples, n_fft=SIZE, hop_length=HOP))
    bands = librosa.power_to_db(librosa.feature.melspectrogram(S=spectrum**2, sr=rate, n_mels=BANDS))
    return [
        librosa.feature.rms(S=spectrum, frame_length=SIZE), bands, librosa.feature.spectral_centroid(S=spectrum, sr=rate),
        librosa.feature.spectral_rolloff(S=spectrum, sr=rate), librosa.feature.spectral_flatness(S=spectrum),
        librosa.onset.onset_strength(S=bands, sr=rate)]


def librosa_beats(path):
    """Beats with the defaults: 22.05 kHz, hop 512."""
    import librosa

    samples, rate = librosa.load(path)
    _, beats = librosa.beat.beat_track(y=samples, sr=rate, units="time")
    return beats


def librosa_onsets(path):
    """Onsets with the defaults: 22.05 kHz, hop 512."""
    import librosa

    samples, rate = librosa.load(path)
    return librosa.onset.onset_detect(y=samples, sr=rate, units="time")


def essentia_features(path):
    """RMS, 64 mel bands, centroid, rolloff, flatness and flux, in streaming mode."""
    import essentia
    import essentia.streaming as streaming

    essentia.log.infoActive = False
    pool = essentia.Pool()
    loader = streaming.MonoLoader(filename=path, sampleRate=44100)
    frames = streaming.FrameCutter(frameSize=SIZE, hopSize=HOP)
    window, spectrum = streaming.Windowing(type="hann"), streaming.Spectrum(size=SIZE)
    features = {
        "bands": (streaming.MelBands(inputSize=SIZE // 2 + 1, numberBands=BANDS, highFrequencyBound=20000), "spectrum", "bands"),
        "centroid": (streaming.Centroid(range=22050), "array", "centroid"),
        "rolloff": (streaming.RollOff(), "spectrum", "rollOff"),
        "flatness": (streaming.Flatness(), "array", "flatness"),
        "flux": (streaming.Flux(), "spectrum", "flux"),
    }
    level = streaming.RMS()
    loader.audio >> frames.signal
    frames.frame >> window.frame
    frames.frame >> level.array
    level.rms >> (pool, "rms")
    window.frame >> spectrum.frame
    for name, (algorithm, source, result) in features.items():
        spectrum.spectrum >> getattr(algorithm, source)
        getattr(algorithm, result) >> (pool, name)
    essentia.run(loader)
    return [pool[name] for name in ("rms", *features)]


def essentia_beats(path, method):
    import essentia
    import essentia.standard as standard

    essentia.log.infoActive = False
    samples = standard.MonoLoader(filename=path, sampleRate=44100)()
    return standard.RhythmExtractor2013(method=method)(samples)[1]


def essentia_onsets(path):
    """Onsets with OnsetRate, the library's combination of two onset functions."""
    import essentia
    import essentia.standard as standard

    essentia.log.infoActive = False
    samples = standard.MonoLoader(filename=path, sampleRate=44100)()
    return standard.OnsetRate()(samples)[0]


def essentia_loudness(path):
    """Momentary, short-term and integrated loudness, and loudness range."""
    import essentia
    import essentia.standard as standard

    essentia.log.infoActive = False
    samples, rate = standard.AudioLoader(filename=path)()[:2]
    return list(standard.LoudnessEBUR128(sampleRate=rate)(samples))[:2]


def madmom_features(path):
    """A spectrogram with 64 mel bands on a logarithmic scale, and its flux."""
    from madmom.audio.spectrogram import FilteredSpectrogram, LogarithmicSpectrogram
    from madmom.audio.filters import MelFilterbank
    from madmom.features.onsets import spectral_flux

    bands = FilteredSpectrogram(path, frame_size=SIZE, hop_size=HOP, num_channels=1, filterbank=MelFilterbank, num_bands=BANDS)
    return [LogarithmicSpectrogram(bands), spectral_flux(bands)]


def pyloudnorm_loudness(path):
    """Integrated loudness only."""
    import pyloudnorm
    import soundfile

    samples, rate = soundfile.read(path)
    return [[pyloudnorm.Meter(rate).integrated_loudness(samples)]]


# The tasks that return times of events, and those that return features.
EVENTS = {
    "librosa-beats": (librosa_beats, ".beats"),
    "librosa-onsets": (librosa_onsets, ".onsets"),
    "essentia-degara": (lambda path: essentia_beats(path, "degara"), ".beats"),
    "essentia-multifeature": (lambda path: essentia_beats(path, "multifeature"), ".beats"),
    "essentia-onsets": (essentia_onsets, ".onsets"),
}
FEATURES = {
    "librosa-features": librosa_features,
    "essentia-features": essentia_features,
    "essentia-loudness": essentia_loudness,
    "madmom-features": madmom_features,
    "pyloudnorm-loudness": pyloudnorm_loudness,
}


def main(arguments):
    if len(arguments) == 2 and arguments[0] in FEATURES:
        print(sum(getattr(values, "size", len(values)) for values in FEATURES[arguments[0]](arguments[1])))
    elif len(arguments) == 2 and arguments[0] in EVENTS:
        print("\n".join(f"{time:.4f}" for time in EVENTS[arguments[0]][0](arguments[1])))
    elif len(arguments) > 3 and arguments[0] in EVENTS and arguments[1] == "--output":
        task, suffix = EVENTS[arguments[0]]
        for path in map(pathlib.Path, arguments[3:]):
            lines = "".join(f"{time:.4f}\n" for time in task(str(path)))
            (pathlib.Path(arguments[2]) / f"{path.stem}{suffix}").write_text(lines)
    else:
        sys.exit(__doc__.strip())


main(sys.argv[1:])
