"""One Chromium for all tests of the page, a context of its own for each, and the programs that serve pages."""

import functools
import http.client
import io
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy
import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "Plugins/Sinks/Visualizers/Web/Page"
HEMIOLA = Path(os.environ.get("HEMIOLA", ROOT / ".build/tests/release/hemiola")).resolve()
CHROMIUM = shutil.which("chromium")

# Controls and panels do not fade.
KEEP_SHOWN = "if (window === top) localStorage['hemiola.keep-shown'] = 'on';"

# All but files are endless.
SOURCES = {
    "clicks": ["--capture", "tone:clicks,bpm=120,seconds=0"],
    "noise": ["--capture", "tone:noise,color=pink,level_db=-6,seconds=0"],
    "silence": ["--capture", "tone:silence,seconds=0"],
}


def until(is_so, what, seconds=60):
    """Asks until the answer is yes, for a change that no event announces. An answer takes the time of a process or a picture: no pause."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"timeout while waiting for {what}"


class Program:
    """The program with the sink `web`, a socket for `hemiola send`, and its records on standard output."""

    def __init__(self, folder, source="clicks", web="port=0", analyzers=(), sinks=()):
        self.folder = folder
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
        arguments = ["analyze", *SOURCES.get(source, [source]), "--realtime"]
        for analyzer in analyzers:
            arguments += ["--analyzer", f"+{analyzer}"]
        for sink in [f"web:{web}", "socket:s", "json-lines", *sinks]:
            arguments += ["--sink", sink]
        self.process = subprocess.Popen(
            [HEMIOLA, *arguments], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.records = queue.Queue()
        self.messages = queue.Queue()
        self.all_messages = []
        self.threads = [threading.Thread(target=self._read_records), threading.Thread(target=self._read_messages)]
        for thread in self.threads:
            thread.start()
        self.url = next(word for word in reversed(self.message("web: open http://").split()) if word.startswith("http://"))
        self.origin = self.url.split("/?")[0]
        self.port = int(self.origin.rpartition(":")[2])
        self.token = self.url.rpartition("=")[2]

    def _read_records(self):
        for line in self.process.stdout:
            if not line.startswith('{"type":"batch"'):
                self.records.put(json.loads(line))

    def _read_messages(self):
        for line in self.process.stderr:
            self.all_messages.append(line)
            self.messages.put(line)

    def next(self, kind, seconds=60, **members):
        """The next record of a type with these members. Records before it are skipped, also for later calls."""
        end = time.monotonic() + seconds
        skipped = []
        while True:
            try:
                record = self.records.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no record {kind} with {members} after {skipped[-20:]}") from None
            if record["type"] == kind and members.items() <= record.items():
                return record
            skipped.append(record)

    def message(self, text, seconds=60):
        """The next message with this text. Messages before it are skipped, also for later calls."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.messages.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no message with '{text}' in {self.all_messages}") from None
            if text in line:
                return line

    def send(self, *arguments):
        return subprocess.run(
            [HEMIOLA, "send", *arguments, "--socket", "s"], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=60)

    def status(self):
        return json.loads(self.send("status").stdout)

    def get(self, path, **headers):
        """Status and body of a response. The path is sent unchanged: a browser would normalize it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def stop(self, number=signal.SIGINT):
        """Ends the program, and returns its exit code."""
        self.process.send_signal(number)
        return self.finish()

    def finish(self):
        code = self.process.wait(timeout=60)
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def launch(playwright, home, *flags):
    """A headless Chromium with its default autoplay policy, without a display and a sound server."""
    return playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-proxy-server",
              "--force-color-profile=srgb", *flags],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8",
             "DBUS_SESSION_BUS_ADDRESS": "disabled:", "TZ": "UTC"})


def wait(page, expression, seconds=60):
    """Waits until an expression is true. Until then it may fail, as in a page that loads."""
    page.wait_for_function(
        f"() => {{ try {{ return {expression}; }} catch {{ return false; }} }}", timeout=1000 * seconds, polling=20)


def wait_for_presets(page):
    wait(page, "hemiola.connected && typeof getPresetNames === 'function'")


def errors(page):
    """Errors of the console and exceptions, except that there is no icon at the address where browsers look for one."""
    console = [
        f"{message.type}: {message.text} {message.location['url']}" for message in page.console_messages(filter="all")
        if message.type in ("error", "assert")]
    return [text for text in console if "/favicon.ico" not in text] + [str(error) for error in page.page_errors(filter="all")]


def picture(page, transparent=False):
    """The pixels of the viewport: rows, columns, and red, green, blue and alpha."""
    png = page.screenshot(omit_background=transparent, timeout=120_000)
    return numpy.asarray(Image.open(io.BytesIO(png)).convert("RGBA")).astype(int)


def difference(one, other):
    """The mean difference of red, green and blue: 0 (equal) to 255."""
    assert one.shape == other.shape
    return abs(one - other)[..., :3].mean()


def colours(pixels):
    """The number of different colours."""
    return len(numpy.unique(pixels[..., :3].reshape(-1, 3), axis=0))


@pytest.fixture(scope="session")
def playwright():
    if not CHROMIUM:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("chromium is not installed")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright, tmp_path_factory):
    browser = launch(playwright, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser):
    """Opens a page in a context of its own, or in that of the page `beside`; it ends with the test."""
    contexts = []

    def open_page(url=None, size=(960, 600), beside=None, script=None, browser=browser, **options):
        if beside:
            context = beside.context
        else:
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
            context.set_default_timeout(60_000)
            contexts.append(context)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        if url:
            page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def start(tmp_path_factory):
    """Starts programs, each in a folder of its own, or in that of an earlier run, whose token is used again."""
    programs = []

    def start(source="clicks", folder=None, **settings):
        programs.append(Program(folder or tmp_path_factory.mktemp("run"), source, **settings))
        return programs[-1]

    yield start
    for program in programs:
        program.stop(signal.SIGKILL)


@pytest.fixture(scope="session")
def clicks(tmp_path_factory):
    """A program whose state no test changes: 120 clicks per minute."""
    program = Program(tmp_path_factory.mktemp("clicks"))
    yield program
    program.stop(signal.SIGKILL)


@pytest.fixture(scope="session")
def serve():
    """Serves a folder on 127.0.0.1, and returns its origin. The paths of the requests are added to a list."""
    servers = []

    def serve(folder, requests=None):
        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *arguments):
                if requests is not None:
                    requests.append(self.path)

        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def write_page(tmp_path):
    """Writes an HTML page with a script, and returns its folder."""

    def write_page(script="", body=""):
        folder = tmp_path / "page"
        folder.mkdir()
        (folder / "index.html").write_text(
            f"<!doctype html><html><head><meta charset=utf-8><title>Host</title></head><body>{body}<script>{script}</script></body></html>")
        return folder

    return write_page
