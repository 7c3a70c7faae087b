import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import HemiolaPictures

@Suite struct PictureTests {
    // MARK: - Waveform

    @Test(arguments: [100, 1000, 4099, 100_000])
    func `envelope of any length: the extremes and the RMS level of each part`(frames: Int) {
        var envelope = WaveformEnvelope(capacity: 160, step: 1)
        for frame in 0..<frames {
            let value: Float = frame < frames / 2 ? 0.25 : frame.isMultiple(of: 2) ? 0.5 : -0.5
            envelope.add(
                WaveformEnvelope.Column(minimum: value, maximum: value, squares: Double(value * value), count: 1), at: Int64(frame))
        }
        let parts = envelope.parts(10, frames: Int64(frames))
        #expect(parts[1...3].allSatisfy { $0.minimum == 0.25 && $0.maximum == 0.25 && $0.rms == 0.25 })
        #expect(parts[6...8].allSatisfy { $0.minimum == -0.5 && $0.maximum == 0.5 && $0.rms == 0.5 })
        #expect(envelope.columns.count <= 160)
    }

    @Test(arguments: [(1.0, 0.0), (0.99, 0), (0.5, -6), (0.1, -18), (1.2, 6), (0, 0)])
    func `amplitude of the panel: in steps of 6 dB above the peak`(peak: Float, decibels: Double) {
        let column = WaveformEnvelope.Column(minimum: -peak, maximum: peak / 2, squares: 0, count: 1)
        let largest = Picture.largestAmplitude([column])
        #expect(largest.decibels == decibels && largest.amplitude >= Double(peak) * 0.99)
    }

    // MARK: - Values that no analysis writes

    @Test(arguments: [Float](arrayLiteral: 400, 1e30, .greatestFiniteMagnitude, -400, -.greatestFiniteMagnitude, .infinity, .nan))
    func `recorded level of any value: the powers of the rows are finite, also for edges in any order`(level: Float) {
        let axis = FrequencyAxis(.log, minimum: nil, maximum: nil, sampleRate: 44_100)
        for edges in [
            [20, 200, 2000, 20_000], [20, 200, 1000, 5000, 20_000], [1e308, -1e308, 0, 1e300, -1], [-1e308, 1e308, 50, 1e308],
        ] {
            var spectra = RecordedSpectra(.bands(edges: edges), count: 3, axis, columns: 4, rows: 50, batchFrames: 1024)
            for index in 0..<1000 { spectra.add([level, -20, level], at: Int64(index) * 1024) }
            #expect(spectra.columns.means(parts: 4, frames: 1024 * 1000).allSatisfy { $0.isFinite && $0 >= 0 })
        }
        var spectra = RecordedSpectra(.magnitudes(binWidth: 100), count: 3, axis, columns: 4, rows: 50, batchFrames: 1024)
        for index in 0..<1000 { spectra.add([level, 0.1, level], at: Int64(index) * 1024) }
        #expect(spectra.columns.means(parts: 4, frames: 1024 * 1000).allSatisfy { $0.isFinite && $0 >= 0 })
    }

    @Test(arguments: [Float](arrayLiteral: 1e20, -.greatestFiniteMagnitude, .infinity))
    func `samples of any value: the powers of the spectrogram are finite`(sample: Float) {
        var spectrogram = SpectrogramRecorder(
            FrequencyAxis(.log, minimum: nil, maximum: nil, sampleRate: 44_100), sampleRate: 44_100, columns: 8, rows: 50)
        for index in 0..<20_000 { spectrogram.append(index.isMultiple(of: 3) ? sample : 0) }
        spectrogram.finish()
        #expect(spectrogram.columns.means(parts: 8, frames: 20_000).allSatisfy { $0.isFinite })
    }

    @Test func `stream as long as a recording can state: the columns are those of its values`() {
        var columns = ColumnStore(width: 1, capacity: 16, step: 256)
        columns.add([1], at: 0)
        #expect(columns.means(parts: 4, frames: 1 << 53)[0] == 1)
        columns.add([2], at: 1 << 53)
        #expect(columns.count <= 16)
    }

    @Test func `downbeats at nearly one time: one number`() {
        let lines = [0, 1e-300, 2e-300].enumerated().map { BeatLines.Line(time: $1, bar: $0 + 1) }
        #expect(BeatLines.labels(of: lines, pixelsPerSecond: 100, spacing: 30).compactMap(\.bar) == [1])
    }

