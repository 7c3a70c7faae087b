internal import HemiolaSignal

/// What a client can subscribe to, as a set of bits: the record types, and the samples.
struct StreamSet: OptionSet, Sendable, Hashable {
    var rawValue: UInt32

    static let samplesName = "pushSamples"
    /// In the order of the bits.
    static let names = Selection.recordTypes + [samplesName]

    static let samples = StreamSet(named: samplesName)!
    static let batch = StreamSet(named: "batch")!
    static let header = StreamSet(named: "header")!
    static let end = StreamSet(named: "end")!
    static let dropped = StreamSet(named: "dropped")!
    /// What comes at the pace of the batches and may be lost: the newest counts.
    static let paced: StreamSet = [.samples, .batch]

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// - Returns: nil when there is no stream of that name.
    init?(named name: String) {
        guard let bit = Self.names.firstIndex(of: name) else { return nil }
        rawValue = 1 << bit
    }

    init(_ event: Event) {
        self = StreamSet(named: event.recordType) ?? []
    }
}
