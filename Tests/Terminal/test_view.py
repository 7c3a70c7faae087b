"""The full-screen view of `hemiola listen`, on real terminals: pseudo-terminals that pyte interprets, and tmux."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
HEMIOLA = str(Path(os.environ.get("HEMIOLA", ROOT / ".build/tests/release/hemiola")).resolve())
MINUET = str(ROOT / "examples/music/minuet.flac")
LOOP = ["listen", "--capture", "tone:loop,bpm=124,seconds=0"]
BARS = "▁▂▃▄▅▆▇█"
# What a terminal gets back: screen, cursor, wrapping, mouse.
END = b"\x1b[?1000l\x1b[?7h\x1b[?25h\x1b[?1049l"


@pytest.fixture
def start(tmp_path):
    """Starts the program on a terminal."""
    terminals = []

    def start(arguments=LOOP, environment=(), **size):
        variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "COLORTERM": "truecolor", **dict(environment)}
        terminals.append(Terminal([HEMIOLA, *arguments], variables, **size))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()


def has_bars(terminal):
    return sum(character in BARS for character in terminal.text) > 30


def has_tempo(terminal):
    """The source's name has a tempo too: this is the one next to the beats, or of the dashboard."""
    return re.search(r"[○●•] +124 BPM|124\.0 BPM", terminal.text)


def colors(terminal):
    return {terminal.screen.buffer[row][column].fg for row in range(terminal.screen.lines) for column in range(terminal.screen.columns)}


def backgrounds(terminal):
    return {terminal.screen.buffer[row][column].bg for row in range(terminal.screen.lines) for column in range(terminal.screen.columns)}


def quit(terminal):
    terminal.type("q")
    assert terminal.finish() == 0
    assert terminal.is_in_line_mode
    assert terminal.bytes.count(b"\x1b[?1049h") == terminal.bytes.count(b"\x1b[?1049l")
    assert END in terminal.bytes.split(b"\x1b[?1049h")[-1]


@pytest.mark.parametrize("size", [(20, 5), (100, 30), (300, 80)])
@pytest.mark.parametrize("key", "1234")
def test_every_layout_at_every_size_fills_the_screen_and_restores_it(start, key, size):
    terminal = start(columns=size[0], rows=size[1])
    terminal.type(key)
    content = {"1": BARS, "2": "▀", "3": "".join(map(chr, range(0x2801, 0x2900))), "4": BARS}[key]
    terminal.until(lambda t: sum(character in content for character in t.text) > size[0] // 2, "the layout")
    if size[1] > 5:
        terminal.until(has_tempo, "the tempo")
    quit(terminal)


def test_dashboard_shows_beat_tempo_level_key_chord_and_source(start):
    terminal = start(columns=160, rows=40)
    terminal.type("4")
    for text in ["124.0 BPM", "sure", "LUFS", "key", "chord", "lost    nothing", "drum and bass", "waveform"]:
        terminal.until(lambda t: text in t.text, text)
    terminal.until(lambda t: re.search(r"key +[A-G][b#]? (major|minor)", t.text), "a key")
    terminal.until(lambda t: re.search(r"chord +[A-G][b#]?", t.text), "a chord")


def test_beats_light_up_as_often_as_they_sound(start, tmp_path):
    # A small terminal, so that its pictures are read as fast as they are drawn.
    terminal = start([*LOOP, "--sink", "terminal", "--sink", f"json-lines:{tmp_path}/beats.jsonl,select=beat"], columns=30, rows=8)
    terminal.until(lambda t: t.bytes.count("●".encode()) >= 20, "twenty beats")
    quit(terminal)
    times = [json.loads(line)["t"] for line in (tmp_path / "beats.jsonl").read_text().splitlines()]
    intervals = [later - earlier for earlier, later in zip(times, times[1:])]
    assert all(abs(interval - 60 / 124) < 0.05 for interval in intervals)
    # The dot is written when a beat lights up; the last beats were announced, and had not sounded.
    assert 20 <= terminal.bytes.count("●".encode()) <= len(times) <= 24


def test_layout_theme_and_channels_are_remembered(start, tmp_path):
    first = start()
    first.until(has_bars, "bars")
    for key in "4tm":
        first.type(key)
    first.until(lambda t: "level" in t.text, "the dashboard")
    quit(first)
    assert json.loads((tmp_path / "state/hemiola/terminal.json").read_text()) == {
        "layout": "dashboard", "theme": "light", "stereo": False}
    second = start()
    second.until(lambda t: "level" in t.text, "the dashboard")
    (tmp_path / "state/hemiola/terminal.json").write_text('{"layout":["bars"],"theme":7')
    third = start()
    third.until(has_bars, "bars, in spite of a damaged file")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "xterm", "COLORTERM": ""}])
def test_theme_of_a_terminal_with_few_colours_is_not_remembered(start, tmp_path, environment):
    stored = tmp_path / "state/hemiola/terminal.json"
    first = start(environment=environment)
    first.until(has_bars, "bars")
    first.type("t")
    quit(first)
    assert "theme" not in json.loads(stored.read_text())
    stored.write_text('{"theme":"light"}')
    second = start(environment=environment)
    second.until(has_bars, "bars")
    quit(second)
    assert json.loads(stored.read_text())["theme"] == "light"
    third = start()
    third.until(has_bars, "bars")
    assert "fafaf7" in backgrounds(third)