    @Test(.enabled(if: Picture.libraryFault == nil, "cairo is not installed"), arguments: [false, true])
    func `audio that is missing: marked, unlike silence`(isMissing: Bool) throws {
        var options = PictureOptions()
        options.format = .svg
        var recorder = PictureRecorder(options, StreamFormat(sampleRate: 8000, channelCount: 1))
        recorder.add(samples: [Float](repeating: 0.1, count: 8000).span, at: 0)
        if isMissing { recorder.add(gapOf: 8000, at: 8000) }
        let text = String(decoding: try recorder.finish(title: "a", frames: 16_000), as: UTF8.self)
        // The colour of `Palette.gap`.
        #expect(text.contains("rgb(81.56") == isMissing)
    }

    @Test func `long title: its beginning and its end`() {
        #expect("abc".abbreviated(to: 3) == "abc" && "abcdefgh".abbreviated(to: 5) == "abc…gh")
    }

    @Test(arguments: [0, 7, 24, 132, 1 << 30]) func `values of an octave: a multiple of 12, and not too many for a picture`(bins: Int) {
        #expect(PictureRecorder.isChroma(bins: bins) == (bins == 24))
    }

    // MARK: - Beats

    private func grid(_ count: Int, interval: Double = 0.5) -> BeatLines {
        var grid = BeatLines()
        for index in 0..<count {
            grid.append(BeatLines.Beat(time: Double(index) * interval, beatsPerMinute: 120, position: (index + 2) % 4 + 1))
        }
        return grid
    }

    @Test func `beats far apart: all are drawn, downbeats with their numbers`() {
        let lines = grid(8).lines(pixelsPerSecond: 100, spacing: 7)
        #expect(lines.map(\.time) == (0..<8).map { Double($0) * 0.5 })
        #expect(lines.map(\.bar) == [nil, nil, 1, nil, nil, nil, 2, nil])
    }

    @Test(arguments: [(10.0, 1), (5, 4), (1, 32), (0.1, 256)])
    func `dense beats: bars only, then every 2nd, 4th, 8th …`(pixelsPerSecond: Double, step: Int) {
        let bars = grid(4000).lines(pixelsPerSecond: pixelsPerSecond, spacing: 7).compactMap(\.bar)
        #expect(bars[0] == 1 && bars[1] == 1 + step)
    }

    @Test func `numbers of bars: as many as fit`() {
        let lines = grid(400).lines(pixelsPerSecond: 20, spacing: 7)
        #expect(BeatLines.labels(of: lines, pixelsPerSecond: 20, spacing: 100).compactMap(\.bar).prefix(3) == [1, 5, 9])
        #expect(BeatLines.labels(of: lines, pixelsPerSecond: 100, spacing: 100).compactMap(\.bar).prefix(3) == [1, 2, 3])
    }

    @Test func `place of a beat: linear in time`() {
        let content = PictureContent(
            title: "", format: StreamFormat(sampleRate: 44_100, channelCount: 1), start: 5, duration: 10,
            axis: FrequencyAxis(.log, minimum: nil, maximum: nil, sampleRate: 44_100), beats: BeatLines(), missing: [:])
        let plot = Picture.Plot(Rect(x: 60, y: 0, width: 1000, height: 10), content)
        #expect(plot.place(of: 0) == 60 && plot.place(of: 2.5) == 310 && plot.place(of: 10) == 1060)
    }

    // MARK: - Layout and options

