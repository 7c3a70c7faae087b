"""The page's tests that need WebGL, in a page of their own: Page/tests/stage.browser.js."""

import json
import subprocess

import pytest
from conftest import PAGE

MODULE = "tests/stage.browser.js"
LIST = f"import {{ tests }} from './{MODULE}'; console.log(JSON.stringify(tests))"
TESTS = json.loads(subprocess.run(["node", "--input-type=module", "-e", LIST], cwd=PAGE, check=True, capture_output=True).stdout)


@pytest.fixture(scope="module")
def page(browser, serve):
    # A page without scripts: about:blank has no origin from which modules could be loaded.
    page = browser.new_page(viewport={"width": 640, "height": 360})
    page.goto(f"{serve(PAGE)}/tests/")
    yield page
    page.close()


@pytest.mark.parametrize(
    "index", [pytest.param(index, id=test["name"], marks=[pytest.mark.release] if test.get("slow") else [])
              for index, test in enumerate(TESTS)])
def test_stage(index, page):
    page.evaluate(f"import('/{MODULE}').then(({{ tests }}) => tests[{index}].run())")
