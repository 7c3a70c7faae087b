"""What a show in a dark room needs: parts that fade, blackout, freeze, and a screen that stays on."""

import re
import subprocess

import pytest
from conftest import HEMIOLA, KEEP_SHOWN, difference, picture, until, wait, wait_for_presets

# Opacity of the controls, and of the line above the picture.
OPACITIES = "['dock', 'top'].map(id => getComputedStyle(document.getElementById(id)).opacity).join()"
FADED = "document.documentElement.classList.contains('faded')"
DARK = "document.documentElement.classList.contains('blackout')"


@pytest.fixture
def show(open_page):
    def show(program, parameters="", size=(640, 480), **options):
        page = open_page(f"{program.url}{parameters}", size=size, **options)
        wait_for_presets(page)
        return page

    return show


def draw(page, count):
    """Waits until the page has drawn so many pictures."""
    page.evaluate("async count => { for (; count > 0; count--) await new Promise(requestAnimationFrame); }", count)


def test_controls_and_panels_fade_after_3_seconds_and_return_with_the_pointer_and_a_question_mark_but_not_a_note(clicks, show):
    page = show(clicks)
    wait(page, f"{OPACITIES} === '0,0'")
    page.keyboard.press("a")
    assert page.evaluate(FADED)
    for use in [lambda: page.keyboard.press("?"), lambda: page.mouse.move(50, 60), lambda: page.keyboard.press("Tab")]:
        use()
        wait(page, f"{OPACITIES} === '1,1'")
        page.evaluate("document.activeElement.blur()")
        wait(page, f"{OPACITIES} === '0,0'")
    # What the user reads stays.
    page.clock.install()
    page.mouse.move(55, 60)
    wait(page, f"!{FADED}")
    page.clock.fast_forward(4000)
    assert page.evaluate(FADED)
    page.mouse.move(60, 60)
    page.click("#settings-button")
    page.clock.fast_forward(4000)
    assert not page.evaluate(FADED)
    page.check("#keep-shown")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.clock.fast_forward(4000)
    assert not page.evaluate(FADED)


@pytest.mark.parametrize("size", [(390, 844), (360, 740), (320, 640), (640, 360)])
def test_phone_shows_the_picture_in_at_least_half_of_the_page(size, start, show):
    program = start(analyzers=["chroma", "musical-key", "chords", "pitch"])
    page = show(program, size=size, script=KEEP_SHOWN, is_mobile=True, has_touch=True)
    wait(page, "!document.getElementById('panel-harmony').hidden")
    heights = page.evaluate("['top', 'dock'].map(id => document.getElementById(id).getBoundingClientRect().height)")
    assert sum(heights) <= size[1] / 2, heights
    # Every control is inside, and a panel if the phone is upright.
    assert page.evaluate("""[...document.querySelectorAll('.top button, .controls button')].filter(e => e.checkVisibility()).every(e => {
        const box = e.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
    })""")
    assert page.evaluate("document.getElementById('panel-row').clientHeight") > 60 or size[0] > size[1]


@pytest.mark.parametrize("size", [(1280, 800), (900, 560), (640, 360), (320, 640)])
def test_open_panel_and_message_cover_neither_the_controls_nor_the_search(size, clicks, show):
    page = show(clicks, size=size, script=KEEP_SHOWN)
    covered = """(names) => names.filter(name => {
        const box = document.querySelector(name).getBoundingClientRect();
        return ![...document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)].slice(0, 2).some(e => e.closest(name));
    })"""
    controls = [f"#{name}" for name in ["favourite", "next", "cycle", "speed", "lock"]]
    controls += [f"[data-control={name}]" for name in ["tap", "halveTempo", "doubleTempo"]]
    wait(page, "!document.querySelector('[data-control=tap]').hidden")
    for panel, inside in [("presets", ["#presets-title", "#search"]), ("settings", ["#settings-title"])]:
        page.click(f"#{panel}-button")
        page.evaluate("Object.assign(document.getElementById('message'), {textContent: 'The name of a preset', hidden: false})")
        wait(page, f"!document.getElementById('{panel}').hidden")
        assert page.evaluate(covered, controls + inside) == []
        page.keyboard.press("Escape")


