import Testing
import WindowCore

@Suite struct TabIconTests {
    /// The start of a PNG file: its signature and the length, type, width and height of its first chunk.
    private func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + bytes(13) + Array("IHDR".utf8) + bytes(width) + bytes(height)
    }

    @Test func `PNG up to 1024 pixels a side, and SVG: accepted`() {
        #expect(TabIcon.problem(of: png(16, 16)) == nil)
        #expect(TabIcon.problem(of: png(1024, 1)) == nil)
        #expect(TabIcon.problem(of: Array(#"<svg xmlns="http://www.w3.org/2000/svg"/>"#.utf8)) == nil)
        #expect(TabIcon.problem(of: Array("\u{FEFF}\n<?xml version=\"1.0\"?>\n<!-- a -->\n<svg/>".utf8)) == nil)
    }

    @Test func `a PNG image that would need much memory, a damaged one and another format: refused`() {
        #expect(TabIcon.problem(of: png(1025, 16)) == "1025×16 pixels; the maximum is 1024×1024")
        #expect(TabIcon.problem(of: png(30_000, 30_000))?.contains("30000×30000") == true)
        #expect(TabIcon.problem(of: png(.max, .max))?.contains("4294967295") == true)
        #expect(TabIcon.problem(of: png(0, 16)) == "damaged PNG file")
        #expect(TabIcon.problem(of: Array(png(16, 16).prefix(20))) == "damaged PNG file")
        for other in ["", "GIF89a", "\u{FF}\u{D8}", "<html></html>", "plain <svg", "/* XPM */"] {
            #expect(TabIcon.problem(of: Array(other.utf8)) == "not a PNG or SVG file", "\(other)")
        }
    }

    @Test func `a file larger than 1 MiB: refused`() {
        var bytes = png(16, 16)
        bytes += [UInt8](repeating: 0, count: TabIcon.sizeLimit - bytes.count)
        #expect(TabIcon.problem(of: bytes) == nil)
        #expect(TabIcon.problem(of: bytes + [0]) == "larger than 1 MiB")
    }
}

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