def test_message_is_shown_on_one_line_without_its_newline(start, tmp_path):
    (tmp_path / "text.wav").write_text("not audio")
    terminal = start(["analyze", "--realtime", str(tmp_path / "text.wav"), MINUET], columns=240)
    terminal.until(lambda t: "text.wav" in t.screen.display[29], "the message")
    assert "\\n" not in terminal.screen.display[29]


def test_help_and_unknown_keys(start):
    terminal = start()
    terminal.until(has_bars, "bars")
    terminal.type("?")
    terminal.until(lambda t: "lock or unlock the tempo" in t.text, "help")
    terminal.type("xyz\x1b[5~?")
    terminal.until(lambda t: "lock or unlock" not in t.text, "no help")
    quit(terminal)


def test_tempo_keys_submit_controls(start):
    terminal = start()
    terminal.until(has_tempo, "the tempo")
    terminal.type("l")
    terminal.until(lambda t: "124 BPM locked" in t.text, "a locked tempo")
    terminal.type("l")
    terminal.until(lambda t: "locked" not in t.text, "an unlocked tempo")


def test_click_on_a_panel_chooses_it_and_leads_back(start):
    terminal = start(columns=120, rows=36)
    terminal.type("4")
    terminal.until(lambda t: "╭─ waveform" in t.text, "the dashboard")
    column = terminal.screen.display[0].index("waveform") + 1
    terminal.type(f"\x1b[<0;{column};3M\x1b[<0;{column};3m")
    terminal.until(lambda t: t.text.startswith("L") and "╭" not in t.text, "the waveform")
    terminal.type("\x1b[<0;5;5M")
    terminal.until(lambda t: "╭─ waveform" in t.text, "the dashboard")
    # The wheel and the right button choose nothing: behind the help, whose key comes after them, is the dashboard.
    terminal.type("\x1b[<64;5;5M\x1b[<2;5;5M?")
    terminal.until(lambda t: "lock or unlock the tempo" in t.text, "help")
    terminal.type("?")
    terminal.until(lambda t: "lock or unlock" not in t.text and "╭─ waveform" in t.text, "the dashboard")


def test_a_resized_terminal_is_filled_again(start):
    terminal = start(columns=120, rows=36)
    terminal.until(lambda t: has_bars(t) and "BPM" in t.screen.display[35], "bars")
    for columns, rows in [(60, 20), (30, 8), (200, 50)]:
        terminal.resize(columns, rows)
        terminal.screen.reset()
        terminal.until(lambda t: has_bars(t) and "BPM" in t.screen.display[rows - 1], f"{columns} x {rows}")
    quit(terminal)


def test_nothing_is_written_while_nothing_changes(start):
    terminal = start(["listen", "--capture", "tone:silence,seconds=0", "--analyzer", "levels"])
    terminal.until(lambda t: "dB" in t.text, "the view")
    terminal.rest(1)
    before = len(terminal.bytes)
    terminal.rest(2)
    assert len(terminal.bytes) - before < 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT])
def test_after_a_signal_the_terminal_is_as_before(start, number):
    terminal = start()
    terminal.until(lambda t: has_bars(t) and not t.is_in_line_mode, "bars")
    terminal.kill(number)
    assert terminal.finish() == 128 + number
    assert terminal.is_in_line_mode and END in terminal.bytes


def test_paused_with_ctrl_s_the_terminal_is_restored_all_the_same(start):
    terminal = start()
    terminal.until(lambda t: has_bars(t) and not t.is_in_line_mode, "bars")
    terminal.type("\x13")
    terminal.rest(1)
    before = len(terminal.bytes)
    terminal.rest(1)
    assert len(terminal.bytes) == before
    terminal.kill(signal.SIGINT)
    assert terminal.finish() == 130
    assert terminal.is_in_line_mode and END in terminal.bytes


def test_messages_wait_until_the_view_has_ended(start, tmp_path):
    (tmp_path / "text.wav").write_text("not audio")
    terminal = start(["analyze", "--realtime", str(tmp_path / "text.wav"), MINUET])
    terminal.until(has_bars, "bars")
    assert b"text.wav" not in terminal.bytes.split(b"\x1b[?1049h")[0]
    terminal.type("q")
    assert terminal.finish() in (0, 1)
    after = terminal.bytes.split(b"\x1b[?1049l")[-1].decode()
    assert [line for line in after.splitlines() if "text.wav" in line and line.startswith("hemiola: ")]


def test_replay_shows_what_was_recorded(start, tmp_path):
    recording = str(tmp_path / "minuet.jsonl")
    subprocess.run([HEMIOLA, "analyze", MINUET, "-o", recording], check=True)
    terminal = start(["replay", recording])
    terminal.until(lambda t: has_bars(t) and "104 BPM" in t.text, "recorded bars and tempo")
    terminal.type("3")
    terminal.until(lambda t: "--audio" in t.text, "the way to the samples")
    quit(terminal)


