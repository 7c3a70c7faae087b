internal import Hemiola

/// The songs of a folder that follow one another, whose rows wait for the loudness of all of them together.
struct Album {
    /// A row that waits.
    enum Row {
        case song(SummaryRecord)
        case failure(InputEnd)
    }

    /// A folder of more songs is a collection: it has no gain, and its rows do not wait.
    static let maximumCount = 1000
    /// The gating blocks of BS.1770 overlap by 75 %: one begins every 100 ms at the latest.
    private static let longestStep = 0.1

    /// The path of the folder.
    let folder: String
    private var rows: [Row] = []
    private var blocks = GatedHistogram()
    private var peak = 0.0
    /// Whether the rows wait: the loudness of the folder can be measured so far.
    private(set) var waits = true
    /// Where the rows of the stream have the loudness of the last 400 ms; nil: they have none.
    private var loudness: FeatureHandle?

    init(_ stream: StreamHeader) {
        folder = Self.folder(of: stream)
    }

    static func folder(of stream: StreamHeader) -> String {
        stream.outputPath.lastIndex(of: "/").map { String(stream.outputPath[..<$0]) } ?? ""
    }

    /// A song of the folder begins.
    mutating func begin(_ stream: StreamHeader) {
        loudness = stream.layout.handle("loudness", "momentary_lufs")
        let step = stream.format.seconds(at: Int64(stream.batching.batchFrames))
        waits = waits && !stream.isLive && loudness != nil && step <= Self.longestStep
    }

    mutating func add(_ batch: borrowing Batch) {
        guard let loudness, batch.hasValues else { return }
        let value = batch.row[loudness.offset]
        if value.isFinite { blocks.add(Loudness.energy(Double(value))) }
    }

    /// Adds a row.
    mutating func add(_ row: Row) {
        rows.append(row)
        if case .song(let record) = row { peak = max(peak, record.replayGain.trackPeak ?? 0) }
        if rows.count > Self.maximumCount { waits = false }
    }

    /// Not all songs of the folder will come.
    mutating func giveUp() { waits = false }

    /// The rows, with the values of the folder; they are removed.
    mutating func takeRows() -> [Row] {
        defer { rows = [] }
        guard waits, let loudness = blocks.gatedLoudness(relativeGate: -10) else { return rows }
        return rows.map { row in
            guard case .song(var record) = row else { return row }
            record.replayGain.albumGain = SummaryRecord.ReplayGain.gain(ofLoudness: loudness)
            record.replayGain.albumPeak = peak
            return .song(record)
        }
    }
}
