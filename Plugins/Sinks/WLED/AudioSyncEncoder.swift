internal import Hemiola
internal import HemiolaSignal

/// Computes the messages of a stream from its features and events.
struct AudioSyncEncoder {
    /// Level in dBFS that becomes 0; 0 dBFS becomes 255.
    private static let lowestLevel: Float = -60
    /// Time constant of the smoothed level, in seconds: WLED's own smoothing of a microphone is of this order.
    private static let smoothing = 0.1
    /// Frequencies that WLED accepts, in hertz.
    private static let frequencies: ClosedRange<Float> = 1...11_025
    /// The magnitude of a strongest band that is at its maximum. WLED defines no scale; its effects divide by up to 8 and limit to 255.
    private static let fullMagnitude: Float = 8 * 255

    private let level: FeatureHandle?
    private let bars: FeatureHandle?
    private let bands: FeatureHandle?
    /// The centres of the bands, in hertz.
    private let centers: [Float]
    private let format: StreamFormat
    private let peak: RecordType
    private let lead: Double
    /// Times of peaks to come, in seconds of stream time.
    private var peaks: [Double] = []
    private var packet = AudioSyncPacket()

    /// - Parameters:
    ///   - peak: The record whose events are peaks.
    ///   - lead: Seconds by which a peak is sent before it occurs.
    init(_ header: StreamHeader, peak: RecordType, lead: Double) {
        format = header.format
        self.peak = peak
        self.lead = lead
        level = header.layout.handle("levels", "rms_db")
        bars = header.layout.handle("visualizer", "bars")
        let column = header.layout.sections.first { $0.analyzer == "spectrum" }?.features.first { $0.feature.name == "bands_db" }
        bands = column?.handle
        let edges = column?.feature.edges ?? []
        // Mel bands overlap and have one edge more.
        let step = edges.count == (column?.handle.count ?? 0) + 2 ? 2 : 1
        centers = edges.count > step ? (0..<edges.count - step).map { Float((edges[$0] * edges[$0 + step]).squareRoot()) } : []
    }

    mutating func note(_ event: Event) {
        // More than a few can only come from a replay or a plugin that emits too many.
        if event.type == peak, peaks.count < 1000 { peaks.append(event.time - lead) }
    }

    /// The message for a batch.
    mutating func packet(for batch: borrowing Batch) -> [UInt8] {
        let end = format.seconds(at: batch.endFrame)
        let row = batch.row
        packet.number &+= 1
        packet.isPeak = peaks.contains { $0 <= end }
        peaks.removeAll { $0 <= end }
        var decibels = Float.nan
        if let level { decibels = row[level.offset] }
        packet.level = decibels.isFinite ? 255 * min(max((decibels - Self.lowestLevel) / -Self.lowestLevel, 0), 1) : 0
        let share = Float(min(1, format.seconds(at: Int64(batch.frameCount)) / Self.smoothing))
        packet.smoothedLevel += (packet.level - packet.smoothedLevel) * share
        var highest: Float = 0
        for band in 0..<AudioSyncPacket.bandCount {
            let value = bar(band, of: row)
            highest = max(highest, value)
            packet.bands[band] = UInt8((255 * value).rounded())
        }
        (packet.magnitude, packet.frequency) = (highest * Self.fullMagnitude, strongestFrequency(row))
        return packet.bytes
    }

    /// One of 16 bars, 0…1: the largest of those that it stands for.
    private func bar(_ band: Int, of row: Span<Float>) -> Float {
        guard let bars, bars.count > 0 else { return 0 }
        let first = band * bars.count / AudioSyncPacket.bandCount
        let last = max(first, (band + 1) * bars.count / AudioSyncPacket.bandCount - 1)
        var value: Float = 0
        for index in first...last where row[bars.offset + index].isFinite { value = max(value, row[bars.offset + index]) }
        return min(value, 1)
    }

    /// The centre of the band with the most power.
    private func strongestFrequency(_ row: Span<Float>) -> Float {
        guard let bands, centers.count == bands.count else { return Self.frequencies.lowerBound }
        var (best, power): (Int?, Float) = (nil, -119)
        for index in 0..<bands.count where row[bands.offset + index] > power { (best, power) = (index, row[bands.offset + index]) }
        guard let best else { return Self.frequencies.lowerBound }
        return min(max(centers[best], Self.frequencies.lowerBound), Self.frequencies.upperBound)
    }
}
