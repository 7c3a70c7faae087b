internal import HemiolaSignal

/// Folds the hops of a batch into its row and turns powers into decibels, by runs of columns that are treated alike.
///
/// Owns raw memory: the hot path's scratch row, allocated once.
struct HopFolder: ~Copyable {
    private struct Run {
        var offset: Int
        var count: Int
        var fold: Feature.Fold
    }

    private struct DecibelRun {
        var offset: Int
        var count: Int
        /// 10 for power, 20 for amplitude.
        var factor: Float
    }

    private let runs: [Run]
    private let decibelRuns: [DecibelRun]
    private let width: Int
    private let hopsPerBatch: Int
    private let scratch: UnsafeMutablePointer<Float>

    init(_ layout: FeatureLayout, hopsPerBatch: Int) {
        var runs: [Run] = []
        var decibelRuns: [DecibelRun] = []
        for column in layout.sections.flatMap(\.features) where column.handle.count > 0 {
            let (offset, count) = (column.handle.offset, column.handle.count)
            if let last = runs.last, last.fold == column.feature.fold {
                runs[runs.count - 1].count += count
            } else {
                runs.append(Run(offset: offset, count: count, fold: column.feature.fold))
            }
            guard let factor = column.feature.scale.factor else { continue }
            if let last = decibelRuns.last, last.factor == factor, last.offset + last.count == offset {
                decibelRuns[decibelRuns.count - 1].count += count
            } else {
                decibelRuns.append(DecibelRun(offset: offset, count: count, factor: factor))
            }
        }
        self.runs = runs
        self.decibelRuns = decibelRuns
        self.hopsPerBatch = hopsPerBatch
        width = layout.width
        scratch = .allocate(capacity: max(1, width))
        scratch.initialize(repeating: .nan, count: max(1, width))
    }

    deinit {
        scratch.deallocate()
    }

    /// Where the analyzers write this hop: into the batch's row itself when the batch has one hop.
    func target(_ row: UnsafeMutableBufferPointer<Float>) -> UnsafeMutableBufferPointer<Float> {
        let target = hopsPerBatch == 1 ? row : UnsafeMutableBufferPointer(start: scratch, count: width)
        target.update(repeating: .nan)
        return target
    }

    /// Folds what the analyzers wrote into the row.
    ///
    /// - Parameters:
    ///   - frames: The hop's real frames.
    ///   - before: The batch's real frames in the hops before it.
    func fold(into row: UnsafeMutableBufferPointer<Float>, frames: Int, before: Int) {
        if hopsPerBatch == 1 { return }
        // By index, here and below: without the optimiser an array's iterator allocates.
        for index in runs.indices {
            let run = runs[index]
            let old = row.baseAddress! + run.offset
            let new = scratch + run.offset
            if before == 0 {
                old.update(from: new, count: run.count)
                continue
            }
            switch run.fold {
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

    /// Turns powers and amplitudes of the sealed row into decibels.
    func convert(_ row: UnsafeMutableBufferPointer<Float>) {
        for index in decibelRuns.indices {
            let run = decibelRuns[index]
            var span = UnsafeMutableBufferPointer(start: row.baseAddress! + run.offset, count: run.count).mutableSpan
            span.convertToDecibels(factor: run.factor)
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
