"""Samples, connections and tabs."""

import json
import socket

import pytest
from conftest import errors, launch, wait, wait_for_presets

# A page like those of native web views: it counts its samples.
COUNTING = """
    window.calls = 0;
    window.pushSamples = samples => {
        if (!Array.isArray(samples) || samples.length !== 2048) throw new Error('not 2048 numbers');
        calls += 1;
    };
"""
# Records sequence and frame of each sample message.
RECORD = "window.received = [], hemiola.addEventListener('samples', event => received.push([event.detail.sequence, event.detail.frame]))"
# Whether so many of these messages followed each other without a gap.
HAS_RUN = """(() => {
    let run = 1;
    for (let i = 1; i < received.length && run < COUNT; i++) {
        run = received[i][0] === received[i - 1][0] + 1 && received[i][1] === received[i - 1][1] + 1024 ? run + 1 : 1;
    }
    return run >= COUNT;
})()"""


def wait_for_run(page, count=200):
    """Waits until the page has received so many messages of samples without a gap. Of live samples some are lost while other processes
    keep the page from running."""
    page.evaluate(RECORD)
    wait(page, HAS_RUN.replace("COUNT", str(count)))
    return count


@pytest.fixture
def connect(open_page):
    def connect(url, **options):
        page = open_page(url, size=(320, 180), **options)
        wait(page, "hemiola.connected")
        return page

    return connect


def test_our_page_receives_samples_without_a_gap(clicks, connect):
    wait_for_run(connect(f"{clicks.url}&bare&seed=1"))


@pytest.mark.release
def test_our_page_receives_43_messages_a_second(clicks, connect):
    page = connect(f"{clicks.url}&bare&seed=1")
    # While shaders are compiled the page does not read.
    page.evaluate("async () => { for (let i = 0; i < 60; i++) await new Promise(done => requestAnimationFrame(done)); }")
    count = 430
    seconds = page.evaluate("""count => new Promise(done => {
        const start = performance.now();
        hemiola.addEventListener('samples', () => { if (--count === 0) done((performance.now() - start) / 1000); });
    })""", count)
    print(f"{count / seconds} messages a second")
    assert abs(count / seconds - 43) <= 1


def test_page_reconnects_to_a_restarted_program_by_itself_with_a_visible_outage(start, connect):
    program = start()
    page = connect(program.url)
    assert program.stop() == 130
    wait(page, "!hemiola.connected && !document.getElementById('outage').hidden")
    again = start(web=f"port={program.port}", folder=program.folder)
    assert again.url == program.url, "the same port and token"
    wait(page, "hemiola.connected && document.getElementById('outage').hidden")
    page.evaluate(RECORD)
    wait(page, "received.length > 20")


def test_reloaded_page_keeps_preset_and_speed_also_without_the_token_in_the_url(start, connect):
    program = start()
    page = connect(program.url)
    wait_for_presets(page)
    name = page.evaluate("getPresetNames()")[-1]
    page.evaluate(
        """name => {
            loadPresetByName(name);
            webkit.messageHandlers.presetHandler.postMessage(getCurrentPreset());
            webkit.messageHandlers.speedHandler.postMessage(0.35);
        }""", name)
    program.next("preset", name=name)
    program.next("speed", speed=0.35)
    for load in [page.reload, lambda: page.goto(f"{program.origin}/")]:
        load()
        wait(page, f"hemiola.connected && getCurrentPreset() === {json.dumps(name)}")
        assert page.evaluate("[document.getElementById('speed').valueAsNumber, initialSpeed]") == [0.35, 0.35]
        assert page.evaluate("new TextDecoder().decode(Uint8Array.from(atob(initialPresetNameB64), c => c.charCodeAt(0)))") == name


def test_two_tabs_receive_all_samples_and_show_a_preset_that_is_chosen_in_one(start, connect):
    program = start()
    pages = [connect(program.url)]
    pages.append(connect(program.url, beside=pages[0]))
    for page in pages:
        page.evaluate(RECORD)
    for page in pages:
        wait(page, "received.length > 100")
        wait_for_presets(page)
    current = pages[1].evaluate("getCurrentPreset()")
    name = [name for name in pages[0].evaluate("getPresetNames()") if name != current][-1]
    assert program.send("loadPreset", f"name={name}").returncode == 0
    for page in pages:
        wait(page, f"getCurrentPreset() === {json.dumps(name)}")


class HiddenTab:
    """A tab in a window that can be minimized: a hidden page draws nothing, and its timers are slow.

    Playwright makes all its pages visible, except those of a browser to whose DevTools it connects without its defaults.
    """

    def __init__(self, playwright, home):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        self.browser = launch(playwright, home, f"--remote-debugging-port={port}")
        self.page = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}", no_defaults=True).contexts[0].new_page()
        self.session = self.page.context.new_cdp_session(self.page)

    def set_hidden(self, hidden):
        window = self.session.send("Browser.getWindowForTarget")["windowId"]
        state = "minimized" if hidden else "normal"
        self.session.send("Browser.setWindowBounds", {"windowId": window, "bounds": {"windowState": state}})
        wait(self.page, f"document.hidden === {str(hidden).lower()}")


@pytest.mark.parametrize("others", ["hidden blocked", *(pytest.param(o, marks=pytest.mark.release) for o in ["none", "hidden", "blocked"])])
def test_page_with_push_samples_receives_all_samples_whatever_other_tabs_do(others, start, connect, write_page, playwright, tmp_path):
    program = start(web=f"port=0,page={write_page(COUNTING)}")
    tab = HiddenTab(playwright, tmp_path)
    page = connect(program.url, browser=tab.browser)
    if "hidden" in others:
        tab.page.goto(program.url)
    if "blocked" in others:
        blocked = connect(program.url, browser=tab.browser)
    wait(page, "calls > 43")
    if "hidden" in others:
        tab.set_hidden(True)
    if "blocked" in others:
        # It reads for a moment every two seconds.
        blocked.evaluate("""() => {
            window.timer = setInterval(() => { const end = performance.now() + 2000; while (performance.now() < end); }, 1);
        }""")
    before = page.evaluate("calls")
    count = wait_for_run(page)
    assert page.evaluate("calls") - before >= count
    assert errors(page) == []
    # The others receive the newest samples afterwards.
    if "blocked" in others:
        blocked.evaluate("clearInterval(timer)")
        wait(blocked, f"calls > {blocked.evaluate('calls') + 43}")
    if "hidden" in others:
        tab.set_hidden(False)
        wait(tab.page, f"calls > {tab.page.evaluate('calls') + 43}")
    tab.browser.close()
