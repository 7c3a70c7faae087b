import numpy as np
import pytest

from beats import drops, songs
from beats.arrange import KICK
from beats.features import SAMPLE_RATE


@pytest.mark.parametrize("name", drops.GENRES)
def test_breaks_and_builds_have_no_bass_and_a_return_follows_them_with_drums_and_bass(name):
    for seed in range(4):
        song, sections = drops.compose(np.random.default_rng([seed, 1]), name)
        assert all(after.first == before.first + before.bars for before, after in zip(sections, sections[1:]))
        meter, bass = song.genre.meter, song.tracks["bass"].notes[:, 0]
        found = drops.returns(sections)
        for section in sections:
            start, end = section.first * meter, (section.first + section.bars) * meter
            if section.state in (drops.BREAK, drops.BUILD):
                assert not ((bass >= start) & (bass < end)).any()
        for first, absent, _ in found:
            states = [section.state for section in sections for _ in range(section.bars)]
            assert states[first] in (drops.GROOVE, drops.DROP)
            assert set(states[first - absent:first]) <= {drops.BREAK, drops.BUILD} and states[first - absent - 1] in (drops.GROOVE, drops.DROP)


def test_some_builds_lead_nowhere_and_some_breaks_end_without_a_build():
    ends, built = [], []
    for seed in range(60):
        sections = drops.plan(np.random.default_rng(seed), 8, 90)
        ends += [after.state for before, after in zip(sections, sections[1:]) if before.state == drops.BUILD]
        built += [is_built for _, _, is_built in drops.returns(sections)]
    assert 0.05 < np.mean([state == drops.BREAK or state == drops.GROOVE for state in ends]) < 0.4
    assert 0.4 < np.mean(built) < 0.9


def test_strokes_of_a_roll_double_and_get_louder():
    rows = np.array(drops.roll(np.random.default_rng(1), 16.0, 32))
    gaps = np.diff(rows[:, 0])
    assert rows[0, 0] == 16 and rows[-1, 0] < 48 and (np.diff(gaps) <= 1e-9).all() and gaps[0] == 1 and gaps[-1] <= 0.5
    assert rows[-8:, 3].mean() > rows[:8, 3].mean() + 20


def test_a_sweep_keeps_what_is_below_its_edge():
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    low, high = (np.sin(2 * np.pi * hertz * time) for hertz in (200, 8000))
    part = slice(4096, -4096)
    for tone, is_kept in ((low, True), (high, False)):
        for is_high in (False, True):
            level = np.std(drops.swept(tone, (1500, 1500), is_high)[part]) / np.std(tone)
            assert level > 0.95 if is_kept != is_high else level < 0.05


def test_noise_and_tones_rise():
    audio = drops.riser(np.random.default_rng(3), 4.0)
    quarter = len(audio) // 4
    assert np.std(audio[-quarter:]) > 3 * np.std(audio[:quarter])


def test_a_track_depends_on_the_generator_only():
    one, other = (drops.compose(np.random.default_rng(5), "house") for _ in range(2))
    assert one[1] == other[1] and all(np.array_equal(track.notes, other[0].tracks[role].notes) for role, track in one[0].tracks.items())
    assert (one[0].tracks["drums"].notes[:, 2] == KICK).any() and one[0].genre is songs.GENRES["house"]
