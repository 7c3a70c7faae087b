internal import Glibc
internal import Hemiola

/// The statistics of a stream: of each selected feature, and of the beats. Memory does not depend on the length of the stream.
struct StreamStatistics: Sendable {
    /// The columns of one feature.
    private struct Columns {
        var analyzer: String
        var feature: Feature
        var first: Int
        var moments: [Moments]
        /// Empty for a feature of too many elements.
        var sketches: [QuantileSketch]
        var nulls: Int64 = 0
    }

    /// Rows that are collected before they are added column by column.
    private static let chunkLength = QuantileSketch.chunkLength

    private let header: StreamHeader
    private var columns: [Columns] = []
    private let width: Int
    /// The collected rows, one after the other.
    private var rows: [Float] = []
    private var rowCount = 0
    private var sorter = RadixSorter(capacity: QuantileSketch.largestLevel + StreamStatistics.chunkLength)

    private let hasBeats: Bool
    private var tempi = TempoSections()
    private var beatCount: Int64 = 0
    private var barCount: Int64 = 0
    private var firstBeat: Double?
    /// The number of bars by their number of beats, and the place of the last beat in its bar.
    private var bars: [Int: Int] = [:]
    private var lastPosition: Int?
    private var lostFrames: Int64 = 0

    /// - Parameter selection: The features that are needed; nil: all.
    init(_ header: StreamHeader, _ selection: SummarySelection?) {
        self.header = header
        width = header.layout.width
        hasBeats = header.analyzers.contains { $0.outputs.events.contains { $0.name == RecordType.beat.name } }
        for section in header.layout.sections {
            // The mean of a category says nothing.
            for column in section.features
            where !column.feature.isCategory && selection?.contains("features.\(section.analyzer).\(column.feature.name)") ?? true {
                let count = column.handle.count
                let hasQuantiles = count <= SummaryRecord.maximumQuantileCount
                columns.append(
                    Columns(
                        analyzer: section.analyzer, feature: column.feature, first: column.handle.offset,
                        moments: Array(repeating: Moments(), count: count),
                        sketches: hasQuantiles ? Array(repeating: QuantileSketch(), count: count) : []))
            }
        }
        // A recording may declare more values than it has.
        rows.reserveCapacity(min(Self.chunkLength * width, 1 << 20))
    }

    // MARK: - Adding

    mutating func add(_ batch: borrowing Batch) {
        for place in batch.events.indices { add(batch.events[place]) }
        guard batch.hasValues, !columns.isEmpty else { return }
        // Unsafe: copies a row at once; the buffer is not used after the closure.
        batch.row.withUnsafeBufferPointer { rows.append(contentsOf: $0) }
        rowCount += 1
        if rowCount == Self.chunkLength { addRows() }
    }

    mutating func add(_ event: Event) {
        if event.type == .gap {
            lostFrames = min(lostFrames + (Gap(event)?.frames ?? 0), StreamFormat.lastFrame)
        } else if let beat = Beat(event) {
            beatCount += 1
            if beat.position == 1 {
                barCount += 1
                if let lastPosition { bars[lastPosition, default: 0] += 1 }
            }
            lastPosition = beat.position
            firstBeat = min(firstBeat ?? event.time, event.time)
            tempi.add(event.time, beatsPerMinute: beat.beatsPerMinute)
        }
    }

    /// Adds the collected rows to the statistics, column by column.
    private mutating func addRows() {
        guard rowCount > 0 else { return }
        // Unsafe: without bounds checks, because the loops run over each value of each batch. The column is below the width, the row
        // below `rowCount`, and `column` has room for every row.
        withUnsafeTemporaryAllocation(of: Float.self, capacity: rowCount) { column in
            rows.withUnsafeBufferPointer { rows in
                for index in columns.indices {
                    for element in columns[index].moments.indices {
                        var place = columns[index].first + element
                        var count = 0
                        for _ in 0..<rowCount {
                            let value = rows[place]
                            column[count] = value
                            count += value.isFinite ? 1 : 0
                            place += width
                        }
                        columns[index].nulls += Int64(rowCount - count)
                        let values = UnsafeBufferPointer(rebasing: column[..<count])
                        columns[index].moments[element].add(values)
                        if !columns[index].sketches.isEmpty { columns[index].sketches[element].add(values, &sorter) }
                    }
                }
            }
        }
        rows.removeAll(keepingCapacity: true)
        rowCount = 0
    }

    // MARK: - Result

    /// The record of the stream. Nothing can be added after this.
    mutating func record(_ end: StreamSummary) -> SummaryRecord {
        for event in end.lateEvents { add(event) }
        addRows()
        var statistics: [SummaryRecord.Statistics] = []
        for index in columns.indices {
            var quantiles: [[Double]] = []
            if !columns[index].sketches.isEmpty || columns[index].feature.count == 0 {
                quantiles = SummaryRecord.quantiles.map { _ in [] }
                for element in columns[index].sketches.indices {
                    columns[index].sketches[element].sort(&sorter)
                    for (place, quantile) in SummaryRecord.quantiles.enumerated() {
                        quantiles[place].append(Double(columns[index].sketches[element].quantile(quantile.share)))
                    }
                }
            }
            statistics.append(
                SummaryRecord.Statistics(
                    analyzer: columns[index].analyzer, feature: columns[index].feature, means: columns[index].moments.map(\.mean),
                    deviations: columns[index].moments.map(\.deviation), quantiles: quantiles, nulls: columns[index].nulls))
        }
        var rhythm: SummaryRecord.Rhythm?
        if hasBeats {
            rhythm = SummaryRecord.Rhythm(
                beatsPerMinute: tempi.mainTempo, tempoCount: tempi.tempi.count,
                beatsPerBar: bars.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key, beatCount: beatCount, barCount: barCount,
                firstBeat: firstBeat)
        }
        var record = SummaryRecord(
            header: header, end: end, lostFrames: lostFrames, rhythm: rhythm, statistics: statistics)
        record.replayGain.trackGain = end.number("loudness", "integrated_lufs").map(SummaryRecord.ReplayGain.gain(ofLoudness:))
        record.replayGain.trackPeak = end.number("loudness", "true_peak_dbtp").map { pow(10, $0 / 20) }
        return record
    }
}
