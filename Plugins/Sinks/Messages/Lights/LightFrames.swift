internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork

/// The frames of the sink `lights`.
struct LightFrames<Messages: LightMessages>: FrameSource {
    private let allowsStrobe: Bool
    /// Channels of the universes; nil: a frame has the pixels alone.
    private let universes: (count: Int, start: Int)?
    private let map: FieldMap?
    private let lead: Double
    private var protocolMessages: Messages
    private var show: LightShow
    private var channels: MappedChannels?
    private var colors: [Color]
    private var frame: [UInt8]
    private var limiter: FlashLimiter
    private var clock = StreamClock()
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)

    init(_ messages: Messages, _ settings: LightSettings, map: FieldMap?, lead: Double) {
        allowsStrobe = settings.allowsStrobe
        universes = settings.protocol == .ddp ? nil : (count: settings.universeCount, start: settings.start ?? 1)
        self.map = map
        self.lead = lead
        protocolMessages = messages
        show = LightShow(settings.effect, brightness: Float(settings.brightness))
        let pixelCount = map == nil ? settings.pixels : 0
        colors = [Color](repeating: .black, count: pixelCount)
        frame = [UInt8](repeating: 0, count: map == nil ? 3 * pixelCount : Universe.channelCount)
        limiter = FlashLimiter(count: map == nil ? pixelCount : Universe.channelCount)
    }

    /// Makes a sink.
    static func sink(_ messages: Messages, _ settings: LightSettings) -> any Sink {
        FrameSink(to: messages.receivers, interface: settings.interface, rate: settings.rate, delay: settings.delay) {
            context throws(Problem) -> LightFrames in
            if settings.allowsStrobe { context.messages.warn("strobe=true: lights can flash more than three times a second") }
            let map = try settings.map.map { path throws(Problem) in try FieldMap.load(path) }
            return LightFrames(messages, settings, map: map, lead: context.timing.lead)
        }
    }

    mutating func begin(_ stream: StreamHeader) throws(Problem) {
        (format, clock) = (stream.format, StreamClock())
        show.begin(stream)
        guard let map else { return }
        channels = try MappedChannels(map, stream)
    }

    mutating func add(_ batch: borrowing Batch, at now: Double) {
        clock.add(end: format.seconds(at: batch.endFrame), at: now)
        guard batch.hasValues else { return }
        if channels == nil { show.add(batch) } else { channels?.add(batch) }
    }

    mutating func add(_ event: Event) {
        guard let time = clock.time(of: event.time - lead), time.isFinite else { return }
        if channels == nil { show.add(event, at: time) } else { channels?.add(event, at: time) }
    }

    var nextEvent: Double { channels.map(\.nextEvent) ?? show.nextEvent }

    mutating func messages(at now: Double, gain: Float) -> [(receiver: Int, bytes: [UInt8])] {
        if channels == nil { renderPixels(at: now, gain) } else { renderChannels(at: now, gain) }
        guard let universes, channels == nil else { return protocolMessages.messages(for: frame) }
        return protocolMessages.messages(for: Universe.frame(ofPixels: frame, start: universes.start, universeCount: universes.count))
    }

    mutating func lastMessages() -> [(receiver: Int, bytes: [UInt8])] { protocolMessages.lastMessages() }

    private mutating func renderPixels(at now: Double, _ gain: Float) {
        show.render(at: now, into: &colors)
        for index in colors.indices {
            var color = colors[index] * gain
            if !allowsStrobe {
                let brightness = color.brightness
                let limited = limiter.limited(brightness, of: index, at: now)
                if limited < brightness { color = color * (limited / brightness) }
            }
            // Faster than `rounded()`, which is a call of the C library.
            frame[3 * index] = UInt8(255 * min(color.red, 1) + 0.5)
            frame[3 * index + 1] = UInt8(255 * min(color.green, 1) + 0.5)
            frame[3 * index + 2] = UInt8(255 * min(color.blue, 1) + 0.5)
        }
    }

    private mutating func renderChannels(at now: Double, _ gain: Float) {
        channels?.render(at: now, into: &frame)
        for index in frame.indices {
            var value = Float(frame[index]) / 255 * gain
            if !allowsStrobe { value = limiter.limited(value, of: index, at: now) }
            frame[index] = UInt8((255 * value).rounded())
        }
    }
}
