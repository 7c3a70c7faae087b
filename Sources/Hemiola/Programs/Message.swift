internal import HemiolaRecords
internal import HemiolaSystem

/// Writes a message between Hemiola and its child process: a kind and values, in little-endian order, behind the number of their bytes.
struct MessageWriter {
    /// The message, with the number of bytes behind it in its first four bytes.
    private(set) var bytes: [UInt8] = []

    init(_ kind: UInt8) {
        bytes = [0, 0, 0, 0, kind]
    }

    /// The complete message.
    func finish() -> [UInt8] {
        var bytes = bytes
        let count = UInt32(bytes.count - 4)
        for place in 0..<4 { bytes[place] = UInt8(truncatingIfNeeded: count >> (8 * place)) }
        return bytes
    }

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
    mutating func add(_ number: Double) { add(number.bitPattern) }

    mutating func add(_ number: Double?) {
        add(number != nil)
        if let number { add(number) }
    }

    mutating func add(_ text: String) {
        add(UInt32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ numbers: [Double]) {
        add(UInt32(numbers.count))
        for number in numbers { add(number) }
    }

    mutating func add(_ numbers: [Float]) {
        add(UInt32(numbers.count))
        for number in numbers { add(number.bitPattern) }
    }

    mutating func add(_ unit: Unit) {
        add(unit.rawValue)
        add(unit.hasAllDigits)
    }

    mutating func add(_ value: ParameterValue) {
        switch value {
        case .none: add(UInt8(0))
        case .boolean(let flag):
            add(UInt8(1))
            add(flag)
        case .integer(let number):
            add(UInt8(2))
            add(Int64(number))
        case .number(let number):
            add(UInt8(3))
            add(number)
        case .text(let text):
            add(UInt8(4))
            add(text)
        case .list(let items):
            add(UInt8(5))
            add(UInt32(items.count))
            for item in items { add(item) }
        }
    }
}

/// Reads a message. A process that has crashed in parts may have written anything: every length is checked.
struct MessageReader {
    /// Bytes of a message: the values of a batch and its events.
    static let longestMessage = 64 << 20

    let kind: UInt8
    private let bytes: [UInt8]
    private var place = 1

    /// - Parameter bytes: The message without the number of its bytes, which is 1….
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        kind = bytes.first ?? 0
    }

    private mutating func take(_ count: Int) throws(Problem) -> ArraySlice<UInt8> {
        guard count >= 0, bytes.count - place >= count else { throw Problem("has sent a message that is too short") }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Problem) -> Number {
        var number: Number = 0
        let taken = try take(MemoryLayout<Number>.size)
        for (index, byte) in taken.enumerated() { number |= Number(truncatingIfNeeded: byte) << (8 * index) }
        return number
    }

    mutating func flag() throws(Problem) -> Bool { try integer(UInt8.self) != 0 }
    mutating func double() throws(Problem) -> Double { Double(bitPattern: try integer()) }
    mutating func optionalDouble() throws(Problem) -> Double? { try flag() ? try double() : nil }

    /// A number of items that have so many bytes at least.
    mutating func count(ofBytes size: Int) throws(Problem) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= (bytes.count - place) / size else { throw Problem("has sent a message that is too short") }
        return count
    }

    mutating func text() throws(Problem) -> String {
        let count = try count(ofBytes: 1)
        return String(decoding: try take(count), as: UTF8.self)
    }

    mutating func doubles() throws(Problem) -> [Double] {
        var numbers: [Double] = []
        for _ in 0..<(try count(ofBytes: 8)) { numbers.append(try double()) }
        return numbers
    }

    /// Reads a list of as many numbers as there is room for.
    mutating func floats(into values: inout [Float]) throws(Problem) {
        guard try count(ofBytes: 4) == values.count else { throw Problem("has sent another number of values than it declares") }
        try samples(into: &values)
    }

    /// Reads as many numbers as there is room for, which the message does not count.
    mutating func samples(into values: inout [Float]) throws(Problem) {
        let taken = try take(4 * values.count)
        taken.withUnsafeBytes { bytes in
            for index in values.indices {
                values[index] = Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)))
            }
        }
    }

    mutating func unit() throws(Problem) -> Unit {
        let unit = Unit(rawValue: try text())
        return try flag() ? unit.withAllDigits : unit
    }

    mutating func value() throws(Problem) -> ParameterValue {
        switch try integer(UInt8.self) {
        case 0: return .none
        case 1: return .boolean(try flag())
        case 2: return .integer(Int(try integer(Int64.self)))
        case 3: return .number(try double())
        case 4: return .text(try text())
        default:
            var items: [ParameterValue] = []
            for _ in 0..<(try count(ofBytes: 1)) { items.append(try value()) }
            return .list(items)
        }
    }
}

