internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork

/// The sink `osc`.
final class OSCSender: Sink {
    private struct State {
        var context = SinkContext(name: "osc")
        var sender: MessageSender?
        var map: FieldMap?
        var routes: OSCRoutes?
        var clock = StreamClock()
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        var limit = RateLimit(0)
    }

    private let settings: OSCSettings
    private let target: NetworkTarget
    private var state = State()

    init(_ settings: OSCSettings, to target: NetworkTarget) {
        self.settings = settings
        self.target = target
    }

    func open(_ context: SinkContext) throws(Problem) {
        if let path = settings.map {
            state.map = try FieldMap.load(path)
        }
        state.sender = try MessageSender(to: target, interface: settings.interface, context)
        (state.context, state.routes, state.limit) = (context, nil, RateLimit(settings.rate))
    }

    /// Sends a packet. On a TCP connection, each has its size before it (OSC 1.0).
    private func send(_ packet: [UInt8], at time: Double) {
        var encoder = OSCEncoder()
        if target.transport == .tcp { encoder.append(sized: packet) }
        state.sender?.send(target.transport == .tcp ? encoder.bytes : packet, at: time)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        state.routes = try OSCRoutes(
            state.map, settings, isStream: target.transport == .tcp, header: stream, selection: state.context.records.selection)
        (state.clock, state.format) = (StreamClock(), stream.format)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        guard var routes = state.routes else { return }
        // A copy of the routes would be written to otherwise.
        state.routes = nil
        for index in 0..<batches.count {
            let batch = batches[index]
            let now = state.context.timing.clock.now
            let end = state.format.seconds(at: batch.endFrame)
            state.clock.add(end: end, at: now)
            if state.limit.earliest <= now {
                state.limit.add(at: now)
                routes.encode(batch, at: time(end)) { send($0, at: now + settings.delay) }
            }
            for place in batch.events.indices { send(batch.events[place], &routes) }
        }
        state.routes = routes
    }

    func write(_ events: [Event]) throws(Problem) {
        guard var routes = state.routes else { return }
        state.routes = nil
        for event in events { send(event, &routes) }
        state.routes = routes
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try write(summary.lateEvents)
    }

    func close() throws(Problem) {
        defer { state = State() }
        try state.sender?.close(within: settings.delay + Self.closeTime)
    }

    /// Seconds that announced events are waited for at the end.
    private static let closeTime = 1.0

    private func send(_ event: Event, _ routes: inout OSCRoutes) {
        let due = (state.clock.time(of: event.time) ?? state.context.timing.clock.now) - state.context.timing.lead + settings.delay
        routes.encode(event, at: time(event.time)) { send($0, at: due) }
    }

    /// The time tag for a time of the stream.
    private func time(_ streamTime: Double) -> OSCTime {
        guard settings.timeTags == .event, let time = state.clock.time(of: streamTime) else { return .immediately }
        return OSCTime(since1970: time + settings.delay + MonotonicTime.wallClockOffset)
    }
}

/// The messages of a stream: those of a map, or one for each selected feature and event.
struct OSCRoutes {
    /// The longest bundle for UDP: what fits into a packet of an Ethernet without being split.
    private static let datagramLimit = 1472
    /// The longest bundle for TCP.
    private static let streamLimit = 65_536

    private var routes: FieldRoutes
    private let addresses: [String]
    /// Without a map: the features that are sent, and the beginnings of their messages, which are the same in every batch.
    private let columns: [(beginning: [UInt8], handle: FeatureHandle)]
    /// For events without a map: the address and the stored fields' types of each type of record.
    private let events: [String: (address: String, types: [Field.Kind])]
    private let usesBundles: Bool
    private let limit: Int
    private var message = OSCEncoder()
    private var bundle = OSCEncoder()
    /// Of each entry, the address and the types of so many numbers, which are the same in every batch; empty: not encoded yet.
    private var beginnings: [(count: Int, bytes: [UInt8])]

    init(
        _ map: FieldMap?, _ settings: OSCSettings, isStream: Bool, header: StreamHeader, selection: Selection
    ) throws(Problem) {
        usesBundles = settings.usesBundles
        limit = isStream ? Self.streamLimit : Self.datagramLimit
        if let map {
            routes = try FieldRoutes(map, for: header, checkingDestinations: OSCAddress.fault)
            addresses = map.entries.map(\.destination)
            (columns, events) = ([], [:])
            beginnings = addresses.map { _ in (0, []) }
            return
        }
        let isSelected = selection.contains("batch")
        columns = header.layout.sections.flatMap { section in
            section.features.filter { isSelected && selection.contains(section.analyzer, $0.feature.name) && $0.feature.count > 0 }
                .map { column in
                    var beginning = OSCEncoder()
                    beginning.appendBeginning(
                        of: "\(settings.prefix)/\(OSCAddress.part(section.analyzer))/\(OSCAddress.part(column.feature.numberKey))",
                        numberCount: column.handle.count)
                    return (beginning.bytes, column.handle)
                }
        }
        routes = try FieldRoutes(FieldMap(title: "osc", entries: []), for: header)
        (addresses, beginnings) = ([], [])
        events = Dictionary(
            uniqueKeysWithValues: header.catalog.events.filter { selection.contains($0.name) }.map {
                type -> (String, (address: String, types: [Field.Kind])) in
                let kinds = type.fields.filter { $0.source == .stored }.map(\.kind)
                return (type.name, ("\(settings.prefix)/\(OSCAddress.part(type.name))", kinds))
            })
    }

