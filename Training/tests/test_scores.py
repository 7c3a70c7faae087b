import zipfile

import numpy as np
import pytest

from beats import arrange, scores

MEASURE = """<measure number="{n}">{attributes}
<note><pitch><step>C</step><octave>4</octave></pitch><duration>2</duration></note>
<note><chord/><pitch><step>E</step><alter>-1</alter><octave>4</octave></pitch><duration>2</duration></note>
<note><rest/><duration>2</duration></note>
<backup><duration>4</duration></backup>
<note><pitch><step>G</step><octave>3</octave></pitch><duration>{length}</duration></note></measure>"""
ATTRIBUTES = "<attributes><divisions>2</divisions><time><beats>{beats}</beats><beat-type>{unit}</beat-type></time></attributes>"


def musicxml(path, time=(2, 4), length=4, count=14):
    measures = [MEASURE.format(n=n, length=length, attributes=ATTRIBUTES.format(beats=time[0], unit=time[1]) if n == 0 else "")
                for n in range(count)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("score.xml", f"<score-partwise><part id='P1'>{''.join(measures)}</part></score-partwise>")
    return path


def test_notes_chords_and_backups_of_musicxml_are_read(tmp_path):
    score, = scores.read_musicxml(musicxml(tmp_path / "a.mxl"))
    assert len(score.positions) == 28 and score.positions[:4].tolist() == [1, 2, 1, 2]
    first = score.tracks[0].notes[:3]
    assert sorted(first[:, 2]) == [55, 60, 63] and np.all(first[:, 0] == 0) and sorted(first[:, 1]) == [1, 1, 2]


def test_six_eighths_have_two_beats(tmp_path):
    score, = scores.read_musicxml(musicxml(tmp_path / "b.mxl", (6, 8), 6))
    assert score.positions.max() == 2 and len(score.positions) == 28


def test_meters_without_an_agreed_beat_are_left_out(tmp_path):
    assert scores.read_musicxml(musicxml(tmp_path / "c.mxl", (5, 8), 5)) == []


def test_a_window_begins_at_its_first_beat(tmp_path):
    score, = scores.read_musicxml(musicxml(tmp_path / "d.mxl"))
    part = score.window(4, 8)
    assert len(part.positions) == 8 and part.tracks[0].notes[0, 0] == 0 and part.tracks[0].notes[:, 0].max() < 8


def test_timing_is_increasing_and_a_mechanical_tempo_is_exact():
    rng = np.random.default_rng(0)
    for freedom in (0.0, 0.02, 0.06):
        assert np.all(np.diff(arrange.Timing(rng, 40, 100, freedom).times) > 0.2)
    steady = [arrange.Timing(np.random.default_rng(seed), 40, 120, 0.0) for seed in range(8)]
    assert sum(np.allclose(np.diff(timing.times), 0.5) for timing in steady) >= 6


def test_swing_moves_the_middle_of_the_beat_only():
    assert np.allclose(arrange.swung(np.array([0, 0.5, 1, 1.75]), 0.66), [0, 0.66, 1, 1.83])


@pytest.mark.parametrize("name", arrange.GROOVES)
def test_drum_patterns_fill_their_bars(name):
    meter, _, hits = arrange.GROOVES[name]
    assert {len(pattern) for pattern in hits.values()} == {4 * meter}