// MARK: - Declarations and events

extension MessageWriter {
    mutating func add(_ outputs: AnalyzerOutputs) {
        add(UInt32(outputs.features.count))
        for feature in outputs.features {
            // The engine's aggregations are of no use here: the child's analyzer writes the values of the batch up to the hop.
            precondition(feature.aggregation == .latest && feature.scale == .linear, "the analyzer aggregates by itself")
            add(feature.name)
            add(feature.unit)
            add(UInt32(feature.count))
            add(feature.isArray)
            for number in [feature.minimum, feature.maximum, feature.centerOffset] { add(number) }
            add(feature.edges)
            add(feature.summary)
        }
        add(UInt32(outputs.events.count))
        for event in outputs.events {
            add(event.name)
            add(event.unit)
            add(event.summary)
        }
        add(outputs.latencyFrames)
        add(outputs.isCausal)
    }

    mutating func add(_ events: [Event]) {
        let analyzerEvents = events.compactMap { event in AnalyzerEvent(event).map { (event.time, $0) } }
        add(UInt32(analyzerEvents.count))
        for (time, event) in analyzerEvents {
            add(time)
            add(event.output)
            add(event.duration)
            add(event.values)
            add(event.label)
        }
    }
}

extension MessageReader {
    /// Values per batch, and outputs, of a declaration.
    private static let largestWidth = 1 << 20
    private static let largestCount = 4096

    mutating func outputs() throws(Problem) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        var names: Set<String> = []
        let fault = Problem("has sent outputs that are not valid")
        for _ in 0..<(try count(ofBytes: 20)) {
            let (name, unit, count, isArray) = (try text(), try unit(), Int(try integer(UInt32.self)), try flag())
            let (minimum, maximum, centerOffset) = (try optionalDouble(), try optionalDouble(), try optionalDouble())
            let (edges, summary) = (try doubles(), try text())
            guard count <= Self.largestWidth, outputs.width + count <= Self.largestWidth, isArray || count == 1,
                outputs.features.count < Self.largestCount, names.insert(name).inserted
            else { throw fault }
            var feature =
                isArray
                ? Feature(name, unit, count: count, edges: edges, centerOffset: centerOffset, summary)
                : Feature(name, unit, centerOffset: centerOffset, summary)
            (feature.minimum, feature.maximum) = (minimum, maximum)
            _ = outputs.add(feature)
        }
        names = []
        for _ in 0..<(try count(ofBytes: 12)) {
            let event = EventOutput(try text(), try unit(), try text())
            guard outputs.events.count < Self.largestCount, names.insert(event.name).inserted else { throw fault }
            outputs.add(event)
        }
        outputs.latencyFrames = try integer(Int64.self)
        outputs.isCausal = try flag()
        return outputs
    }

    mutating func events() throws(Problem) -> [Event] {
        var events: [Event] = []
        for _ in 0..<(try count(ofBytes: 21)) {
            let (time, output, duration) = (try double(), try text(), try optionalDouble())
            let event = AnalyzerEvent(output: output, duration: duration, values: try doubles(), label: try text())
            guard time.isFinite else { throw Problem("has sent an event without a time") }
            events.append(Event(at: time, event))
        }
        return events
    }
}
