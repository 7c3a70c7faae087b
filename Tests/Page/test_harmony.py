"""The panel for chroma, key, chord and note."""

import pytest
from conftest import KEEP_SHOWN, ROOT, errors, wait

MINUET = str(ROOT / "examples/music/minuet.flac")
PANEL_IS_SHOWN = "!document.getElementById('panel-harmony').hidden"
# The number of pixels of the ring in the colour of data: green is the strongest component.
COLOURED = """(() => {
    const ring = document.getElementById('chroma');
    const pixels = ring.getContext('2d').getImageData(0, 0, ring.width, ring.height).data;
    let count = 0;
    for (let i = 0; i < pixels.length; i += 4) count += pixels[i + 3] > 200 && pixels[i + 1] > pixels[i] + 60;
    return count;
})()"""


@pytest.fixture
def show(open_page):
    def show(program):
        page = open_page(program.url, size=(1400, 700), script=KEEP_SHOWN)
        wait(page, "hemiola.hello && typeof getPresetNames === 'function'")
        return page

    return show


def test_without_these_analyzers_there_is_no_panel_no_button_and_no_batch_record(clicks, show):
    page = show(clicks)
    page.evaluate("window.batches = 0, hemiola.addEventListener('batch', () => batches++)")
    wait(page, "parseFloat(document.getElementById('bpm').textContent) > 0")
    assert page.evaluate("document.getElementById('panel-harmony').hidden && document.querySelector('[data-panel=harmony]').hidden")
    assert page.evaluate("batches") == 0
    assert errors(page) == []


@pytest.mark.parametrize("bins", [24, *(pytest.param(bins, marks=pytest.mark.release) for bins in (12, 36))])
def test_ring_shows_chroma_of_each_number_of_bins_without_other_rows(bins, start, show):
    page = show(start(MINUET, analyzers=[f"chroma:bins={bins}"]))
    wait(page, f"{PANEL_IS_SHOWN} && {COLOURED} > 100")
    assert page.evaluate("['key', 'chord', 'note'].every(name => document.getElementById(name + '-row').hidden)")
    assert errors(page) == []


def test_silence_has_null_values_and_an_empty_ring(start, show):
    page = show(start("silence", analyzers=["chroma"]))
    page.evaluate("window.values = null, hemiola.addEventListener('batch', event => window.values = event.detail.chroma.bins)")
    wait(page, "values !== null")
    assert page.evaluate("values") == [None] * 12
    assert page.evaluate(COLOURED) == 0
    assert errors(page) == []


def test_selection_of_the_panel_is_kept_after_a_run_without_chroma(start, show):
    program = start(MINUET, analyzers=["chroma"])
    page = show(program)
    wait(page, PANEL_IS_SHOWN)
    page.click("[data-panel=waveform]")
    assert "harmony" in page.evaluate("localStorage['hemiola.panels']")
    program.stop()
    again = start(web=f"port={program.port}", folder=program.folder)
    assert again.url == program.url
    wait(page, "hemiola.connected && document.getElementById('panel-harmony').hidden")
    page.click("[data-panel=waveform]")
    assert "harmony" in page.evaluate("localStorage['hemiola.panels']")


def test_panel_is_inside_of_a_page_of_any_size_without_horizontal_scrolling(start, show):
    program = start(MINUET, analyzers=["chroma"])
    page = show(program)
    for width, height in [(320, 560), (390, 760), (760, 600), (1000, 640), (1920, 1080)]:
        page.set_viewport_size({"width": width, "height": height})
        wait(page, f"innerWidth === {width} && {PANEL_IS_SHOWN}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        left, right = page.evaluate(
            "(box => [box.left, box.right])(document.getElementById('panel-harmony').getBoundingClientRect())")
        assert left >= 0 and right <= width
