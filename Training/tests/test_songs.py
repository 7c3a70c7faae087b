import numpy as np
import pytest

from beats import arrange, songs, styles, survey


@pytest.mark.parametrize("name", songs.GENRES)
def test_patterns_fill_their_bars_with_whole_steps(name):
    genre = songs.GENRES[name]
    patterns = [*genre.bass, *genre.comping, *(pattern for drums in genre.drums for pattern in drums.values())]
    for pattern in patterns:
        for bar in pattern.split():
            assert len(bar) % genre.meter == 0, pattern
            assert set(bar) <= set("xXo?.-r35walu")


@pytest.mark.parametrize("name", songs.GENRES)
def test_a_song_has_its_tempo_and_numbered_beats_and_depends_on_the_generator_only(name):
    first, second = (songs.compose(np.random.default_rng([7, 3]), name, 24.0) for _ in range(2))
    low, high = songs.GENRES[name].tempi
    assert low <= first.tempo <= high and first.tempo == second.tempo
    assert np.all(np.diff(first.positions) % songs.GENRES[name].meter == 1)
    assert first.tracks and first.tracks.keys() == second.tracks.keys()
    for role, track in first.tracks.items():
        assert np.array_equal(track.notes, second.tracks[role].notes)
        assert track.notes[:, 0].min() >= 0 and (track.notes[:, 1] > track.notes[:, 0]).all()


def test_held_notes_last_until_the_next_mark():
    assert songs.pattern_notes("r--.5-o.", 4) == [[0, 1.5, "r"], [2, 1, "5"], [3, 0.5, "o"]]


def snares_a_minute(name, seeds=12):
    counts = []
    for seed in range(seeds):
        song = songs.compose(np.random.default_rng(seed), name, 24.0)
        if "drums" in song.tracks:
            notes = song.tracks["drums"].notes
            loud = np.isin(notes[:, 2], (arrange.SNARE, arrange.SIDE_STICK, arrange.CLAP)) & (notes[:, 3] > 70)
            span = (notes[-1, 0] - notes[0, 0]) / song.tempo
            counts.append(len(np.unique(notes[loud, 0])) / span)
    return np.median(counts)


@pytest.mark.parametrize(("slow", "fast"), [("trap", "metal"), ("slow-rock", "punk"), ("half-time-jungle", "drum-and-bass"), ("reggae", "ska")])
def test_the_snare_tells_slow_songs_from_their_fast_twins(slow, fast):
    assert snares_a_minute(fast) > 1.5 * snares_a_minute(slow)


def test_chords_change_on_beats_and_most_of_them_on_the_first_of_a_bar():
    changes = []
    for seed in range(30):
        genre = songs.GENRES["ballad"]
        chords, scale = songs.harmony(np.random.default_rng(seed), genre, 64)
        assert all(end > start for start, end, _ in chords) and all(set(chord) <= set(scale) for _, _, chord in chords)
        changes += [start % genre.meter for start, _, _ in chords]
    assert set(changes) <= {0.0, 2.0} and changes.count(0.0) > 2 * changes.count(2.0)


@pytest.mark.parametrize("seed", range(8))
def test_a_metronome_has_a_beep_at_each_beat_and_its_accent_begins_the_bar(seed):
    _, made = styles.metronome(np.random.default_rng(seed), None)
    assert len(made.hits) == len(made.beats) and abs(np.array([time for time, _, _ in made.hits]) - made.beats).max() < 0.03
    beeps = {place: (sound.tobytes(), gain) for (_, sound, gain), place in zip(made.hits, made.positions)}
    if made.positions.max() > 1:
        assert beeps[1] != beeps[2] and len(set(beeps.values())) == 2


def test_the_survey_counts_onsets_per_beat():
    made = arrange.Arrangement(beats=np.arange(0, 20, 0.8), onsets=np.arange(0, 20, 0.2))
    tempo, density = survey.measure(made)
    assert np.isclose(tempo, 75) and np.isclose(density, 4)
    assert "| 75–85 | 0 | 0 | 0 | 0 | 1 | 0 | 1 |" in survey.table([(80, 4)])
