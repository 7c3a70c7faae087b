"""Times in our page, which are measured before a release. The browser computes WebGL without a GPU, so the picture is small."""

from statistics import median

import pytest

from conftest import wait, wait_for_presets

# Marks the time at which the browser has taken over the first picture of a WebGL canvas.
FIRST_PICTURE = """
    for (const name of ['drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced']) {
        const draw = WebGL2RenderingContext.prototype[name];
        WebGL2RenderingContext.prototype[name] = function (...values) {
            draw.apply(this, values);
            if (window.isDrawn || this.getParameter(this.DRAW_FRAMEBUFFER_BINDING) !== null) return;
            window.isDrawn = true;
            requestAnimationFrame(() => performance.mark('first-picture'));
        };
    }
"""
TRIANGLE = """
    const gl = document.querySelector('canvas').getContext('webgl2'), program = gl.createProgram();
    const add = (type, text) => {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
    };
    add(gl.VERTEX_SHADER, 'attribute float i; void main() { gl_Position = vec4(i, i, 0, 1); }');
    add(gl.FRAGMENT_SHADER, 'void main() { gl_FragColor = vec4(1); }');
    gl.linkProgram(program);
    gl.useProgram(program);
    requestAnimationFrame(() => gl.drawArrays(gl.TRIANGLES, 0, 3));
"""
TIMES = """
    window.times = {beats: [], messages: [], intervals: []};
    window.WebSocket = class extends WebSocket {
        constructor(...values) {
            super(...values);
            this.addEventListener('message', event => {
                if (!(event.data instanceof ArrayBuffer)) return;
                const view = new DataView(event.data);
                times.messages.push([view.getFloat64(8, true), view.getFloat64(16, true)]);
            });
        }
    };
"""
MEASURE = """() => {
    hemiola.addEventListener('beatdrawn', event => times.beats.push([event.detail.t, event.detail.time]));
    let last = performance.now();
    const measure = now => { times.intervals.push(now - last); last = now; requestAnimationFrame(measure); };
    requestAnimationFrame(measure);
}"""


@pytest.mark.release
def test_first_picture_appears_within_one_second_after_the_page_is_opened(clicks, open_page, serve, write_page):
    def time_to_picture(url):
        """The seconds from the start of the navigation to the first picture."""
        page = open_page(url, size=(320, 180), script=FIRST_PICTURE)
        wait(page, "performance.getEntriesByName('first-picture').length")
        seconds = page.evaluate("performance.getEntriesByName('first-picture')[0].startTime / 1000")
        page.context.close()
        return seconds

    addresses = [f"{clicks.url}&seed=1", f"{serve(write_page(TRIANGLE, '<canvas width=64 height=64></canvas>'))}/"]
    # The first pages start processes of the browser.
    for address in addresses:
        time_to_picture(address)
    times = [[time_to_picture(address) for address in addresses] for _ in range(5)]
    own, triangle = (median(column) for column in zip(*times))
    print(f"first picture: median {own} s; one triangle: {triangle} s; {times}")
    # A machine with nothing else to do shows the triangle within 0.15 s. Other processes delay both pages.
    assert own <= max(1, triangle / 0.15), times


# Without WebGL, the plain picture is drawn.
NO_WEBGL = """
    const getContext = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...values) {
        return kind === 'webgl2' ? null : getContext.call(this, kind, ...values);
    };
"""