@pytest.mark.parametrize("environment, allowed", [
    ({"NO_COLOR": "1"}, lambda color: color == "default"),
    ({"COLORTERM": "", "TERM": "xterm"}, lambda color: color in Terminal.COLORS or color == "default"),
    # pyte gives the colours of the palette as RGB: the steps of xterm's cube, and its greys.
    ({"COLORTERM": ""}, lambda color: color == "default" or all(
        int(color[i:i + 2], 16) in (0, 95, 135, 175, 215, 255) for i in (0, 2, 4)) or len({color[:2], color[2:4], color[4:]}) == 1),
])
def test_colours_that_the_terminal_has(start, environment, allowed):
    terminal = start(environment=environment)
    terminal.until(has_bars, "bars")
    assert all(allowed(color) for color in colors(terminal) | backgrounds(terminal)), colors(terminal)


def test_without_unicode_only_ascii(start):
    terminal = start(environment={"LC_ALL": "C"})
    for key in "1234":
        # The help is left for the layout.
        terminal.type(key + "?")
        terminal.until(lambda t: "lock or unlock the tempo" in t.text, "help")
        terminal.type("?")
        terminal.until(lambda t: "lock or unlock" not in t.text, "the layout")
    quit(terminal)
    assert all(byte < 128 for byte in terminal.bytes)


@pytest.mark.parametrize("arguments", [["--line"], ["-o", "OUT"], ["--sink", "json-lines:OUT"]])
def test_one_line_where_it_is_wanted_with_the_beats_of_the_bar(start, tmp_path, arguments):
    arguments = [argument.replace("OUT", str(tmp_path / "out.jsonl")) for argument in arguments]
    terminal = start([*LOOP, *arguments])
    terminal.until(lambda t: re.search("124 BPM [○●•]{4}", t.text), "tempo and beats")
    assert b"\x1b[?1049h" not in terminal.bytes
    terminal.type("q")
    assert terminal.finish() == 0


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": ""}])
def test_terminal_that_cannot_move_its_cursor_has_plain_lines(start, variables):
    terminal = start(["listen", "--capture", "tone:clicks,seconds=1"], variables)
    assert terminal.finish() == 0
    assert b" dB " in terminal.bytes and b"\x1b" not in terminal.bytes


def test_view_demanded_without_a_terminal_is_refused(tmp_path):
    outcome = subprocess.run([HEMIOLA, *LOOP, "--sink", "terminal"], capture_output=True, text=True, timeout=30)
    assert outcome.returncode == 2 and "not a terminal" in outcome.stderr and outcome.stderr.count("\n") == 1


# MARK: tmux

@pytest.fixture
def tmux(tmp_path):
    """A private tmux server: `tmux(COMMAND...)` returns its output."""
    name = f"hemiola-{os.getpid()}"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "LC_ALL": "C.UTF-8"}

    def run(*arguments):
        return subprocess.run(
            ["tmux", "-L", name, "-f", "/dev/null", "-u", *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    # What the pane gets is also written to a named pipe, which says when to look at it.
    pipe = tmp_path / "output"
    os.mkfifo(pipe)
    run.output = os.open(pipe, os.O_RDWR)
    run("new-session", "-d", "-x", "100", "-y", "30", "PS1='ready> ' exec bash --norc --noprofile -i", ";", "pipe-pane",
        f"exec cat >'{pipe}'")
    yield run
    run("kill-server")
    os.close(run.output)


def until(tmux, is_so, what):
    end = time.monotonic() + 60
    while not is_so():
        assert select.select([tmux.output], [], [], max(0, end - time.monotonic()))[0], f"nothing came of: {what}"
        os.read(tmux.output, 1 << 16)


@pytest.mark.skipif(not shutil.which("tmux") and os.environ.get("CI") != "true", reason="tmux is not installed")
def test_tmux_shows_the_view_and_ctrl_z_gives_the_shell_back(tmux):
    def pane(*options):
        return tmux("capture-pane", "-p", *options)

    until(tmux, lambda: "ready>" in pane(), "the shell")
    tmux("send-keys", f"'{HEMIOLA}' {' '.join(LOOP)}", "Enter")
    until(tmux, lambda: sum(character in BARS for character in pane()) > 100 and "BPM" in pane(), "bars")
    # Colours of the 256 that TERM promises.
    assert "\x1b[38;5;" in pane("-e") or "\x1b[38;2;" in pane("-e")
    tmux("send-keys", "C-z")
    until(tmux, lambda: "Stopped" in pane() and not set(BARS) & set(pane()), "the shell")
    tmux("send-keys", "fg", "Enter")
    until(tmux, lambda: sum(character in BARS for character in pane()) > 100, "bars again")
    tmux("resize-window", "-x", "60", "-y", "20")
    until(tmux, lambda: "BPM" in pane().splitlines()[19] and max(map(len, pane().splitlines())) <= 60, "the new size")
    tmux("send-keys", "q")
    until(tmux, lambda: pane().rstrip().endswith("ready>"), "the shell")
    assert not set(BARS) & set(pane())
