"""What other sites, other users and invalid addresses cannot do."""

import pytest
from conftest import errors, wait


def test_page_of_another_origin_gets_neither_socket_nor_content_also_with_cookie_and_token(clicks, open_page, serve, write_page):
    # The browser gets the cookie.
    page = open_page(clicks.url, size=(320, 180))
    wait(page, "hemiola.connected")
    other = open_page(f"{serve(write_page())}/", beside=page)
    for path in ["/hemiola/socket", f"/hemiola/socket?token={clicks.token}"]:
        state = other.evaluate(
            """([address, token]) => new Promise(done => {
                const socket = new WebSocket(address, ['hemiola.v1', `hemiola.token.${token}`]);
                socket.onopen = () => done('open');
                socket.onclose = () => done('closed');
            })""", [f"ws://127.0.0.1:{clicks.port}{path}", clicks.token])
        assert state == "closed", path
    content = other.evaluate(
        "url => fetch(url).then(response => response.text()).catch(error => 'refused: ' + error.message)", clicks.url)
    assert content.startswith("refused"), content[:200]
    # A cookie of 127.0.0.1 belongs to no script.
    assert page.evaluate("document.cookie") == ""


def test_wrong_or_no_token_is_refused_with_one_sentence_and_the_cookie_of_the_first_visit_suffices(clicks, open_page):
    page = open_page(f"{clicks.origin}/", size=(320, 180))
    for path in ["/", "/?token=0123456789abcdef0123456789abcdef", "/hemiola.js", "/metrics", "/app/app.js"]:
        status, body = clicks.get(path)
        assert status == 403, path
        assert len(body) < 500 and clicks.token not in body
    assert page.evaluate("typeof window.hemiola") == "undefined"
    page.goto(clicks.url)
    page.goto(f"{clicks.origin}/")
    wait(page, "hemiola.connected")
    assert page.evaluate("fetch('/metrics').then(response => response.status)") == 200


@pytest.mark.parametrize("own", [False, True], ids=["our page", "page=DIR"])
def test_path_outside_of_the_folder_of_the_page_is_not_found(own, start, write_page):
    program = start(web=f"port=0,page={write_page()}" if own else "port=0")
    headers = {"Authorization": f"Bearer {program.token}", "Cookie": f"hemiola={program.token}"}
    assert program.get("/", **headers)[0] == 200
    for path in [
        "/../../../../etc/passwd", "/js/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
    ]:
        status, body = program.get(path, **headers)
        assert status in (400, 403, 404), path
        assert "root:" not in body


def test_policy_of_our_page_allows_no_script_of_another_origin_and_no_inline_script(clicks, open_page):
    page = open_page(clicks.url, size=(320, 180))
    wait(page, "hemiola.connected")
    assert errors(page) == [], "the page itself violates no policy"
    page.evaluate("""() => {
        window.violations = [];
        document.addEventListener('securitypolicyviolation', event => violations.push(event.effectiveDirective + ' ' + event.blockedURI));
        for (const source of [null, 'http://127.0.0.1:9/x.js']) {
            const script = document.createElement('script');
            if (source) script.src = source;
            else script.textContent = 'window.injected = true';
            document.head.append(script);
        }
        new Image().src = 'http://127.0.0.1:9/x.png';
    }""")
    for violation in ["script-src-elem inline", "script-src-elem http://127.0.0.1:9/x.js", "img-src http://127.0.0.1:9/x.png"]:
        wait(page, f"violations.includes('{violation}')")
    assert page.evaluate("typeof window.injected") == "undefined"
