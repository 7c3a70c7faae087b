/// A segment on the way to the output.
struct EstimatedSegment: Sendable {
    /// Its start, in seconds from the start of the stream.
    var time: Double
    /// In seconds; nil while it is unknown.
    var duration: Double?
    /// A, B, C …; nil while it is unknown.
    var label: String?
    /// nil: none is evident, or it is unknown.
    var role: SegmentRole?
    /// 0…1.
    var confidence: Double
}

/// The first pass over a whole file: stores its frames, then divides them into segments with labels.
///
/// 1. Frames of 0.5 s with the band levels, the chroma and where they recur (`Recurrence`) are divided by dynamic programming
///    (`SegmentDivision`).
/// 2. Each boundary is moved by up to 2 s, to where the frames of 0.1 s are divided best.
/// 3. Segments with similar means get the same label, by hierarchical clustering with average linkage. Neighbours with the same label are
///    joined.
/// 4. Segments without the bass and drums of the others have a role.
///
/// The constants were chosen on rendered music: Tests/Accuracy/structure.py.
struct SegmentFirstPass {
    /// Frames that are stored, 172 bytes each. A file of more than 54 minutes has frames of twice the length, and so on.
    private static let capacity = 32_768
    /// Stored frames per frame of the division, where no more than `divisionCapacity` result.
    private static let group = 5
    private static let divisionCapacity = 2048
    /// The distance by which a boundary is moved at most, and the audio on either side that it is compared with, in seconds.
    private static let reach = 2.0
    private static let context = 8.0
    /// Seconds at either end of a segment that do not count for its label and its role.
    private static let margin = 1.0
    /// The mean squared distance of two clusters of segments with one label, at most; that of a frame from the mean of the file is 1.
    private static let labelDistance: Float = 0.2
    /// The share of the chroma in the squared distance of two frames, for boundaries, and for recurrence and labels.
    private static let boundaryChroma: Float = 0.3
    private static let labelChroma: Float = 0.5
    /// The share of the recurrence in that for boundaries.
    private static let recurrenceShare: Float = 0.15

    private var frames: [SegmentFrame] = []
    private var times: [Double] = []
    private var novelties: [Float] = []
    /// Added frames per stored frame, and those of the stored frame that is not complete.
    private var step = 1
    private var pending = (frame: SegmentFrame(), time: 0.0, novelty: Float(0), count: 0)
    /// The end of the stream, in seconds.
    var end = 0.0

    /// Adds a frame with its middle in seconds, and the novelty so far.
    mutating func add(_ frame: SegmentFrame, at time: Double, novelty: Float) {
        let share = 1 / Float(step)
        pending.frame.add(frame, weight: share)
        pending.time += time / Double(step)
        pending.novelty += novelty * share
        pending.count += 1
        guard pending.count == step else { return }
        frames.append(pending.frame)
        times.append(pending.time)
        novelties.append(pending.novelty)
        pending = (SegmentFrame(), 0, 0, 0)
        if frames.count == Self.capacity { mergePairs() }
    }

    private mutating func mergePairs() {
        let count = frames.count / 2
        for pair in 0..<count {
            var merged = SegmentFrame()
            merged.add(frames[2 * pair], weight: 0.5)
            merged.add(frames[2 * pair + 1], weight: 0.5)
            frames[pair] = merged
            times[pair] = (times[2 * pair] + times[2 * pair + 1]) / 2
            novelties[pair] = (novelties[2 * pair] + novelties[2 * pair + 1]) / 2
        }
        frames.removeLast(frames.count - count)
        times.removeLast(times.count - count)
        novelties.removeLast(novelties.count - count)
        step *= 2
    }

    /// The memory of the stored frames.
    var storedBytes: Int {
        frames.capacity * MemoryLayout<SegmentFrame>.stride + times.capacity * MemoryLayout<Double>.stride
            + novelties.capacity * MemoryLayout<Float>.stride
    }

