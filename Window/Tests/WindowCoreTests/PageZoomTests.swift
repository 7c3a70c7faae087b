import Testing
import WindowCore

@Suite struct PageZoomTests {
    @Test func `steps up and down end where they began, within the range`() {
        var zoom = 1.0
        for _ in 0..<10 { zoom = PageZoom.multiplied(zoom, by: PageZoom.step) }
        #expect(abs(zoom - 2.59) < 0.01)
        for _ in 0..<10 { zoom = PageZoom.multiplied(zoom, by: 1 / PageZoom.step) }
        #expect(zoom == 1)
        for _ in 0..<100 { zoom = PageZoom.multiplied(zoom, by: PageZoom.step) }
        #expect(zoom == 5)
        for _ in 0..<100 { zoom = PageZoom.multiplied(zoom, by: 1 / PageZoom.step) }
        #expect(zoom == 0.25)
    }

    @Test(arguments: [
        (1.0, 1.0, 1.0), (1.331, 1.0, 1.331), (1.331, 1.01, 1.331), (1.0, 1.5, 1.5), (1.0, 1.52, 1.5), (1.0, 0.5, 0.5), (1.331, 1.1, 1.45),
        (2.0, 10, 5.0), (1.0, 0.01, 0.25), (1.0, 0, 1.0), (1.0, -.infinity, 1.0), (1.0, .nan, 1.0),
    ])
    func `a pinch multiplies the zoom in steps of 0.05, within the range`(_ start: Double, _ scale: Double, _ zoom: Double) {
        #expect(abs(PageZoom.pinched(start, scale: scale) - zoom) < 1e-9)
    }
}
