internal import Glibc

/// The largest amplitude that a picture distinguishes: far beyond any sound, and such that powers and their sums are finite.
enum AmplitudeLimit {
    static let linear: Float = 1e6
    static let decibels: Float = 120
}

/// Converts a power spectrum to the pixel rows of a frequency axis. Row 0 is the highest frequency.
///
/// A row that covers several bins has the power of the strongest, so that a tone keeps its level. A row that covers less than a bin is
/// interpolated between the levels of the four nearest bins in decibels (Catmull-Rom).
struct SpectrumRows {
    private enum Source {
        case strongest(Range<Int>)
        case between(bin: Int, fraction: Float)
    }

    private let sources: [Source]
    /// Bins whose levels in decibels are needed.
    private let levelCount: Int
    private var levels: [Float]

    /// - Parameters:
    ///   - binWidth: The distance of two bins, in hertz. Bin 0 is at 0 Hz.
    init(_ axis: FrequencyAxis, rowCount: Int, binCount: Int, binWidth: Double) {
        var sources: [Source] = []
        var levelCount = 0
        for row in 0..<rowCount {
            let low = axis.frequency(at: 1 - Double(row + 1) / Double(rowCount)) / binWidth
            let high = axis.frequency(at: 1 - Double(row) / Double(rowCount)) / binWidth
            let first = Int((low - 0.5).rounded(.up))
            let end = Int((high - 0.5).rounded(.up))
            if high - low >= 1, end > first {
                sources.append(.strongest(min(max(0, first), binCount - 1)..<min(max(1, end), binCount)))
            } else {
                let place = axis.frequency(at: 1 - (Double(row) + 0.5) / Double(rowCount)) / binWidth
                let bin = min(max(0, Int(place)), binCount - 1)
                // Above the last bin, its level is continued.
                sources.append(.between(bin: bin, fraction: Float(min(1, place - Double(bin)))))
                levelCount = max(levelCount, min(bin + 3, binCount))
            }
        }
        self.sources = sources
        self.levelCount = levelCount
        levels = [Float](repeating: 0, count: levelCount)
    }

    /// - Parameters:
    ///   - power: The power of each bin.
    ///   - rows: Receives the power of each row.
    mutating func convert(_ power: [Float], into rows: inout [Float]) {
        for bin in 0..<levelCount { levels[bin] = log2(max(power[bin], 1e-20)) }
        for (row, source) in sources.enumerated() {
            switch source {
            case .strongest(let bins):
                var strongest: Float = 0
                for bin in bins { strongest = max(strongest, power[bin]) }
                rows[row] = strongest
            case .between(let bin, let fraction):
                let (a, b) = (levels[max(0, bin - 1)], levels[bin])
                let (c, d) = (levels[min(bin + 1, levelCount - 1)], levels[min(bin + 2, levelCount - 1)])
                let slope = (c - a) / 2
                let end = (d - b) / 2
                let level = b + fraction * (slope + fraction * (3 * (c - b) - 2 * slope - end + fraction * (2 * (b - c) + slope + end)))
                rows[row] = exp2(level)
            }
        }
    }
}

/// Assigns the bands of recorded spectra to the pixel rows of a frequency axis. Row 0 is the highest frequency.
struct BandRows {
    /// The band of each row; nil: no band contains its frequency.
    private let bands: [Int?]
    /// Factors from the recorded to the shown power of each band.
    private let factors: [Float]

    /// - Parameter edges: The edges of the bands in hertz: `count + 1`, or of overlapping triangles `count + 2`.
    init(_ axis: FrequencyAxis, rowCount: Int, count: Int, edges: [Double]) {
        let isTriangular = edges.count == count + 2
        let borders: [Double]
        if isTriangular {
            borders = [edges[0]] + (1..<max(1, count)).map { (edges[$0] + edges[$0 + 1]) / 2 } + [edges[count + 1]]
            // Triangles hold power per hertz: half of the base is the width, which the edges of a recording may not order.
            factors = (0..<count).map { Float(2 * min(max(edges[$0 + 2] - edges[$0], 0), 1e6) / 2) }
        } else {
            borders = edges
            // A full-scale sine has the power 0.5 and the level 0 dB.
            factors = [Float](repeating: 2, count: count)
        }
        bands = (0..<rowCount).map { row in
            let frequency = axis.frequency(at: 1 - (Double(row) + 0.5) / Double(rowCount))
            guard borders.count == count + 1, let next = borders.firstIndex(where: { $0 > frequency }), next > 0 else { return nil }
            return next - 1
        }
    }

    /// - Parameters:
    ///   - levels: The recorded level of each band, in decibels; NaN: none.
    ///   - rows: Receives the power of each row.
    func convert(_ levels: [Float], into rows: inout [Float]) {
        for (row, band) in bands.enumerated() {
            guard let band, levels[band].isFinite else {
                rows[row] = 0
                continue
            }
            // A run of rows has the same band.
            rows[row] =
                row > 0 && bands[row - 1] == band
                ? rows[row - 1] : exp2(min(levels[band], AmplitudeLimit.decibels) * 0.332_192_81) * factors[band]
        }
    }
}

/// Converts recorded spectra to the columns of a spectrogram.
struct RecordedSpectra {
    private enum Rows {
        case bands(BandRows)
        case bins(SpectrumRows)
    }

    private var rows: Rows
    var columns: ColumnStore
    private var column: [Float]
    private var power: [Float]

    /// - Parameters:
    ///   - count: The values of a spectrum.
    ///   - batchFrames: The distance of two spectra.
    init(
        _ feature: PictureRecorder.SpectrumFeature, count: Int, _ axis: FrequencyAxis, columns columnCount: Int, rows rowCount: Int,
        batchFrames: Int
    ) {
        columns = ColumnStore(width: rowCount, capacity: 2 * max(2, columnCount), step: Int64(batchFrames))
        column = [Float](repeating: 0, count: rowCount)
        power = [Float](repeating: 0, count: count)
        switch feature {
        case .bands(let edges):
            rows = .bands(BandRows(axis, rowCount: rowCount, count: count, edges: edges))
        case .magnitudes(let binWidth):
            rows = .bins(SpectrumRows(axis, rowCount: rowCount, binCount: count, binWidth: binWidth))
        }
    }

    /// Adds a spectrum: levels of bands in decibels, or amplitudes; NaN: no value.
    mutating func add(_ values: [Float], at frame: Int64) {
        switch rows {
        case .bands(let bands):
            bands.convert(values, into: &column)
        case .bins(var bins):
            for bin in power.indices {
                let amplitude = min(values[bin].magnitude, AmplitudeLimit.linear)
                power[bin] = values[bin].isFinite ? amplitude * amplitude : 0
            }
            bins.convert(power, into: &column)
        }
        columns.add(column, at: frame)
    }
}