@pytest.mark.release
@pytest.mark.parametrize("script", ["", NO_WEBGL], ids=["WebGL", "plain"])
def test_beats_of_a_click_track_are_drawn_within_25_ms_of_their_samples_for_95_percent(start, open_page, script):
    page = open_page(f"{start().url}&bare&seed=1&size=48x48", size=(320, 180), script=script + TIMES)
    wait(page, "hemiola.connected")
    page.evaluate(MEASURE)
    # The first beats are found by their sound; later ones are announced.
    wait(page, "times.beats.length >= 8", 120)
    page.evaluate("times.beats.length = times.intervals.length = 0")
    wait(page, "times.beats.length >= 40", 120)
    times = page.evaluate("times")

    def start_ms(t):
        """The host's clock at stream time 0, from the batches around a beat: none is encoded before its last frame, and a machine that
        was stalled for more than 0.1 s has moved the stream (`RealTimePace`)."""
        return min(host - (frame + 1024) / 44.1 for frame, host in times["messages"] if abs(frame / 44100 - t) < 2)

    # The time of the host's monotonic clock at which `performance.now()` is 0.
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    origin = metrics["NavigationStart"] * 1000
    errors = [origin + drawn - (start_ms(t) + round(t * 2) / 2 * 1000) for t, drawn in times["beats"]]
    # A browser without a GPU on a busy machine draws fewer than 30 pictures a second: a beat is drawn with the nearest one.
    interval = median(times["intervals"])
    limit = 25 + max(0, interval - 33.4) / 2
    good = sum(abs(error) <= limit for error in errors)
    print(f"beats: median error {median(errors)} ms, {good} of {len(errors)} within {limit} ms; a picture each {interval} ms")
    assert good >= 0.95 * len(errors), errors
    assert abs(median(errors)) < 25


# The times of all pictures of a stage, WebGL's and plain ones, and `start`, when the page could show the first.
COUNT_PICTURES = """
    window.pictures = [];
    window.start = performance.now();
    let frame = 0, counted = 0;
    (function next() { frame += 1; requestAnimationFrame(next); })();
    function count(kind, name, isPicture) {
        const original = kind.prototype[name];
        kind.prototype[name] = function (...values) {
            if (isPicture(this, ...values) && counted !== frame) {
                counted = frame;
                pictures.push(performance.now());
            }
            return original.apply(this, values);
        };
    }
    count(WebGL2RenderingContext, 'bindFramebuffer', (context, target, buffer) => buffer === null);
    count(CanvasRenderingContext2D, 'createLinearGradient', (context) => context.canvas.id === 'stage');
"""
# A picture of the processor in the size of the page: what this machine can show beside its other work.
PLAIN_CANVAS = """
    const context = document.querySelector('canvas').getContext('2d', {willReadFrequently: true});
    (function draw() {
        context.fillStyle = context.createLinearGradient(0, 0, 0, 9);
        context.fillRect(pictures.length % 800, 0, 9, 9);
        requestAnimationFrame(draw);
    })();
"""


@pytest.mark.release
def test_slow_webgl_never_draws_less_than_20_pictures_a_second_for_3_seconds(clicks, open_page, serve, write_page):
    def rates(url, seconds):
        """Pictures in each half second."""
        page = open_page(url, size=(1280, 720), script=COUNT_PICTURES)
        wait(page, f"pictures.length > 1 && performance.now() > start + {1000 * seconds}", 120)
        times = page.evaluate("pictures.map(time => time - start)")
        return page, [sum(500 * half <= time < 500 * (half + 1) for time in times) for half in range(2 * seconds)]

    reference, plain = rates(f"{serve(write_page(PLAIN_CANVAS, '<canvas id=stage width=1280 height=720></canvas>'))}/", 4)
    reference.context.close()
    # A machine with nothing else to do shows 60 a second.
    share = min(1, median(plain[2:]) / 30)
    page, shown = rates(clicks.url, round(max(12, 6 / share)))
    slow = longest = 0
    for count in shown:
        slow = slow + 0.5 if count < 10 * share else 0
        longest = max(longest, slow)
    print(f"pictures in each half second: {shown}; a plain canvas: {plain}")
    assert longest <= 3 / share, shown
    # The plain picture leaves the processor time for other work.
    assert max(shown[-6:]) <= 18, shown


def test_slow_webgl_is_replaced_by_the_plain_picture_and_presets_can_be_tried_again(clicks, open_page):
    page = open_page(clicks.url, size=(1280, 720))
    # The browser of the tests computes WebGL by software: the page says that it shows the plain picture.
    wait(page, "document.getElementById('message').textContent !== ''", 120)
    wait_for_presets(page)
    assert page.evaluate("getPresetNames().length") > 1
    page.evaluate("""() => {
        window.changes = [];
        const button = document.getElementById('retry');
        new MutationObserver(() => changes.push(button.hidden)).observe(button, {attributes: true});
    }""")
    page.mouse.move(100, 100)
    page.click("#retry")
    # The presets are tried, and are too slow again.
    wait(page, "changes.join() === 'true,false'", 120)