def test_blackout_is_black_and_one_with_the_lights(start, show):
    program = start("noise", sinks=["ddp:127.0.0.1,pixels=1"])
    page = show(program, "&seed=7", size=(320, 180))
    page.keyboard.press(".")
    program.next("control", control="blackout", on=True)
    wait(page, f"{DARK} && {OPACITIES} === '0,0'")
    assert picture(page)[..., :3].max() == 0
    # From a controller, or from `hemiola send`.
    assert program.send("blackout", "false").returncode == 0
    wait(page, f"!{DARK}")
    assert program.send("blackout").returncode == 0
    wait(page, DARK)
    page.keyboard.press(".")
    wait(page, f"!{DARK}")
    assert picture(page)[..., :3].max() > 0


def test_blackout_without_lights_is_black_and_freeze_keeps_the_picture(start, show):
    program = start("noise")
    page = show(program, "&bare&seed=7", size=(320, 180))
    page.keyboard.press(".")
    program.next("control", control="blackout", on=True)
    wait(page, DARK)
    assert program.send("blackout", "false").returncode == 0
    wait(page, f"!{DARK}")
    first = picture(page)
    until(lambda: difference(picture(page), first) > 0.5, "a moving picture")
    page.keyboard.press("z")
    draw(page, 10)
    frozen = picture(page)
    draw(page, 60)
    assert difference(picture(page), frozen) == 0
    page.keyboard.press("z")
    until(lambda: difference(picture(page), frozen) > 0.5, "a picture that moves again")


def test_screen_stays_on_while_music_is_received_and_x_changes_to_full_screen(start, show):
    program = start()
    page = show(program, script="""
        window.locks = [];
        Object.defineProperty(navigator, 'wakeLock', {value: {request: async kind => {
            locks.push(kind);
            return {released: false, release: () => locks.push('released')};
        }}});
    """)
    wait(page, "locks.join() === 'screen'")
    page.keyboard.press("x")
    wait(page, "document.fullscreenElement !== null")
    page.keyboard.press("x")
    wait(page, "document.fullscreenElement === null")
    program.stop()
    wait(page, "locks.join() === 'screen,released'")


def test_screen_lock_that_is_granted_after_the_music_is_released_at_once(start, show):
    program = start()
    page = show(program, script="""
        window.locks = [];
        Object.defineProperty(navigator, 'wakeLock', {value: {request: kind => new Promise(grant => {
            locks.push(kind);
            window.grant = () => grant({released: false, release: () => locks.push('released')});
        })}});
    """)
    wait(page, "locks.length > 0")
    # A page that is shown again asks again, but not while a request is open.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    program.stop()
    wait(page, "document.getElementById('state').dataset.kind !== 'live'")
    page.evaluate("grant()")
    wait(page, "locks.join() === 'screen,released'")


def test_colours_are_dark_whatever_the_desktop_prefers_and_light_by_a_setting(clicks, show):
    page = show(clicks, color_scheme="light", script=KEEP_SHOWN)
    background = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every(value => value < 16)"
    assert page.evaluate(background)
    page.click("#settings-button")
    page.check("#light")
    assert not page.evaluate(background)


def test_list_of_keys_has_the_midi_notes_of_the_programs_own_map(clicks, show):
    page = show(clicks)
    rows = page.evaluate("[...document.querySelectorAll('#keys tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    notes = {text: note for _, text, note in rows if note}
    printed = subprocess.run([HEMIOLA, "check", "--map", "midi", "--print"], capture_output=True, text=True, check=True).stdout
    for text, control in [
        ("Previous preset", "previousPreset"), ("Next preset", "nextPreset"), ("Random preset", "randomPreset"), ("Tap the beat", "tap"),
        ("Change presets automatically", "toggleCycle"), ("Blackout, also of the lights", "blackout"),
    ]:
        source = next(line for line in printed.splitlines() if re.search(rf"to: {control}\b", line))
        assert notes.pop(text).replace(" ", ".") in source
    assert notes == {}
