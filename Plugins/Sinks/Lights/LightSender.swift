internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork
internal import HemiolaSignal
internal import Synchronization

/// The sinks `ddp`, `sacn` and `artnet`: computes a frame with every batch and sends it.
///
/// Its methods run one at a time; `writeIfReady` runs on the analysis thread, because sending never waits. The mutex makes the state `Sendable`.
final class LightSender<Messages: LightProtocol>: DirectingSink, NonBlockingSink {
    private struct State {
        var context: SinkContext?
        var messages: Messages?
        var senders: [ScheduledSender] = []
        var show: LightShow
        var map: FieldMap?
        var channels: MappedChannels?
        var colors: [Color]
        var frame: [UInt8] = []
        var limiter: FlashLimiter
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        /// Seconds of all streams: the clock of the limiter, which never goes back.
        var elapsed = 0.0
    }

    private let settings: LightSettings
    private let prototype: Messages
    /// Channels of the universes; nil: a frame has the pixels alone.
    private let universes: (count: Int, start: Int)?
    private let blackout = BlackoutSwitch()
    private let state: Mutex<State>

    init(_ messages: Messages, _ settings: LightSettings, universes: (count: Int, start: Int)? = nil) {
        prototype = messages
        self.settings = settings
        self.universes = universes
        state = Mutex(Self.state(settings, universes?.count, nil))
    }

    private static func state(_ settings: LightSettings, _ universeCount: Int?, _ context: SinkContext?) -> State {
        let lights = settings.map == nil ? settings.pixelCount : (universeCount ?? 1) * Universe.channelCount
        return State(
            context: context, show: LightShow(settings.effect, brightness: settings.brightness, lead: context?.lead ?? 0),
            colors: [Color](repeating: .black, count: settings.map == nil ? settings.pixelCount : 0), limiter: FlashLimiter(count: lights))
    }

    func makeDirector() throws(SinkError) -> sending any Director {
        BlackoutDirector(blackout)
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        var new = Self.state(settings, universes?.count, context)
        new.messages = prototype
        if let path = settings.map {
            do throws(FieldMapError) {
                new.map = try FieldMap.load(path)
            } catch {
                throw SinkError(error.description)
            }
        }
        for target in prototype.receivers {
            do throws(SinkError) {
                new.senders.append(try ScheduledSender(target, interface: settings.interface, context))
            } catch {
                for sender in new.senders { try? sender.close(within: 0) }
                throw error
            }
        }
        if settings.allowsStrobe { context.warn("strobe=true: lights can flash more than three times a second") }
        state.withLock { $0 = new }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            state.format = stream.format
            state.show.begin(stream)
            guard let map = state.map else { return }
            do throws(FieldMapError) {
                state.channels = try MappedChannels(map, stream, lead: state.context?.lead ?? 0)
            } catch {
                throw SinkError(error.description)
            }
        }
    }

    func writeIfReady(_ batches: BatchBlock) -> Bool {
        show(batches)
        return true
    }

    func write(_ batches: BatchBlock) async throws(SinkError) { show(batches) }

    private func show(_ batches: BatchBlock) {
        state.withLock { state in
            for index in 0..<batches.count {
                let batch = batches[index]
                for place in batch.events.indices { note(batch.events[place], &state) }
                guard batch.hasValues else { continue }
                state.elapsed += state.format.seconds(at: Int64(batch.frameCount))
                render(batch, &state)
                send(&state)
            }
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        state.withLock { state in
            for event in events { note(event, &state) }
            // While the source is lost there is no batch, and a blackout is not to wait for it.
            if blackout.isOn, !state.frame.isEmpty { send(&state) }
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {}

    func close() async throws(SinkError) {
        let senders = state.withLock { state in
            // The lights go out.
            if state.messages != nil, !state.frame.isEmpty {
                state.frame = [UInt8](repeating: 0, count: state.frame.count)
                send(&state)
                for (receiver, bytes) in state.messages?.lastMessages() ?? [] {
                    state.senders[receiver].add(bytes, at: MonotonicTime.now + settings.delay)
                }
            }
            defer { state = Self.state(settings, universes?.count, nil) }
            return state.senders
        }
        for sender in senders { try sender.close(within: settings.delay + 0.1) }
    }

    // MARK: - Frames

    private func note(_ event: Event, _ state: inout State) {
        if state.channels == nil { state.show.note(event) } else { state.channels?.note(event) }
    }

    private func render(_ batch: borrowing Batch, _ state: inout State) {
        if state.channels != nil {
            state.channels?.render(batch, end: state.format.seconds(at: batch.endFrame), into: &state.frame)
            if settings.allowsStrobe { return }
            for index in state.frame.indices {
                let limited = state.limiter.limited(Float(state.frame[index]) / 255, of: index, at: state.elapsed)
                state.frame[index] = UInt8((255 * limited).rounded())
            }
            return
        }
        state.show.render(batch, into: &state.colors)
        if state.frame.isEmpty { state.frame = [UInt8](repeating: 0, count: 3 * state.colors.count) }
        for index in state.colors.indices {
            var color = state.colors[index]
            if !settings.allowsStrobe {
                let brightness = color.brightness
                let limited = state.limiter.limited(brightness, of: index, at: state.elapsed)
                if limited < brightness { color = color * (limited / brightness) }
            }
            // Faster than `rounded()`, which is a call of the C library.
            state.frame[3 * index] = UInt8(255 * min(color.red, 1) + 0.5)
            state.frame[3 * index + 1] = UInt8(255 * min(color.green, 1) + 0.5)
            state.frame[3 * index + 2] = UInt8(255 * min(color.blue, 1) + 0.5)
        }
    }

    private func send(_ state: inout State) {
        var frame = blackout.isOn ? [UInt8](repeating: 0, count: state.frame.count) : state.frame
        if let universes, state.channels == nil {
            frame = Universe.frame(ofPixels: frame, start: universes.start, universeCount: universes.count)
        }
        let time = MonotonicTime.now + settings.delay
        for (receiver, bytes) in state.messages?.messages(for: frame) ?? [] { state.senders[receiver].add(bytes, at: time) }
    }
}