    /// The novelty of each stored frame, and the time of its middle.
    func noveltyCurve() -> (times: [Double], values: [Float]) { (times, novelties) }

    /// The segments of the file, at least one.
    ///
    /// - Complexity: O(frames), and O(n²) for the n ≤ 2048 frames of the division.
    func segments() -> [EstimatedSegment] {
        let group = max(Self.group, (frames.count + Self.divisionCapacity - 1) / Self.divisionCapacity)
        let groups = groups(group)
        guard !groups.isEmpty else { return [EstimatedSegment(time: 0, duration: end, label: Self.name(0), confidence: 1)] }
        let scale = SegmentScaling(groups)
        let starts = division(groups, scale, frameSeconds: SegmentFeatures.frameSeconds * Double(step * group))
        let fine = frames.map { scale($0, chroma: Self.boundaryChroma) }
        let refined = refine(starts.map { $0 * group }, fine, group: group)
        let labels = labels(refined, frames.map { scale($0, chroma: Self.labelChroma) })
        let firsts = refined.indices.filter { $0 == 0 || labels[$0] != labels[$0 - 1] }
        return segments(firsts.map { refined[$0] }, labels: firsts.map { labels[$0] }, fine)
    }

    /// The segments with these first frames and labels.
    private func segments(_ starts: [Int], labels: [Int], _ fine: [SegmentVector]) -> [EstimatedSegment] {
        let parts = zip(starts, starts.dropFirst() + [frames.count]).map(inside)
        // A file whose frames are longer has many songs.
        let roles = step == 1 ? SegmentRole.roles(of: parts, frames) : parts.map { _ in nil }
        return starts.indices.map { place in
            let (start, stop) = (starts[place], place + 1 < starts.count ? starts[place + 1] : frames.count)
            let time = place == 0 ? 0 : middle(start)
            let next = stop == frames.count ? end : middle(stop)
            let confidence = place == 0 ? 1 : Self.contrast(fine, starts[place - 1]..<start, start..<stop)
            return EstimatedSegment(
                time: time, duration: max(0, next - time), label: Self.name(labels[place]), role: roles[place], confidence: confidence)
        }
    }

    /// The frames of a segment without its ends, which may have the sound of its neighbours.
    private func inside(_ start: Int, _ stop: Int) -> Range<Int> {
        let margin = Int(Self.margin / (SegmentFeatures.frameSeconds * Double(step)))
        return stop - start > 4 * margin ? start + margin..<stop - margin : start..<stop
    }

    /// The time between a frame and the one before it.
    private func middle(_ frame: Int) -> Double { (times[frame - 1] + times[frame]) / 2 }

    /// The squared distance of the means of two segments, as a share of it plus the variance of the first.
    private static func contrast(_ frames: [SegmentVector], _ one: Range<Int>, _ other: Range<Int>) -> Double {
        let (before, after) = (SegmentMath.mean(frames, one), SegmentMath.mean(frames, other))
        var variance: Float = 0
        for frame in one { variance += SegmentMath.distance(frames[frame], before) }
        let distance = SegmentMath.distance(before, after)
        return Double(distance / (distance + variance / Float(one.count) + 1e-6))
    }

    /// A … Z, then A1 … Z1 and so on.
    private static func name(_ label: Int) -> String {
        let letter = String(UnicodeScalar(UInt8(65 + label % 26)))
        return label < 26 ? letter : "\(letter)\(label / 26)"
    }
}

// MARK: - Division

extension SegmentFirstPass {
    /// The frames of the division: means of `group` stored frames.
    private func groups(_ group: Int) -> [SegmentFrame] {
        (0..<frames.count / group).map { index in
            var mean = SegmentFrame()
            for frame in index * group..<(index + 1) * group { mean.add(frames[frame], weight: 1 / Float(group)) }
            return mean
        }
    }

