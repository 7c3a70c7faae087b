"""What our page draws, always with the same seed."""

import itertools
from urllib.parse import quote

import pytest
from conftest import colours, difference, launch, picture, wait_for_presets


@pytest.fixture
def bare(open_page):
    """Opens our page without controls, and waits until it draws."""

    def bare(program, parameters="", size=(320, 180), **options):
        page = open_page(f"{program.url}&bare&seed=7&{parameters}", size=size, **options)
        wait_for_presets(page)
        return page

    return bare


def draw(page, count):
    """Waits until the page has drawn a number of pictures."""
    page.evaluate("async count => { for (; count > 0; count--) await new Promise(done => requestAnimationFrame(done)); }", count)


def pictures(page, count=4):
    """Pictures at intervals of 5 frames, after the preset has warmed up."""
    draw(page, 20)
    result = []
    for _ in range(count):
        draw(page, 5)
        result.append(picture(page))
    return result


@pytest.mark.parametrize("count", [2, pytest.param(None, id="all", marks=pytest.mark.release)])
def test_music_silence_and_another_preset_have_different_pictures(count, start, bare):
    music, silence = start("noise"), start("silence")
    page = bare(music)
    names = page.evaluate("getPresetNames()")
    page.context.close()
    assert len(names) >= 6
    drawn = {}
    for name in names[:count]:
        taken = []
        for program in [music, silence]:
            page = bare(program, f"preset={quote(name)}")
            taken.append(pictures(page))
            page.context.close()
        # The pictures move, so the nearest pair counts.
        assert min(difference(*pair) for pair in itertools.product(*taken)) > 1, name
        assert any(colours(one) > 64 for one in taken[0]), f"{name}: a picture of one colour"
        drawn[name] = taken[0]
    for one, other in itertools.combinations(drawn, 2):
        assert min(difference(*pair) for pair in itertools.product(drawn[one], drawn[other])) > 1, f"{one} and {other}"


def test_transparent_background_has_no_colour_bare_page_no_controls_and_size_is_fixed(start, bare):
    program = start("silence")
    page = bare(program, "transparent&size=300x150", size=(400, 240))
    pixels = picture(page, transparent=True)
    assert pixels[230, 390, 3] == 0, "outside of the fixed size"
    assert (pixels[2, :300, 3] < 255).sum() > 100, "the picture's first row"
    assert page.evaluate("(stage => [stage.clientWidth, stage.clientHeight])(document.getElementById('stage'))") == [300, 150]
    assert page.evaluate("[...document.querySelectorAll('button')].filter(e => e.checkVisibility()).length") == 0
    opaque = picture(bare(program, "size=300x150", size=(400, 240)), transparent=True)
    assert (opaque[2, :300, 3] == 255).all()


def test_canvas_without_webgl_has_a_picture_that_music_moves(start, bare, playwright, tmp_path):
    browser = launch(playwright, tmp_path, "--disable-3d-apis")
    page = bare(start("noise"), browser=browser)
    assert page.evaluate("document.createElement('canvas').getContext('webgl2') === null")
    first, *others = pictures(page)
    assert any(difference(first, other) > 0.2 for other in others)
    assert colours(first) > 2
    page.context.close()
    browser.close()
