internal import Glibc
internal import HemiolaSignal

/// What a segment is in its song, where the sound shows it: a segment without the bass and the drums that the rest has.
///
/// The limits were chosen on 75 tracker modules, by their spectrograms.
enum SegmentRole: String, CaseIterable, Sendable {
    /// The song begins so.
    case intro
    /// It is between parts with bass and drums.
    case `break`
    /// The song ends so.
    case outro

    /// The decibels of bass that are missing at least, and those that a part with bass has less than most of the song at most.
    private static let missingBass: Float = 12
    private static let sparedBass: Float = 6
    /// The strokes of a segment without drums, as a share of those of most of the song, at most.
    private static let missingStrokes: Float = 0.5
    /// The strokes of most of the song, at least: others have no drums that could be missing.
    private static let leastStrokes: Float = 1.5
    /// The decibels by which a segment is fainter than most of the song, at most, bass aside: silence has no role.
    private static let faintness: Float = 20

    /// The roles of all segments of a song; nil: the sound does not show one.
    ///
    /// - Parameters:
    ///   - segments: The frames of each, in order.
    ///   - frames: Those of the song, of 0.1 s.
    static func roles(of segments: [Range<Int>], _ frames: [SegmentFrame]) -> [SegmentRole?] {
        let sounds = segments.map { SegmentSound(frames, $0) }
        var roles = sounds.map { _ in SegmentRole?.none }
        let (bass, rest, strokes) = (sounds.median(\.bass), sounds.median(\.rest), sounds.median(\.strokes))
        guard strokes >= leastStrokes else { return roles }
        let isBare = sounds.map { $0.bass <= bass - missingBass && $0.strokes <= missingStrokes * strokes }
        let isFull = sounds.map { $0.bass >= bass - sparedBass && $0.strokes > missingStrokes * strokes }
        var first = 0
        while let start = isBare[first...].firstIndex(of: true) {
            let end = isBare[start...].firstIndex(of: false) ?? isBare.endIndex
            if start == 0 || isFull[start - 1], end == isBare.endIndex || isFull[end] {
                for place in start..<end where sounds[place].rest >= rest - faintness {
                    roles[place] = start == 0 ? .intro : end == isBare.endIndex ? .outro : .break
                }
            }
            first = end
        }
        return roles
    }
}

/// What tells bass and drums in a segment.
private struct SegmentSound {
    /// The lowest bands, up to about 230 Hz.
    private static let bassBands = 2

    var frameCount: Int
    /// The mean power of the bass and of the other bands, in decibels.
    var bass: Float
    var rest: Float
    /// By how much the level of the bass rises from frame to frame, in decibels: the mean, where a fall counts as 0. It rises with each
    /// stroke of a kick, and not while a bass note is held.
    var strokes: Float

    init(_ frames: [SegmentFrame], _ segment: Range<Int>) {
        frameCount = segment.count
        var (bassPower, restPower, rises): (Float, Float, Float) = (0, 0, 0)
        var last: Lanes?
        for frame in segment {
            let values = frames[frame].values
            var all: Float = 0
            for vector in 0..<SegmentFrame.bandVectors { all += values[vector].sum() }
            var bass: Float = 0
            let levels = frames[frame].levels()[0]
            for band in 0..<Self.bassBands {
                bass += values[0][band]
                if let last { rises += max(0, levels[band] - last[band]) }
            }
            bassPower += bass
            restPower += all - bass
            last = levels
        }
        let count = Float(max(1, segment.count))
        (bass, rest) = (10 * log10(bassPower / count + 1e-6), 10 * log10(restPower / count + 1e-6))
        strokes = 10 * rises / (count * Float(Self.bassBands))
    }
}

extension [SegmentSound] {
    /// A value that segments with half of the frames do not exceed; 0: there are none.
    fileprivate func median(_ value: KeyPath<SegmentSound, Float>) -> Float {
        var frames = 0
        let half = reduce(0) { $0 + $1.frameCount } / 2
        return sorted { $0[keyPath: value] < $1[keyPath: value] }.first { sound in
            frames += sound.frameCount
            return frames >= half
        }?[keyPath: value] ?? 0
    }
}
