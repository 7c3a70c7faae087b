"""Calls of a page's functions, imports, and the page's errors and messages."""

import hashlib
import json
import random

import pytest
from conftest import errors, wait

# Functions that return values, nothing, late values, errors and no JSON.
FUNCTIONS = """
    window.pushSamples = () => {};
    window.getPresetNames = () => ['One', 'Two'];
    window.sum = async (...values) => { await 0; return {sum: values.reduce((a, b) => a + b, 0)}; };
    window.nothing = () => {};
    window.fails = () => { throw new RangeError('out of range'); };
    window.rejects = () => Promise.reject(new Error('not now'));
    window.circle = () => { const value = {}; value.self = value; return value; };
    window.endless = () => new Promise(() => {});
    window.slow = async () => {
        for (let step = 1; step <= 3; step++) {
            hemiola.progress(step);
            await new Promise(requestAnimationFrame);
        }
        return 'done';
    };
    window.importFile = async (name, base64) => {
        const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
        const digest = await crypto.subtle.digest('SHA-256', bytes);
        return {name, size: bytes.length, sha256: [...new Uint8Array(digest)].map(b => b.toString(16).padStart(2, '0')).join('')};
    };
"""


@pytest.fixture
def host(start, open_page, write_page):
    """Serves a page with a script, and opens it: the program and the page."""

    def host(script, web="port=0"):
        program = start(web=f"{web},page={write_page(script)}")
        page = open_page(program.url)
        program.next("control", control="ready")
        return program, page

    return host


def test_call_prints_the_value_also_of_a_function_that_returns_nothing(host):
    program, page = host(FUNCTIONS)
    for arguments, value in [
        (["function=getPresetNames"], '["One","Two"]'), (["function=sum", "arguments=[1,2.5]"], '{"sum":3.5}'),
        (["function=nothing"], "null"), (["function=slow"], '"done"'),
    ]:
        outcome = program.send("call", *arguments)
        assert outcome.returncode == 0 and outcome.stdout.strip("\n") == value, outcome
    assert errors(page) == []


def test_call_that_fails_prints_one_line_and_the_next_call_works(host):
    program, _ = host(FUNCTIONS)
    for name, text in [
        ("fails", "out of range"), ("rejects", "not now"), ("circle", "circular"), ("missing", "no function"), ("alert", "no function"),
    ]:
        outcome = program.send("call", f"function={name}")
        assert outcome.returncode == 1 and text in outcome.stderr + outcome.stdout, outcome
        assert outcome.stderr.count("\n") == 1, outcome
    assert program.send("call", "function=sum", "arguments=[1]").returncode == 0


def test_endless_call_fails_after_the_time_limit_and_samples_flow_meanwhile(host):
    program, page = host(FUNCTIONS)
    page.evaluate("window.count = 0, hemiola.addEventListener('samples', () => count += 1)")
    outcome = program.send("call", "function=endless", "--timeout", "3")
    assert outcome.returncode == 1, outcome
    assert page.evaluate("count") > 60
    assert program.send("call", "function=nothing").returncode == 0


@pytest.mark.parametrize("size", [0, 3_000_001])
def test_import_gives_the_page_name_and_bytes_without_a_gap_in_the_samples(host, size):
    program, page = host(FUNCTIONS)
    page.evaluate("window.sequences = [], hemiola.addEventListener('samples', event => sequences.push(event.detail.sequence))")
    content = random.Random(1).randbytes(size)
    (program.folder / "Élan 1.milk").write_bytes(content)
    outcome = program.send("import", "Élan 1.milk")
    assert outcome.returncode == 0, outcome
    assert json.loads(outcome.stdout) == {"name": "Élan 1.milk", "size": size, "sha256": hashlib.sha256(content).hexdigest()}
    wait(page, "sequences.length > 1")
    assert page.evaluate("sequences.every((value, i) => i === 0 || value === sequences[i - 1] + 1)")


def test_import_of_30_mb_without_the_function_and_with_one_that_throws(host):
    program, page = host("window.pushSamples = () => {}; window.getPresetNames = () => [];")
    page.evaluate("window.importFile = (name, base64) => base64.length, 0")
    (program.folder / "large").write_bytes(bytes(30_000_000))
    assert program.send("import", "large").stdout == "40000000\n"
    page.evaluate("delete window.importFile")
    (program.folder / "x.milk").write_text("x")
    for text in ["no function importFile", "not a preset"]:
        outcome = program.send("import", "x.milk")
        assert outcome.returncode == 1 and text in outcome.stderr and outcome.stderr.count("\n") == 1, outcome
        page.evaluate("window.importFile = () => { throw new Error('not a preset'); }, 0")


def test_errors_of_the_page_are_in_the_log_limited_in_number(host):
    program, page = host("""
        window.pushSamples = () => {};
        window.getPresetNames = () => [];
        window.nothing = () => {};
        window.thrown = 0;
        window.flood = () => { for (let i = 0; i < 500; i++) setTimeout(() => { thrown += 1; throw new Error('flood'); }); };
        setTimeout(() => { throw new TypeError('no such shader'); });
        setTimeout(() => Promise.reject(new Error('a rejected answer')));
    """)
    for text in ["no such shader", "a rejected answer"]:
        assert "warning" in program.message(text)
    page.evaluate("flood()")
    program.message("flood")
    wait(page, "thrown === 500")
    # The answer comes after the messages that the page has sent before it.
    assert program.send("call", "function=nothing").returncode == 0
    program.stop()
    assert sum("flood" in line for line in program.all_messages) < 30


def test_message_of_a_further_handler_is_a_record_of_the_stream(host):
    program, page = host("window.pushSamples = () => {}; window.getPresetNames = () => [];", web="port=0,handlers=sceneHandler")
    page.evaluate("webkit.messageHandlers.sceneHandler.postMessage({scene: 'night', level: 2})")
    record = program.next("message", handler="sceneHandler")
    body = record["body"]
    assert (json.loads(body) if isinstance(body, str) else body) == {"scene": "night", "level": 2}
