"""The presets of the user: files of Butterchurn, in a frame of their own. A stand-in with its interface takes the place of Butterchurn."""

import json
import os
import select
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import HEMIOLA, KEEP_SHOWN, errors, picture, until, wait, wait_for_presets

COLOURS = {"Rose Field": (255, 0, 0), "Meadow": (0, 255, 0)}
STAND_IN = Path(__file__).with_name("butterchurn.standin.js")


def preset(colour, code=""):
    return json.dumps({"version": 2, "baseVals": {"colour": colour}, "shapes": [], "waves": [], "frame_eqs_str": code})


def add(folder, *paths):
    return subprocess.run(
        [HEMIOLA, "presets", "add", *paths], env={**os.environ, "XDG_DATA_HOME": str(folder / "data")}, capture_output=True, text=True,
        timeout=60)


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """A folder with the stand-in, and a function that writes presets into it and adds them for the programs of the test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "butterchurn.min.js").write_bytes(STAND_IN.read_bytes())

    def collection(presets):
        for name, text in presets.items():
            (folder / f"{name}.json").write_text(text)
        outcome = add(tmp_path, folder)
        assert outcome.returncode == 0 and outcome.stderr == "", outcome.stderr
        return outcome.stdout

    collection.folder = folder
    return collection


def has_colour(page, red, green, blue):
    pixels = picture(page)[200:300, 200:300, :3].mean(axis=(0, 1))
    return abs(pixels - [red, green, blue]).max() < 12


def until_colour(page, *colour):
    until(lambda: has_colour(page, *colour), colour)


def open_bare(open_page, program, presets):
    # With a seed a slow machine draws the presets, too, in place of the plain picture.
    page = open_page(f"{program.url}&seed=1", size=(640, 480), script=KEEP_SHOWN)
    wait_for_presets(page)
    wait(page, f"{json.dumps(presets)}.every(name => getPresetNames().includes(name))")
    return page


def test_presets_of_the_folder_are_listed_found_loaded_blended_and_reported(collection, start, open_page):
    assert "butterchurn.min.js added to" in collection({"Rose Field": preset("#ff0000"), "Meadow": preset("#00ff00")})
    program = start(sinks=["presets:list=" + str(collection.folder) + ",mode=manual"])
    page = open_bare(open_page, program, ["Rose Field", "Meadow"])
    # The cycler begins.
    first = program.next("preset")["name"]
    assert first in ("Meadow", "Rose Field")
    until_colour(page, *COLOURS[first])
    for name in ("Meadow", "Rose Field"):
        page.keyboard.press("/")
        page.fill("#search", name[:6].lower())
        page.press("#search", "Enter")
        page.keyboard.press("Escape")
        until_colour(page, *COLOURS[name])
    assert page.evaluate("getCurrentPreset()") == "Rose Field"
    # The page shows a preset before Hemiola hears of it.
    program.next("preset", name="Rose Field")
    # Back to one of the page's own, which the frame covers no longer.
    page.evaluate("loadPresetByName('Silk')")
    wait(page, "document.querySelector('.stage-frame').style.opacity === '0'")
    assert page.evaluate("getCurrentPreset()") == "Silk" and not has_colour(page, 0, 255, 0)
    assert errors(page) == []


def test_preset_of_the_last_run_is_shown_again_when_it_is_listed(collection, start, open_page):
    collection({"Rose Field": preset("#ff0000")})
    page = open_page(f"{start().url}&seed=1&preset=Rose%20Field", size=(640, 480))
    wait_for_presets(page)
    until_colour(page, 255, 0, 0)


def test_preset_of_the_user_in_the_address_wins_over_the_last_one_and_stays_when_hemiola_requests_another(collection, start, open_page):
    collection({"Rose Field": preset("#ff0000")})
    program = start()
    page = open_bare(open_page, program, ["Rose Field"])
    page.click("#presets-button")
    page.fill("#search", "silk")
    page.press("#search", "Enter")
    program.next("preset", name="Silk")
    page.close()
    page = open_page(f"{program.url}&seed=1&preset=Rose%20Field", size=(640, 480))
    wait_for_presets(page)
    until_colour(page, 255, 0, 0)
    page.evaluate("loadPresetByName('Vinyl')")
    assert page.evaluate("getCurrentPreset()") == "Rose Field"


def test_missing_preset_in_the_address_is_said_and_presets_of_hemiola_are_shown(start, open_page):
    program = start()
    page = open_page(f"{program.url}&seed=1&preset=Rose%20Feild", size=(640, 480))
    assert "Rose Feild" in program.message("error in the page")
    assert "Rose Feild" in page.text_content("#message")
    wait_for_presets(page)
    page.evaluate("loadPresetByName('Vinyl')")
    assert page.evaluate("getCurrentPreset()") == "Vinyl"


# Every way to the network that a page or a worker has. Each may throw.
ROUTES = """
    const elements = ["a", "area", "audio", "base", "body", "embed", "fencedframe", "feImage", "form", "frame", "iframe", "image", "img", "input",
        "link", "meta", "object", "param", "picture", "portal", "script", "source", "style", "svg", "table", "track", "use", "video"];
    const relations = ["dns-prefetch", "icon", "manifest", "modulepreload", "preconnect", "prefetch", "preload", "prerender", "stylesheet"];
    const attributes = ["action", "background", "data", "formaction", "href", "ping", "poster", "src", "srcset"];
    const document_ = () => globalThis.document;
    const makers = [
        (name) => document_().createElement(name), (name) => document_().createElementNS("http://www.w3.org/2000/svg", name),
        (name) => new DOMParser().parseFromString(`<${name}>`, "text/html").querySelector(name),
        (name) => document_().createRange().createContextualFragment(`<${name}>`).firstElementChild,
        (name) => { const part = document_().body; part.innerHTML = `<${name}>`; return part.firstElementChild; },
    ];
    const routes = [];
    for (const name of elements) {
        for (const make of makers) {
            for (const relation of name === "link" ? relations : [""]) {
                routes.push(() => {
                    const element = make(name);
                    if (relation) element.setAttribute("rel", relation);
                    if (relation === "preload") element.setAttribute("as", "image");
                    for (const attribute of attributes) element.setAttribute(attribute, origin + name);
                    if (name === "meta") Object.assign(element, { httpEquiv: "refresh", content: `0;url=${origin}meta` });
                    if (name === "style") element.textContent = `@import "${origin}import"; body { background: url(${origin}background) }`;
                    document_().body.append(element);
                    element.click?.();
                });
            }
        }
    }
    routes.push(
        () => { new Image().src = origin + "image"; }, () => new Audio(origin + "audio").play(), () => fetch(origin, { mode: "no-cors" }),
        () => fetch("/", { mode: "no-cors" }), () => { const call = new XMLHttpRequest(); call.open("GET", origin); call.send(); },
        () => new WebSocket(origin.replace("http", "ws")), () => new EventSource(origin), () => new WebTransport(origin.replace("http:", "https:")),
        () => navigator.sendBeacon(origin, "x"), () => importScripts(origin), () => import(origin), () => new Worker(origin),
        () => new SharedWorker(origin), () => new FontFace("x", `url(${origin}font)`).load(), () => CSS.paintWorklet.addModule(origin),
        () => navigator.serviceWorker.register(origin), () => window.open(origin), () => { location.href = origin; },
        () => new RTCPeerConnection({ iceServers: [{ urls: origin.replace("http://", "stun:").slice(0, -1) }] }).createDataChannel(""),
        () => document_().write(`<link rel=preconnect href=${origin}>`),
    );"""


def test_code_of_a_preset_reaches_neither_the_page_nor_the_network(collection, start, open_page):
    """Connections are counted, not requests: a preconnection sends none."""
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connections.append(connection.recv(200) if select.select([connection], [], [], 1)[0] else b"")
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        nested = "const routes = [() => fetch(origin, {mode: 'no-cors'}), () => new WebSocket(origin.replace('http', 'ws'))];"
        reach = f"""
            const origin = "http://127.0.0.1:{server.getsockname()[1]}/";
            const is = (read) => {{ try {{ return Boolean(read()); }} catch {{ return false; }} }};
            const run = (routes) => routes.forEach((route) => {{ try {{ Promise.resolve(route()).catch(() => {{}}); }} catch {{}} }});
            a.reached ??= [
                is(() => parent.document), is(() => localStorage), is(() => document.cookie), is(() => parent.hemiola),
                is(() => document.referrer), is(() => location.href.includes("token")), is(() => document.body),
            ].some(Boolean);
            if (!a.tried) {{
                a.tried = true;
                {ROUTES}
                run(routes);
                const code = `const origin = "${{origin}}"; {nested} const run = ${{run}}; run(routes); postMessage(routes.length);`;
                const worker = new Worker(URL.createObjectURL(new Blob([code])));
                // Nothing tells that no connection comes.
                worker.onmessage = () => setTimeout(() => a.done = true, 2000);
            }}
            a.colour = a.reached ? "#ff0000" : a.done ? "#0000ff" : "#00ff00";"""
        collection({"Spy": preset("#00ff00", reach)})
        page = open_bare(open_page, start(), ["Spy"])
        page.evaluate("loadPresetByName('Spy')")
        until_colour(page, 0, 0, 255)
        assert connections == []
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("fault", "message"), [
    ("throw new Error('no such variable')", "no such variable"),
    ("if (a.count = (a.count ?? 0) + 1, a.count > 20) for (;;);", "it does not answer"),
    ("for (let i = 0; i < 1000; i++) a.flood();", "it sends too many messages"),
    ("a.colour = Symbol();", "Symbol"),
])
def test_preset_that_throws_hangs_or_floods_is_stopped_and_named_and_the_page_goes_on(fault, message, collection, start, open_page):
    # The port of the frame is not reachable; its prototype is.
    flood = """
        if (!MessagePort.prototype.original) {
            MessagePort.prototype.original = MessagePort.prototype.postMessage;
            MessagePort.prototype.postMessage = function (...values) { window.port = this; this.original(...values); };
        }
        a.flood = () => window.port?.original({});"""
    collection({"Good": preset("#00ff00"), "Bad": preset("#ff0000", flood + fault)})
    program = start()
    page = open_bare(open_page, program, ["Good", "Bad"])
    page.evaluate("loadPresetByName('Silk')")
    page.evaluate("loadPresetByName('Bad')")
    line = program.message("error in the page")
    assert "preset Bad: " in line and message in line
    assert page.evaluate("getPresetNames().includes('Bad')") is False
    wait(page, "getCurrentPreset() !== 'Bad'")
    page.evaluate("loadPresetByName('Good')")
    until_colour(page, 0, 255, 0)


def test_dropped_files_are_presets_too_until_they_are_forgotten(start, open_page):
    program = start()
    page = open_page(f"{program.url}&seed=1", size=(640, 480), script=KEEP_SHOWN)
    wait_for_presets(page)

    # Other messages can follow at once.
    page.evaluate("""() => {
        window.messages = [];
        new MutationObserver(() => messages.push(document.getElementById("message").textContent))
            .observe(document.getElementById("message"), { childList: true });
    }""")

    def drop(files):
        page.evaluate("""(files) => {
            const data = new DataTransfer();
            for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
            document.getElementById("main").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""", files)

    drop({"rain.milk": "[preset00]"})
    wait(page, "messages.some(text => text.includes('milkdrop-preset-converter'))")
    drop({"nothing.js": "let unused = 1"})
    wait(page, "messages.some(text => text.includes('nothing.js: exports neither'))")
    drop({"note.json": "{}"})
    wait(page, "messages.some(text => text.includes('not a preset of Butterchurn'))")
    drop({"Rose.json": preset("#ff0000"), "butterchurn.js": STAND_IN.read_text()})
    wait(page, "messages.includes('Rose added')")
    until_colour(page, 255, 0, 0)
    assert program.send("import", str(write_preset(program.folder, "Sea", "#0000ff"))).stdout == '["Sea"]\n'
    until_colour(page, 0, 0, 255)
    # Again with another colour, in place of the first.
    assert program.send("import", str(write_preset(program.folder, "Sea", "#ffff00"))).stdout == '["Sea"]\n'
    until_colour(page, 255, 255, 0)
    page.reload()
    wait(page, "['Rose', 'Sea'].every(name => getPresetNames().includes(name))")
    page.click("#presets-button")
    page.click("#forget")
    wait(page, "!['Rose', 'Sea'].some(name => getPresetNames().includes(name))")
    assert page.evaluate("getPresetNames().includes(getCurrentPreset())")
    page.reload()
    wait_for_presets(page)
    # Nothing is left from which the page would load them, now or later.
    assert page.evaluate("caches.open('hemiola-presets').then(store => store.keys()).then(keys => keys.length)") == 0
    assert page.evaluate("getPresetNames().includes('Rose')") is False


def write_preset(folder, name, colour):
    path = folder / f"{name}.json"
    path.write_text(preset(colour))
    return path


def test_thousands_of_presets_are_searched_marked_and_scrolled(collection, start, open_page):
    collection({f"Preset {number:04}": preset("#00ff00") for number in range(5000)})
    page = open_bare(open_page, start(), ["Preset 0000", "Preset 4999"])
    page.click("#presets-button")
    assert page.evaluate("document.getElementById('preset-options').children.length") <= 200
    # What is not made yet is told.
    assert page.text_content("#preset-count") == page.get_attribute("#preset-option-0", "aria-setsize") + " presets"
    page.fill("#search", "no preset has this name")
    wait(page, "document.getElementById('preset-count').textContent === 'No preset matches “no preset has this name”'")
    page.fill("#search", "")
    page.evaluate("document.getElementById('preset-options').scrollTop = 1e9")
    wait(page, "document.getElementById('preset-options').children.length > 200")
    page.fill("#search", "4321")
    wait(page, "document.getElementById('preset-options').children.length === 1")
    page.press("#search", "Enter")
    page.press("#search", "Escape")
    until_colour(page, 0, 255, 0)
    page.keyboard.press("m")
    wait(page, "document.getElementById('favourite').getAttribute('aria-pressed') === 'true'")
    page.click("#presets-button")
    page.fill("#search", "")
    page.check("#favourites-only")
    wait(page, "document.getElementById('preset-options').children.length === 1")
    assert page.text_content("#preset-options .option-name") == "Preset 4321"
    assert errors(page) == []