    /// The first frames of the segments, in frames of the division.
    private func division(_ frames: [SegmentFrame], _ scale: SegmentScaling, frameSeconds seconds: Double) -> [Int] {
        let recurrence = Recurrence(frames.map { scale($0, chroma: Self.labelChroma) }, frameSeconds: seconds)
        var division = SegmentDivision(count: frames.count, vectors: SegmentFrame.vectorCount + Recurrence.vectorCount)
        let share = (1 - Self.recurrenceShare).squareRoot()
        for (index, frame) in frames.enumerated() {
            let values = scale(frame, chroma: Self.boundaryChroma)
            for vector in 0..<SegmentFrame.vectorCount { division.set(index, vector, values[vector] * share) }
            for vector in 0..<Recurrence.vectorCount {
                division.set(index, SegmentFrame.vectorCount + vector, recurrence[index, vector] * Self.recurrenceShare.squareRoot())
            }
        }
        return division.starts(frameSeconds: seconds)
    }

    /// Moves each boundary to where the frames around it are divided best between the means of the audio before and after it.
    private func refine(_ starts: [Int], _ frames: [SegmentVector], group: Int) -> [Int] {
        let seconds = SegmentFeatures.frameSeconds * Double(step)
        // In long files, whose frames are long, both grow with the frames of the division.
        let reach = max(Int(Self.reach / seconds), group)
        let context = max(Int(Self.context / seconds), 4 * reach)
        var result = starts
        for place in starts.indices.dropFirst() {
            let start = starts[place]
            let stop = place + 1 < starts.count ? starts[place + 1] : frames.count
            let (first, last) = (max(starts[place - 1], start - context), min(stop, start + context))
            let range = max(result[place - 1] + 1, max(first + 1, start - reach))..<min(last - 1, start + reach)
            guard !range.isEmpty else { continue }
            result[place] = SegmentMath.division(
                of: frames, range, between: SegmentMath.mean(frames, first..<start), and: SegmentMath.mean(frames, start..<last))
        }
        return result
    }

    /// A number for each segment; the same one for segments with similar means, in the order of their first segments.
    private func labels(_ starts: [Int], _ frames: [SegmentVector]) -> [Int] {
        let means = zip(starts, starts.dropFirst() + [frames.count]).map { SegmentMath.mean(frames, inside($0, $1)) }
        return AverageLinkage.clusters(of: means.count, within: Self.labelDistance) { SegmentMath.distance(means[$0], means[$1]) }
    }
}

/// Standardizes levels: the mean squared distance from the mean of the file becomes 1, of the bands and of the chroma.
struct SegmentScaling {
    private var mean = SegmentVector(repeating: .zero)
    private var bands: Float = 0
    private var chroma: Float = 0

    init(_ frames: [SegmentFrame]) {
        let levels = frames.map { $0.levels() }
        guard !levels.isEmpty else { return }
        mean = SegmentMath.mean(levels, levels.indices)
        var (bandSquares, chromaSquares): (Float, Float) = (0, 0)
        for level in levels {
            for index in 0..<SegmentFrame.vectorCount {
                let difference = level[index] - mean[index]
                let square = (difference * difference).sum()
                if index < SegmentFrame.bandVectors { bandSquares += square } else { chromaSquares += square }
            }
        }
        // The constant keeps the deviations of steady tones small.
        bands = 1 / (bandSquares / Float(levels.count) + 1e-3).squareRoot()
        chroma = 1 / (chromaSquares / Float(levels.count) + 1e-3).squareRoot()
    }

    /// The standardized levels of a frame, with a share of the chroma in squared distances.
    func callAsFunction(_ frame: SegmentFrame, chroma share: Float) -> SegmentVector {
        var values = frame.levels()
        for index in 0..<SegmentFrame.vectorCount { values[index] -= mean[index] }
        return SegmentMath.weighted(values, bands: bands * (1 - share).squareRoot(), chroma: chroma * share.squareRoot())
    }
}
