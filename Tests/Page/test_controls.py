"""The controls of our page, used with mouse and keyboard, and their effects on the program."""

import json

import pytest
from conftest import KEEP_SHOWN, wait, wait_for_presets

NOTE_KEYS = "awsedftgyhujkolp"
OPTIONS = "document.querySelectorAll('#preset-options [role=option]').length"


@pytest.fixture
def use(start, open_page):
    """Starts the program and opens our page: both, when the program has the page's presets."""

    def use(**settings):
        program = start(**settings)
        # A small picture, because the browser computes it without a GPU.
        page = open_page(program.url, size=(900, 560), device_scale_factor=0.25, script=KEEP_SHOWN)
        wait_for_presets(page)
        program.next("control", control="ready")
        return program, page

    return use


def preset_names(page):
    names = page.evaluate("getPresetNames()")
    assert len(names) > 1
    return names


def wait_for_preset(page, name):
    wait(page, f"getCurrentPreset() === {json.dumps(name)}")


def wait_for_state(page, button, pressed):
    wait(page, f"document.getElementById('{button}').getAttribute('aria-pressed') === '{str(pressed).lower()}'")


def test_search_ignores_case_and_accents_and_enter_loads_the_preset(use):
    program, page = use()
    names = preset_names(page)
    text = names[-1].lower().translate(str.maketrans("aeiounc", "áêïöùñç")).upper()
    page.click("#presets-button")
    wait(page, "document.activeElement.id === 'search'")
    assert page.evaluate(OPTIONS) == len(names)
    page.keyboard.insert_text(text)
    wait(page, f"{OPTIONS} === 1")
    page.keyboard.press("Enter")
    program.next("control", control="presetHandler", name=names[-1])
    assert program.next("preset")["name"] == names[-1]
    assert page.evaluate("getCurrentPreset()") == names[-1]
    assert program.status()["preset"] == names[-1]
    # No preset matches: the list is empty, and Enter loads nothing.
    wait(page, "document.activeElement.id === 'search' || document.getElementById('presets').hidden")
    if page.evaluate("document.getElementById('presets').hidden"):
        page.click("#presets-button")
    page.click("#search")
    page.keyboard.insert_text("no preset has this name")
    wait(page, f"{OPTIONS} === 0")
    page.keyboard.press("Enter")
    assert page.evaluate("getCurrentPreset()") == names[-1]
    # Escape closes the list, not the visualizer.
    page.keyboard.press("Escape")
    wait(page, "document.getElementById('presets').hidden")
    assert page.evaluate("hemiola.connected")


def test_speed_slider_has_steps_of_5_percent_from_10_to_100_each_reported(use):
    program, page = use()
    page.focus("#speed")
    page.keyboard.press("ArrowLeft")
    program.next("control", control="speedHandler", speed=0.95)
    assert program.next("speed")["speed"] == 0.95
    page.keyboard.press("Home")
    assert program.next("speed")["speed"] == 0.1
    page.keyboard.press("ArrowRight")
    assert program.next("speed")["speed"] == 0.15
    assert program.status()["speed"] == 0.15
    # A speed that another client sets moves the slider.
    assert program.send("setSpeed", "speed=0.5").returncode == 0
    wait(page, "document.getElementById('speed').valueAsNumber === 0.5")
    assert page.evaluate("[...document.querySelectorAll('#speed')].map(e => [e.min, e.max, e.step])") == [["0.1", "1", "0.05"]]


@pytest.mark.parametrize("sinks", [[], ["presets:mode=timer,time_s=600,order=sequential,state=none"]])
def test_next_previous_random_and_cycle_make_the_program_change_the_preset(sinks, use):
    program, page = use(sinks=sinks)
    names = preset_names(page)
    # The page reports its first preset, unless the sink has one.
    program.next("preset", reason="start" if sinks else "page")
    for button, control in [("#next", "nextPreset"), ("#previous", "previousPreset"), ("#random", "randomPreset")]:
        before = page.evaluate("getCurrentPreset()")
        page.click(button)
        program.next("control", control=control)
        name = program.next("preset", reason="request")["name"]
        assert name != before and name in names
        wait_for_preset(page, name)
    page.keyboard.press("r")
    program.next("control", control="randomPreset")
    page.keyboard.press("c")
    program.next("control", control="toggleCycle")
    wait_for_state(page, "cycle", not sinks)
    assert program.status()["cycling"] == (not sinks)



