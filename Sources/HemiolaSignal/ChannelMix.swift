/// How the channels of a format make two channels, left and right, and one, mono.
///
/// - One channel: left, right and mono are that channel.
/// - Two: left and right as they are, mono = (left + right) / 2.
/// - More, with a known ``ChannelMap``: the stereo downmix of ITU-R BS.775, not normalised, so that it may exceed ±1; mono =
///   (left + right) / 2 of it. Stereo that plays on a 5.1 output has the level that it has on a stereo one.
/// - More, without: the mean of all channels is left, right and mono.
public struct ChannelMix: Sendable, Hashable {
    /// Samples per frame.
    public let channelCount: Int
    /// Each channel's factor in left.
    public let left: [Float]
    /// Each channel's factor in right.
    public let right: [Float]
    /// Each channel's factor in mono.
    public let mono: [Float]
    /// Whether mono is the plain mean of the channels.
    let isMean: Bool

    /// The mix of that format. O(channels), allocates.
    public init(_ format: StreamFormat) {
        channelCount = format.channelCount
        let shares: [(left: Float, right: Float)]
        switch (format.channelCount, format.channelMap) {
        case (2, _):
            shares = [(1, 0), (0, 1)]
            isMean = true
        case (3..., let map?):
            shares = map.positions.map(\.downmix)
            isMean = false
        default:
            let share = 1 / Float(max(1, format.channelCount))
            shares = Array(repeating: (share, share), count: format.channelCount)
            isMean = true
        }
        left = shares.map(\.left)
        right = shares.map(\.right)
        mono = shares.map { ($0.left + $0.right) / 2 }
    }
}