    /// Encodes the messages of a batch.
    mutating func encode(_ batch: borrowing Batch, at time: OSCTime, _ send: ([UInt8]) -> Void) {
        var encoder = Encoder(usesBundles: usesBundles, limit: limit, time: time, message: message, bundle: bundle)
        (message, bundle) = (OSCEncoder(), OSCEncoder())
        if batch.hasValues {
            let row = batch.row
            for (beginning, handle) in columns {
                let values = row.extracting(handle.offset..<handle.offset + handle.count)
                // A value that does not exist is not sent.
                guard values.indices.allSatisfy({ values[$0].isFinite }) else { continue }
                encoder.append(beginning, numbers: values, send)
            }
        }
        let addresses = addresses
        var beginnings = beginnings
        self.beginnings = []
        routes.forEachValue(of: batch) { entry, values in
            guard values.allSatisfy(\.isNumber) else { return encoder.append(addresses[entry], values, [], send) }
            if beginnings[entry].count != values.count || beginnings[entry].bytes.isEmpty {
                var beginning = OSCEncoder()
                beginning.appendBeginning(of: addresses[entry], numberCount: values.count)
                beginnings[entry] = (values.count, beginning.bytes)
            }
            encoder.append(beginnings[entry].bytes, numbers: values, send)
        }
        encoder.finish(send)
        (message, bundle, self.beginnings) = (encoder.message, encoder.bundle, beginnings)
    }

    /// Encodes the messages of an event.
    mutating func encode(_ event: Event, at time: OSCTime, _ send: ([UInt8]) -> Void) {
        var encoder = Encoder(usesBundles: usesBundles, limit: limit, time: time, message: OSCEncoder(), bundle: OSCEncoder())
        if event.line == nil, let (address, types) = events[event.type.name] {
            if let stamped = event.control {
                let values = [.text(stamped.control.name)] + stamped.control.values.flatMap(\.arguments)
                encoder.append(address, values, [], send)
            } else {
                let isFlat = types.allSatisfy { $0 != .numbers && $0 != .texts }
                let values = types.indices.flatMap { event[$0].arguments }
                encoder.append(address, values, isFlat ? types : [], send)
            }
        }
        let addresses = addresses
        routes.forEachValue(of: event) { encoder.append(addresses[$0], $1, [], send) }
        encoder.finish(send)
    }

    /// Collects messages in bundles.
    private struct Encoder {
        let usesBundles: Bool
        let limit: Int
        let time: OSCTime
        var message: OSCEncoder
        var bundle: OSCEncoder

        mutating func append(_ address: String, _ values: [ParameterValue], _ types: [Field.Kind], _ send: ([UInt8]) -> Void) {
            message.removeAll()
            message.append(address, values, types: types)
            appendMessage(send)
        }

        /// Appends a message of numbers, whose beginning is encoded.
        mutating func append(_ beginning: [UInt8], numbers: [ParameterValue], _ send: ([UInt8]) -> Void) {
            message.removeAll()
            message.append(beginning, numbers: numbers)
            appendMessage(send)
        }

        /// Appends a message of numbers, whose beginning is encoded.
        mutating func append(_ beginning: [UInt8], numbers: Span<Float>, _ send: ([UInt8]) -> Void) {
            guard usesBundles else {
                message.removeAll()
                message.append(beginning, numbers: numbers)
                return send(message.bytes)
            }
            prepareBundle(for: beginning.count + 4 * numbers.count, send)
            bundle.append(sized: beginning, numbers: numbers)
        }

        private mutating func appendMessage(_ send: ([UInt8]) -> Void) {
            guard usesBundles else { return send(message.bytes) }
            prepareBundle(for: message.bytes.count, send)
            bundle.append(sized: message.bytes)
        }

        /// Begins a bundle where there is none, or where so many bytes more are too many for it.
        private mutating func prepareBundle(for count: Int, _ send: ([UInt8]) -> Void) {
            if !bundle.bytes.isEmpty, bundle.bytes.count + 4 + count > limit { finish(send) }
            if bundle.bytes.isEmpty { bundle.appendBundle(at: time) }
        }

        mutating func finish(_ send: ([UInt8]) -> Void) {
            if bundle.bytes.isEmpty { return }
            send(bundle.bytes)
            bundle.removeAll()
        }
    }
}

extension ParameterValue {
    fileprivate var isNumber: Bool {
        if case .number = self { true } else { false }
    }

    /// The arguments of a message: those of a list, or the value.
    fileprivate var arguments: [ParameterValue] {
        if case .list(let items) = self { items } else { [self] }
    }
}
