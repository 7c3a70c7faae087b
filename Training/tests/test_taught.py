"""The labels of real music: what the program says of a song at three speeds."""
import numpy as np

from beats import dataset, taught


def beats(period, seconds=80.0, confidence=0.9, first=1):
    times = np.arange(0.5, seconds, period)
    return np.column_stack([times, 1 + (first - 1 + np.arange(len(times))) % 4, np.full(len(times), confidence)])


def test_agreement_of_all_speeds_gives_excerpts_with_bars():
    found = list(taught.excerpts([beats(0.5)] * 3, 80.0))
    assert [start for start, _, _ in found] == [0, 40]
    _, times, places = found[1]
    assert times[0] == 0 and np.allclose(np.diff(times), 0.5)
    assert (places[1:] == places[:-1] % 4 + 1).all()


def test_half_the_tempo_at_another_speed_gives_none():
    assert not list(taught.excerpts([beats(0.5), beats(0.5), beats(1.0)], 80.0))


def test_other_bars_at_another_speed_leave_bars_unknown():
    for _, times, places in taught.excerpts([beats(0.5), beats(0.5, first=3), beats(0.5)], 80.0):
        assert len(times) >= 79 and not places.any()


def test_low_confidence_gives_none():
    assert not list(taught.excerpts([beats(0.5, confidence=0.5)] * 3, 80.0))


def test_a_place_is_known_where_all_have_it():
    one, other = beats(0.5, 3.0), beats(0.5, 3.0)
    other[2, 1] = 1
    assert taught.places(one, [other]).tolist() == [1, 2, 0, 4, 1]


def test_an_epoch_has_real_music_three_times(monkeypatch):
    class Excerpt:
        def __init__(self, style):
            self.style, self.about = style, {"piece": style}

    monkeypatch.setattr(dataset, "make_example", lambda rng, excerpt, *_: (np.array(excerpt.style),))
    batches = dataset.batches(np.random.default_rng(0), [Excerpt("taught"), Excerpt("song"), Excerpt("beatless")], 8, 100)
    assert sorted(next(batches)[0].tolist()) == ["beatless"] * 4 + ["song"] + ["taught"] * 3