    @Test(
        arguments: [(16, 16), (16, 16_384 / 8), (64, 48), (200, 120), (640, 360), (1600, 900), (8000, 100), (4096, 4096)], [48, 96, 300])
    func `any size and resolution: the panels are inside, do not overlap and have an area`(size: (Int, Int), resolution: Int) {
        var options = PictureOptions()
        (options.width, options.height, options.resolution) = (size.0, size.1, resolution)
        (options.panels, options.labelRows) = (PictureOptions.Panel.allCases, PictureOptions.LabelRow.allCases)
        #expect(options.fault == nil)
        let layout = PictureLayout(options)
        #expect(!layout.panels.isEmpty)
        for panel in layout.panels {
            let rect = panel.rect
            #expect(rect.width >= 1 && rect.height >= 1)
            #expect(rect.x >= 0 && rect.y >= 0 && rect.right <= layout.width && rect.bottom <= layout.height)
        }
        for (one, next) in zip(layout.panels, layout.panels.dropFirst()) { #expect(one.rect.bottom <= next.rect.y) }
        for (one, next) in zip(layout.rows, layout.rows.dropFirst()) { #expect(one.rect.bottom <= next.rect.y) }
        if let row = layout.rows.first { #expect(layout.panels.allSatisfy { $0.rect.bottom <= row.rect.y }) }
        if let row = layout.rows.last { #expect(row.rect.bottom <= layout.axisY) }
    }

    @Test func `invalid options: reported`() {
        func fault(_ change: (inout PictureOptions) -> Void) -> String? {
            var options = PictureOptions()
            change(&options)
            return options.fault
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0.width = 15 } == "the size 15x900 is outside of 16...16384")
        #expect(fault { $0.height = 16_385 }?.contains("outside of 16...16384") == true)
        #expect(fault { ($0.width, $0.height) = (16_384, 16_384) }?.contains("million pixels") == true)
        #expect(fault { ($0.format, $0.resolution) = (.pdf, 1200) }?.contains("million pixels") == true)
        #expect(fault { $0.resolution = 5 }?.contains("24...1200 dpi") == true)
        #expect(fault { $0.panels = [] } == "there is no panel")
        #expect(fault { $0.panels = [.tempo, .tempo] } == "a panel is named twice")
        #expect(fault { $0.labelRows = [.key, .key] } == "a row of labels is named twice")
        #expect(fault { $0.range = 0 }?.contains("5...200 dB") == true)
        #expect(fault { $0.minimumFrequency = 0 } == "a logarithmic axis begins at 1 Hz or above")
        #expect(fault { ($0.minimumFrequency, $0.maximumFrequency) = (400, 500) }?.contains("less than twice") == true)
        #expect(fault { $0.maximumFrequency = .nan } != nil)
    }

    // MARK: - Files

    @Test func `resolution of a PNG: a chunk with a valid checksum behind the header`() {
        // The example of the PNG specification: the checksum of an empty IEND chunk.
        #expect(PNGResolution.checksum(Array("IEND".utf8)) == 0xAE42_6082)
        let png = [UInt8](repeating: 7, count: 33) + [1, 2, 3]
        let result = PNGResolution.insert(96, into: png)
        #expect(Array(result.prefix(33)) == Array(png.prefix(33)) && Array(result.suffix(3)) == [1, 2, 3])
        #expect(Array(result[33..<50]) == [0, 0, 0, 9] + Array("pHYs".utf8) + [0, 0, 0x0E, 0xC4, 0, 0, 0x0E, 0xC4, 1])
    }

    @Test(.enabled(if: Picture.libraryFault == nil, "cairo is not installed"), arguments: [false, true])
    func `conformance tests of the sink: passed`(isRecorded: Bool) throws {
        let folder = try TemporaryFolder()
        try SinkConformanceSuite(.picture, settings: "\(folder("{stem}.{n}.svg")),recorded=\(isRecorded)").run()
    }

    @Test(arguments: ["a.gif", "a.png,width=8", "a.png,panels=tempo,beats=false", "a.png,scale=log,min_hz=0"])
    func `unsuitable settings of the sink: an error`(settings: String) {
        #expect(throws: Problem.self) {
            try SinkPlugin.picture.make(SinkPlugin.picture.about.values(from: PluginSpec(parsing: "picture:\(settings)")))
        }
    }

    @Test(.enabled(if: Picture.libraryFault == nil, "cairo is not installed"), arguments: PictureOptions.Format.allCases)
    func `empty stream: a picture of each format`(format: PictureOptions.Format) throws {
        var options = PictureOptions()
        (options.format, options.width, options.height) = (format, 500, 300)
        let bytes = try PictureRecorder(options, StreamFormat(sampleRate: 8000, channelCount: 1)).finish(title: "a\nb", frames: 0)
        let start: [UInt8] =
            switch format {
            case .png: [0x89] + Array("PNG".utf8)
            case .svg: Array("<?xml".utf8)
            case .pdf: Array("%PDF-".utf8)
            }
        #expect(Array(bytes.prefix(start.count)) == start)
    }
}
