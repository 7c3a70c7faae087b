internal import HemiolaRecords
internal import HemiolaSignal

/// Aggregates the hops of a batch into its row and converts powers into decibels, by runs of columns that are treated alike.
///
/// Owns raw memory: the hot path's scratch row, allocated once.
struct HopAggregator: ~Copyable {
    private struct Run {
        var offset: Int
        var count: Int
        var aggregation: Feature.Aggregation
        /// For decibels: 10 for power, 20 for amplitude; nil: the values stay as they are.
        var factor: Float?
    }

    private let runs: [Run]
    private let width: Int
    private let hopsPerBatch: Int
    private let scratch: UnsafeMutablePointer<Float>

    init(_ layout: FeatureLayout, hopsPerBatch: Int) {
        var runs: [Run] = []
        for column in layout.sections.flatMap(\.features) where column.handle.count > 0 {
            let (offset, count) = (column.handle.offset, column.handle.count)
            let (aggregation, factor) = (column.feature.aggregation, column.feature.scale.factor)
            if let last = runs.last, last.aggregation == aggregation, last.factor == factor {
                runs[runs.count - 1].count += count
            } else {
                runs.append(Run(offset: offset, count: count, aggregation: aggregation, factor: factor))
            }
        }
        self.runs = runs
        self.hopsPerBatch = hopsPerBatch
        width = layout.width
        scratch = .allocate(capacity: max(1, width))
        scratch.initialize(repeating: .nan, count: max(1, width))
    }

    deinit {
        scratch.deallocate()
    }

    /// The memory for the analyzers' outputs of this hop: the batch's row itself if the batch has one hop.
    func target(_ row: UnsafeMutableBufferPointer<Float>) -> UnsafeMutableBufferPointer<Float> {
        let target = hopsPerBatch == 1 ? row : UnsafeMutableBufferPointer(start: scratch, count: width)
        target.update(repeating: .nan)
        return target
    }

    /// Aggregates the values of a hop into the row.
    ///
    /// - Parameters:
    ///   - frames: The hop's real frames.
    ///   - before: The batch's real frames in the hops before it.
    func aggregate(into row: UnsafeMutableBufferPointer<Float>, frames: Int, before: Int) {
        if hopsPerBatch == 1 { return }
        // Loops by index, here and below, because an array's iterator allocates without optimisation.
        for index in runs.indices {
            let run = runs[index]
            let old = row.baseAddress! + run.offset
            let new = scratch + run.offset
            if before == 0 {
                old.update(from: new, count: run.count)
                continue
            }
            switch run.aggregation {
            case .latest:
                old.update(from: new, count: run.count)
            case .sum:
                for index in 0..<run.count { old[index] += new[index] }
            case .maximum:
                for index in 0..<run.count { old[index] = max(old[index], new[index]) }
            case .mean:
                let share = Float(frames) / Float(before + frames)
                for index in 0..<run.count { old[index] += (new[index] - old[index]) * share }
            }
        }
    }

    /// Converts powers and amplitudes of the completed row into decibels.
    func convert(_ row: UnsafeMutableBufferPointer<Float>) {
        for index in runs.indices {
            let run = runs[index]
            guard let factor = run.factor else { continue }
            var span = UnsafeMutableBufferPointer(start: row.baseAddress! + run.offset, count: run.count).mutableSpan
            span.convertToDecibels(factor: factor)
        }
    }
}

extension Feature.Scale {
    fileprivate var factor: Float? {
        switch self {
        case .linear: nil
        case .powerDecibels: 10
        case .amplitudeDecibels: 20
        }
    }
}
