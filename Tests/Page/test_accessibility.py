"""axe-core finds no violation of accessibility rules in our page."""

from importlib.resources import files

import pytest
from conftest import KEEP_SHOWN, wait, wait_for_presets

AXE = files("axe_core_python").joinpath("axe.min.js").read_text()
# Colours are checked after transitions.
TRANSITIONS_HAVE_ENDED = (
    "document.getAnimations().every(a => a.playState !== 'running' || a.effect.getComputedTiming().iterations === Infinity)")


def violations(page):
    page.evaluate(AXE)
    wait(page, TRANSITIONS_HAVE_ENDED)
    return page.evaluate(
        """axe.run(document, {resultTypes: ['violations']}).then(results => results.violations.flatMap(violation =>
            violation.nodes.map(node => `${violation.id}: ${node.html.slice(0, 160)}: ${node.failureSummary}`)))""")


def show_as_on_a_phone(page, width, height):
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": True})
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    wait(page, f"innerWidth === {width} && navigator.maxTouchPoints > 0")


def test_page_with_faults_has_violations(open_page):
    page = open_page("data:text/html,<!doctype html><html><body><img src='/x.png'><button></button></body></html>")
    found = violations(page)
    for rule in ["image-alt", "button-name", "html-has-lang"]:
        assert any(text.startswith(rule) for text in found), found


@pytest.mark.parametrize("light", ["off", pytest.param("on", marks=pytest.mark.release)])
def test_our_page_in_each_state_has_no_violation(light, start, open_page):
    # The analyzers of the panel *Harmony*, which is hidden without them.
    program = start(analyzers=["chroma", "musical-key", "chords", "pitch"])
    page = open_page(program.url, size=(1000, 640), script=f"{KEEP_SHOWN} localStorage['hemiola.light'] = '{light}';")
    wait_for_presets(page)
    wait(page, "parseFloat(document.getElementById('bpm').textContent) > 0")
    wait(page, "!document.getElementById('panel-harmony').hidden && !document.getElementById('note-row').hidden")
    assert violations(page) == []
    page.click("#presets-button")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.click("#settings-button")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.click("#hide")
    assert violations(page) == []
    page.keyboard.press("Escape")
    program.stop()
    wait(page, "!document.getElementById('outage').hidden")
    assert violations(page) == []
    show_as_on_a_phone(page, 390, 760)
    assert violations(page) == []


def test_phone_has_no_horizontal_scrolling_and_targets_of_at_least_24_pixels(clicks, open_page):
    page = open_page(clicks.url, size=(360, 740), device_scale_factor=2, is_mobile=True, has_touch=True)
    wait(page, "hemiola.connected")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    small = page.evaluate(
        """[...document.querySelectorAll('button, input, [role=option]')].filter(e => e.checkVisibility() && e.type !== 'range')
            .map(e => [(e.type === 'checkbox' ? e.closest('label') : e).getBoundingClientRect(), e.id || e.outerHTML.slice(0, 80)])
            .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .map(([box, name]) => `${name} ${box.width}x${box.height}`)""")
    assert small == []