def test_without_a_connection_the_page_shows_random_presets_by_itself_and_no_others(use):
    program, page = use()
    program.next("preset", reason="page")
    page.evaluate("hemiola.disconnect()")
    wait(page, "!hemiola.connected")
    before = page.evaluate("getCurrentPreset()")
    page.keyboard.press("ArrowRight")
    wait(page, "document.getElementById('message').textContent === 'not connected to Hemiola'")
    assert page.evaluate("getCurrentPreset()") == before
    page.keyboard.press("r")
    wait(page, f"getCurrentPreset() !== {json.dumps(before)}")


def test_note_keys_send_keydown_and_keyup_and_other_keys_and_typed_text_none(use):
    program, page = use()
    for key in NOTE_KEYS:
        page.keyboard.press(key)
        for event in ["keydown", "keyup"]:
            program.next("control", control="keyHandler", key=key, event=event)
        assert program.next("key")["key"] == key
    page.keyboard.press("q")
    page.keyboard.press("/")
    wait(page, "document.activeElement.id === 'search'")
    page.keyboard.type("was")
    assert page.input_value("#search") == "was"
    page.keyboard.press("Escape")
    wait(page, "document.getElementById('presets').hidden")
    assert page.evaluate("hemiola.connected")
    page.keyboard.press("p")
    assert program.next("control", control="keyHandler")["key"] == "p"


def test_tap_lock_half_and_double_are_applied_to_the_tempo(use):
    program, page = use()
    wait(page, "Math.abs(parseFloat(document.getElementById('bpm').textContent) - 120) < 3")

    def until_tempo(bpm):
        while abs(program.next("beat")["bpm"] - bpm) >= 3:
            pass

    page.click("[data-control=halveTempo]")
    program.next("control", control="halveTempo")
    until_tempo(60)
    page.click("[data-control=doubleTempo]")
    program.next("control", control="doubleTempo")
    until_tempo(120)
    # After the tempo is checked: the time between the two, on a busy machine any, is a tempo as well.
    page.click("[data-control=tap]")
    program.next("control", control="tap")
    page.keyboard.press("b")
    program.next("control", control="tap")
    page.click("[data-control=lockTempo]")
    assert 20 < program.next("control", control="lockTempo")["bpm"] < 300
    wait_for_state(page, "lock", True)
    page.click("[data-control=lockTempo]")
    assert program.next("control", control="lockTempo").get("bpm") is None
    wait_for_state(page, "lock", False)
    page.click("[data-control=tempoRange]")
    limits = program.next("control", control="tempoRange")
    assert abs(limits["max_bpm"] / limits["min_bpm"] - 2) < 0.1
    wait_for_state(page, "tempo-range", True)
    page.click("[data-control=tempoRange]")
    assert program.next("control", control="tempoRange").get("min_bpm") is None
    wait_for_state(page, "tempo-range", False)


def test_hidden_controls_return_and_favourites_stay_after_a_reload_and_for_the_next_run(use):
    program, page = use()
    name = page.evaluate("getCurrentPreset()")
    page.click("#favourite")
    wait_for_state(page, "favourite", True)
    page.click("#hide")
    wait(page, "document.getElementById('dock').hidden && document.getElementById('top').hidden")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "show-controls"
    page.keyboard.press("Enter")
    wait(page, "!document.getElementById('dock').hidden")
    page.reload()
    wait_for_preset(page, name)
    wait_for_state(page, "favourite", True)
    # Another browser, and another run.
    program.stop()
    _, page = use(folder=program.folder)
    wait_for_preset(page, name)
    wait_for_state(page, "favourite", True)


def test_close_ends_the_run_if_the_sink_is_configured_so(use):
    program, page = use(web="port=0,exit_on_close=true")
    page.click("#close")
    assert program.finish() == 0


def test_escape_closes_panels_shows_hidden_controls_and_never_ends_the_connection(use):
    program, page = use(web="port=0,exit_on_close=true")
    page.click("#settings-button")
    page.keyboard.press("v")
    wait(page, "document.getElementById('dock').hidden")
    for _ in range(3):
        page.keyboard.press("Escape")
    wait(page, "!document.getElementById('dock').hidden")
    page.keyboard.press("a")
    program.next("control", control="keyHandler", key="a")
    assert page.evaluate("hemiola.connected && !hemiola.closed")


def test_close_with_the_default_setting_is_shown_and_a_click_connects_again(use):
    program, page = use()
    page.click("#close")
    wait(page, "!hemiola.connected && !document.getElementById('outage').hidden")
    page.click("#reconnect")
    wait(page, "hemiola.connected && document.getElementById('outage').hidden")
    assert program.stop() == 130
