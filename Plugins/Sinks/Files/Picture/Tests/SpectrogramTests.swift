import Glibc
import Testing

@testable import HemiolaPictures

@Suite struct SpectrogramTests {
    private static let rate = 44_100
    private static let rows = 400

    private func axis(_ scale: FrequencyScale) -> FrequencyAxis {
        FrequencyAxis(scale, minimum: nil, maximum: nil, sampleRate: Double(Self.rate))
    }

    /// Power by column, each from the highest to the lowest frequency.
    private func columns(
        of samples: [Float], _ scale: FrequencyScale = .log, columns: Int = 100, rows: Int = Self.rows, block: Int = 1024
    ) -> [[Float]] {
        var recorder = SpectrogramRecorder(axis(scale), sampleRate: Self.rate, columns: columns, rows: rows)
        for start in stride(from: 0, to: samples.count, by: block) {
            for sample in samples[start..<min(start + block, samples.count)] { recorder.append(sample) }
            recorder.processAll()
        }
        recorder.finish()
        let means = recorder.columns.means(parts: columns, frames: Int64(samples.count))
        return (0..<columns).map { Array(means[$0 * rows..<($0 + 1) * rows]) }
    }

    private func sine(_ frequency: Double, amplitude: Float = 1, seconds: Double = 1) -> [Float] {
        (0..<Int(seconds * Double(Self.rate))).map { amplitude * Float(sin(2 * .pi * frequency * Double($0) / Double(Self.rate))) }
    }

    @Test(arguments: FrequencyScale.allCases, [100.0, 440, 1000, 5000, 12_345])
    func `tone: the strongest row is within a pixel of its frequency, at its level`(scale: FrequencyScale, frequency: Double) throws {
        let column = columns(of: sine(frequency, amplitude: 0.5), scale)[50]
        let strongest = try #require(column.indices.max { column[$0] < column[$1] })
        let expected = (1 - axis(scale).fraction(of: frequency)) * Double(Self.rows)
        #expect(abs(Double(strongest) + 0.5 - expected) <= 1.5, "row \(strongest), expected \(expected)")
        // −6 dBFS. Between two bins, the window loses up to 0.4 dB.
        #expect(abs(10 * log10(column[strongest]) + 6.02) < 0.5)
    }

    @Test func `click: its column is the strongest, other columns beyond the window are silent`() throws {
        var samples = [Float](repeating: 0, count: 4 * Self.rate)
        samples[3 * Self.rate] = 1
        let levels = columns(of: samples).map { $0.max() ?? 0 }
        let strongest = try #require(levels.indices.max { levels[$0] < levels[$1] })
        #expect(strongest == 75 || strongest == 74)
        #expect(levels[..<72].allSatisfy { $0 == 0 } && levels[78...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: [0.002, 0.05, 0.5, 3, 20])
    func `duration: the level of a tone does not depend on it, and no column is empty`(seconds: Double) {
        let result = columns(of: sine(1000, seconds: seconds), columns: 40)
        #expect(result.allSatisfy { ($0.max() ?? 0) > 0 })
        if seconds >= 0.5 {
            #expect(result[4..<36].allSatisfy { abs(10 * log10($0.max() ?? 0)) < 0.5 })
        }
    }

    @Test(arguments: [100, 1024, 8192, 65_536])
    func `size of the blocks: no effect`(block: Int) {
        let samples = sine(777, seconds: 1.3)
        #expect(columns(of: samples, columns: 20, rows: 50, block: block) == columns(of: samples, columns: 20, rows: 50, block: 1000))
    }

    @Test func `gap: silence of its length, in constant time`() {
        var recorder = SpectrogramRecorder(axis(.log), sampleRate: Self.rate, columns: 50, rows: 20)
        let tone = sine(1000)
        for sample in tone { recorder.append(sample) }
        recorder.processAll()
        let end: Int64 = 1 << 40
        recorder.skip(to: end)
        for sample in tone { recorder.append(sample) }
        recorder.finish()
        let means = recorder.columns.means(parts: 50, frames: end + Int64(tone.count))
        #expect(means[0..<20].contains { $0 > 0 } && means[980...].contains { $0 > 0 })
        #expect(means[40..<960].allSatisfy { $0 == 0 })
    }

    @Test func `bands: rows within the edges have the level of the band, all others none`() {
        let axis = axis(.log)
        let bands = BandRows(axis, rowCount: 300, count: 2, edges: [100, 1000, 10_000])
        var rows = [Float](repeating: -1, count: 300)
        bands.convert([-20, -40], into: &rows)
        for (row, power) in rows.enumerated() {
            let frequency = axis.frequency(at: 1 - (Double(row) + 0.5) / 300)
            let expected: Float = frequency < 100 || frequency >= 10_000 ? 0 : frequency < 1000 ? 0.02 : 0.0002
            #expect(abs(power - expected) <= expected * 1e-3, "\(frequency) Hz")
        }
    }

    @Test(arguments: ColorMap.allCases)
    func `colour map: 256 colours, lightness increases or decreases throughout`(map: ColorMap) {
        let colors = map.colors
        #expect(colors.count == 256)
        let lightness = colors.map { 0.2126 * Double($0 >> 16) + 0.7152 * Double($0 >> 8 & 255) + 0.0722 * Double($0 & 255) }
        let sign = lightness[255] > lightness[0] ? 1.0 : -1
        #expect(zip(lightness, lightness.dropFirst()).allSatisfy { sign * ($1 - $0) > -1.2 })
        #expect(abs(lightness[255] - lightness[0]) > 150)
    }

    @Test func `colour maps: ends as published`() {
        #expect(ColorMap.viridis.colors.first == 0x440154 && ColorMap.viridis.colors.last == 0xFDE725)
        #expect(ColorMap.magma.colors.first == 0x000004 && ColorMap.magma.colors.last == 0xFCFDBF)
        #expect(ColorMap.inferno.colors.first == 0x000004 && ColorMap.inferno.colors.last == 0xFCFFA4)
        #expect(ColorMap.cividis.colors.first == 0x00224E && ColorMap.cividis.colors.last == 0xFEE838)
        #expect(ColorMap.gray.colors.first == 0 && ColorMap.gray.colors.last == 0xFFFFFF)
    }
}
