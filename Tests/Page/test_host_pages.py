"""Pages written for a native web view, which Hemiola serves unchanged."""

import pytest
from conftest import ROOT, difference, errors, picture, wait


class Observer:
    """Evaluates expressions without the user activation that `page.evaluate` gives to a page."""

    def __init__(self, page):
        self.page = page
        self.session = page.context.new_cdp_session(page)

    def evaluate(self, expression):
        result = self.session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression):
        self.evaluate(f"""(async () => {{
            const end = performance.now() + 60000;
            while (!({expression})) {{
                if (performance.now() > end) throw new Error('timeout');
                await new Promise(requestAnimationFrame);
            }}
        }})()""")


@pytest.fixture
def host(start, write_page):
    """Serves a page with a script."""
    return lambda script, web="port=0": start(web=f"{web},page={write_page(script)}")


def test_default_autoplay_policy_resumes_audio_at_once_and_at_the_first_gesture_and_never_awaits_it(host, open_page):
    program = host("""
        window.context = new AudioContext();
        window.calls = 0;
        window.resumes = [];
        window.pushSamples = () => calls += 1;
        window.resumeAudio = async () => {
            resumes.push(navigator.userActivation.hasBeenActive);
            await context.resume();
        };
    """)
    page = open_page(program.url)
    observer = Observer(page)
    observer.wait("resumes.length === 1 && calls > 86")
    assert observer.evaluate("resumes") == [False]
    assert observer.evaluate("context.state") == "suspended", "the browser's default policy requires a gesture"
    page.mouse.click(100, 100)
    observer.wait("resumes.length === 2 && context.state === 'running'")
    page.mouse.click(120, 100)
    page.keyboard.press("x")
    observer.wait(f"calls > {observer.evaluate('calls') + 20}")
    assert observer.evaluate("resumes") == [False, True]


def test_functions_that_appear_late_are_called_as_soon_as_they_exist(host, open_page):
    program = host("""
        window.log = [];
        window.appear = () => {
            window.setSpeed = speed => log.push(['setSpeed', speed]);
            window.loadPresetByName = name => log.push(['loadPresetByName', name]);
            window.getPresetNames = async () => ['One', 'Zwei "2"', 'Élan'];
            window.getCurrentPreset = () => { throw new Error('none yet'); };
            window.pushSamples = () => {};
        };
    """)
    page = open_page(program.url)
    wait(page, "hemiola.connected")
    assert program.send("setSpeed", "speed=0.45").returncode == 0
    page.evaluate("appear()")
    assert program.next("control", control="ready")["presets"] == ["One", 'Zwei "2"', "Élan"]
    wait(page, "log.some(([name, value]) => name === 'setSpeed' && value === 0.45)")
    assert program.send("loadPreset", 'name=Zwei "2"').returncode == 0
    wait(page, """log.some(([name, value]) => name === 'loadPresetByName' && value === 'Zwei "2"')""")


def test_message_handlers_are_present_before_the_scripts_and_applied_by_the_program(host, open_page):
    program = host("""
        window.early = [typeof webkit.messageHandlers.presetHandler.postMessage, window.initialPresetNameB64, window.initialSpeed];
        window.pushSamples = () => {};
        window.loadPresetByName = () => {};
        window.getPresetNames = () => ['Nebel', 'Rain'];
    """)
    page = open_page(program.url)
    assert page.evaluate("early") == ["function", None, None]
    program.next("control", control="ready")
    for handler, body, record in [
        ("presetHandler", "Rain", ("preset", {"name": "Rain"})),
        ("speedHandler", 0.25, ("speed", {"speed": 0.25})),
        ("keyHandler", "k", ("key", {"key": "k"})),
    ]:
        page.evaluate("([handler, body]) => webkit.messageHandlers[handler].postMessage(body)", [handler, body])
        program.next(record[0], **record[1])
    page.reload()
    assert page.evaluate("[atob(early[1]), early[2]]") == ["Rain", 0.25]


def test_examples_page_works_unchanged(start, open_page):
    program = start("noise", web=f"port=0,page={ROOT}/examples/page,handlers=lamp")
    page = open_page(program.url, size=(480, 320))
    observer = Observer(page)
    assert program.next("control", control="ready")["presets"] == ["Rings", "Bars", "Étincelles"]
    assert program.next("preset")["name"] == "Rings"
    observer.wait("getStatistics().received > 86 && getStatistics().level > 0.01 && getStatistics().audio === 'suspended'")
    rings = picture(page)
    page.click("#next")
    assert program.next("preset")["name"] == "Bars"
    wait(page, "getStatistics().audio === 'running'")
    assert difference(picture(page), rings) > 1
    assert program.send("loadPreset", "name=Étincelles").returncode == 0
    wait(page, "getCurrentPreset() === 'Étincelles'")
    assert program.send("setSpeed", "speed=0.3").returncode == 0
    wait(page, "getStatistics().speed === 0.3")
    page.focus("#speed")
    page.keyboard.press("ArrowRight")
    program.next("speed", speed=0.35)
    page.evaluate("document.activeElement.blur()")
    for key in "awsedftgyhujkolp":
        page.keyboard.press(key)
        program.next("key", key=key)
    page.reload()
    wait(page, "getCurrentPreset() === 'Étincelles' && getStatistics().speed === 0.35")
    assert errors(page) == []


@pytest.mark.parametrize("allowed", [True, False])
def test_page_of_another_server_connects_with_the_token_if_its_origin_is_allowed(allowed, start, open_page, serve, write_page):
    server = serve(write_page())
    program = start(web=f"port=0,origin={server}" if allowed else "port=0")
    page = open_page(f"{server}/")
    page.evaluate(
        """source => {
            window.calls = 0;
            window.pushSamples = () => calls += 1;
            window.refusals = 0;
            window.WebSocket = class extends WebSocket {
                constructor(...values) {
                    super(...values);
                    this.addEventListener('close', () => refusals += 1);
                }
            };
            const script = document.createElement('script');
            script.src = source;
            document.head.append(script);
        }""", f"{program.origin}/hemiola.js?token={program.token}")
    wait(page, "window.hemiola")
    if allowed:
        wait(page, "hemiola.connected && calls > 43")
        page.evaluate("webkit.messageHandlers.speedHandler.postMessage(0.3)")
        program.next("speed", speed=0.3)
    else:
        wait(page, "refusals > 2")
        assert page.evaluate("[hemiola.connected, calls]") == [False, 0]


def test_page_without_samples_knows_the_time_of_the_stream_from_its_beats(host, open_page):
    program = host("""
        window.times = [];
        hemiola.subscribe(["beat"]);
        hemiola.addEventListener("beat", ({ detail }) => times.push([detail.emitted_t, hemiola.toLocalTime(detail.emitted_t)]));
    """)
    page = open_page(program.url)
    # The difference of the page's time and the stream's is that of the message that was late least, and does not grow.
    wait(page, "times.length > 8")
    differences = [round(local - 1000 * stream, 3) for stream, local in page.evaluate("times")]
    assert differences == sorted(differences, reverse=True)
