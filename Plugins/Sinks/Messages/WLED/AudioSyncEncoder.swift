internal import Hemiola
internal import HemiolaNetwork

/// The frames of the sink `wled`: computes messages from the features and events of a stream.
struct AudioSyncEncoder: FrameSource {
    /// Level in dBFS that becomes 0; 0 dBFS becomes 255.
    private static let lowestLevel: Float = -60
    /// Time constant of the smoothed level, in seconds: WLED's own smoothing of a microphone is of this order.
    private static let smoothing = 0.1
    /// Frequencies that WLED accepts, in hertz.
    private static let frequencies: ClosedRange<Float> = 1...11_025
    /// The magnitude of a strongest band that is at its maximum. WLED defines no scale; its effects divide by up to 8 and limit to 255.
    private static let fullMagnitude: Float = 8 * 255

    private let peak: PeakSource
    private let lead: Double
    private var level: SoundLevel?
    private var bars: FeatureHandle?
    private var bands: FeatureHandle?
    /// The centres of the bands, in hertz.
    private var centers: [Float] = []
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var clock = StreamClock()
    /// Times of peaks to come.
    private var peaks: [Double] = []
    /// The number of the last message, and the values of the next one: the highest since the last message.
    private var packet = AudioSyncPacket()
    /// Whether a message has had these values.
    private var areSent = true

    /// - Parameters:
    ///   - peak: Which events are peaks.
    ///   - lead: Seconds by which a peak is sent before it occurs.
    init(peak: PeakSource, lead: Double) {
        self.peak = peak
        self.lead = lead
    }

    mutating func begin(_ stream: StreamHeader) {
        (format, clock, peaks) = (stream.format, StreamClock(), [])
        level = SoundLevel(of: stream)
        bars = stream.layout.handle("visualizer", "bars")
        let column = stream.layout.sections.first { $0.analyzer == "spectrum" }?.features.first { $0.feature.name == "bands_db" }
        bands = column?.handle
        let edges = column?.feature.edges ?? []
        // Mel bands overlap and have one edge more.
        let step = edges.count == (column?.handle.count ?? 0) + 2 ? 2 : 1
        centers = edges.count > step ? (0..<edges.count - step).map { Float((edges[$0] * edges[$0 + step]).squareRoot()) } : []
    }

    mutating func add(_ event: Event) {
        // More than a few can only come from a replay or a plugin that emits too many.
        guard peak.isPeak(event), peaks.count < 1000, let time = clock.time(of: event.time - lead), time.isFinite else { return }
        peaks.append(time)
    }

    var nextEvent: Double { peaks.min() ?? .infinity }

    mutating func add(_ batch: borrowing Batch, at now: Double) {
        clock.add(end: format.seconds(at: batch.endFrame), at: now)
        guard batch.hasValues else { return }
        let row = batch.row
        var decibels = Float.nan
        if let level { decibels = level.decibels(row) }
        let current = decibels.isFinite ? 255 * min(max((decibels - Self.lowestLevel) / -Self.lowestLevel, 0), 1) : 0
        packet.level = areSent ? current : max(packet.level, current)
        let share = Float(min(1, format.seconds(at: Int64(batch.frameCount)) / Self.smoothing))
        packet.smoothedLevel += (current - packet.smoothedLevel) * share
        var highest: Float = 0
        for band in 0..<AudioSyncPacket.bandCount {
            let value = bar(band, of: row)
            highest = max(highest, value)
            let byte = UInt8((255 * value).rounded())
            packet.bands[band] = areSent ? byte : max(packet.bands[band], byte)
        }
        let magnitude = highest * Self.fullMagnitude
        if areSent || magnitude >= packet.magnitude { (packet.magnitude, packet.frequency) = (magnitude, strongestFrequency(row)) }
        areSent = false
    }

    mutating func messages(at now: Double, gain: Float) -> [(receiver: Int, bytes: [UInt8])] {
        packet.number &+= 1
        packet.isPeak = gain > 0 && peaks.contains { $0 <= now }
        peaks.removeAll { $0 <= now }
        areSent = true
        if gain == 1 { return [(0, packet.bytes)] }
        var faded = packet
        faded.level *= gain
        faded.smoothedLevel *= gain
        faded.magnitude *= gain
        for band in faded.bands.indices { faded.bands[band] = UInt8((Float(faded.bands[band]) * gain).rounded()) }
        if gain == 0 { faded.frequency = Self.frequencies.lowerBound }
        return [(0, faded.bytes)]
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

    /// The centre of the band with the most power, among those that an offset does not reach.
    private func strongestFrequency(_ row: Span<Float>) -> Float {
        guard let bands, let first = level?.firstBand, first < bands.count, centers.count == bands.count else {
            return Self.frequencies.lowerBound
        }
        var (best, power): (Int?, Float) = (nil, -119)
        for index in first..<bands.count where row[bands.offset + index] > power { (best, power) = (index, row[bands.offset + index]) }
        guard let best else { return Self.frequencies.lowerBound }
        return min(max(centers[best], Self.frequencies.lowerBound), Self.frequencies.upperBound)
    }
}
