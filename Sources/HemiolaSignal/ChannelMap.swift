/// The loudspeaker that a channel belongs to.
public enum ChannelPosition: UInt8, Sendable, Hashable, CaseIterable {
    // In the order of the bits of WAVE_FORMAT_EXTENSIBLE's channel mask.
    /// Front left, `FL`.
    case frontLeft = 1
    /// Front right, `FR`.
    case frontRight
    /// Front centre, `FC`.
    case frontCenter
    /// Low-frequency effects, the subwoofer, `LFE`.
    case lowFrequency
    /// Back left, `BL`.
    case backLeft
    /// Back right, `BR`.
    case backRight
    /// Between front left and centre, `FLC`.
    case frontLeftOfCenter
    /// Between front right and centre, `FRC`.
    case frontRightOfCenter
    /// Back centre, `BC`.
    case backCenter
    /// Side left, `SL`.
    case sideLeft
    /// Side right, `SR`.
    case sideRight
    /// Above the listener, `TC`.
    case topCenter
    /// Above front left, `TFL`.
    case topFrontLeft
    /// Above front centre, `TFC`.
    case topFrontCenter
    /// Above front right, `TFR`.
    case topFrontRight
    /// Above back left, `TBL`.
    case topBackLeft
    /// Above back centre, `TBC`.
    case topBackCenter
    /// Above back right, `TBR`.
    case topBackRight

    /// The abbreviation that ffmpeg and others use: `FL`, `LFE` …
    public var name: String {
        switch self {
        case .frontLeft: "FL"
        case .frontRight: "FR"
        case .frontCenter: "FC"
        case .lowFrequency: "LFE"
        case .backLeft: "BL"
        case .backRight: "BR"
        case .frontLeftOfCenter: "FLC"
        case .frontRightOfCenter: "FRC"
        case .backCenter: "BC"
        case .sideLeft: "SL"
        case .sideRight: "SR"
        case .topCenter: "TC"
        case .topFrontLeft: "TFL"
        case .topFrontCenter: "TFC"
        case .topFrontRight: "TFR"
        case .topBackLeft: "TBL"
        case .topBackCenter: "TBC"
        case .topBackRight: "TBR"
        }
    }

    /// Its shares of the left and right channel of a stereo downmix, as ITU-R BS.775 (annex 4) has them: front 1, centre and
    /// surrounds −3 dB, a single surround −6 dB on both sides, no LFE. Positions that BS.775 does not name follow the same rule:
    /// between front and centre as front, above as surrounds.
    var downmix: (left: Float, right: Float) {
        let minus3: Float = 0.707_106_77
        return switch self {
        case .frontLeft, .frontLeftOfCenter: (1, 0)
        case .frontRight, .frontRightOfCenter: (0, 1)
        case .frontCenter: (minus3, minus3)
        case .lowFrequency: (0, 0)
        case .backLeft, .sideLeft, .topFrontLeft, .topBackLeft: (minus3, 0)
        case .backRight, .sideRight, .topFrontRight, .topBackRight: (0, minus3)
        case .backCenter, .topCenter, .topFrontCenter, .topBackCenter: (0.5, 0.5)
        }
    }
}

/// Which channel belongs to which loudspeaker: 1…16 channels, no position twice.
///
/// Sixteen bytes without a reference, so that a format can be copied on the hot path.
public struct ChannelMap: Sendable, Hashable {
    /// The most channels that a map can have.
    public static let capacity = 16

    // A position's number in each byte, the first channel in the lowest; 0 behind the last.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The map of channels in this order; nil for none, for more than ``capacity``, and when a position occurs twice.
    public init?(_ positions: [ChannelPosition]) {
        guard (1...Self.capacity).contains(positions.count), Set(positions).count == positions.count else { return nil }
        for (index, position) in positions.enumerated() {
            let bits = UInt64(position.rawValue) << UInt64(8 * (index & 7))
            if index < 8 { low |= bits } else { high |= bits }
        }
    }

    /// The map that the channel mask of WAVE_FORMAT_EXTENSIBLE states: channels are in the order of its bits.
    ///
    /// nil when it names fewer loudspeakers than there are channels. Bits beyond the channels are ignored, as Microsoft has it.
    public init?(waveMask mask: UInt32, channelCount: Int) {
        let positions = ChannelPosition.allCases.filter { mask >> UInt32($0.rawValue - 1) & 1 == 1 }
        guard positions.count >= channelCount else { return nil }
        self.init(Array(positions.prefix(channelCount)))
    }

    /// How many channels it is for.
    public var count: Int { (0..<Self.capacity).first { byte($0) == 0 } ?? Self.capacity }

    /// In the order of the channels.
    public var positions: [ChannelPosition] { (0..<count).compactMap { ChannelPosition(rawValue: byte($0)) } }

    /// The abbreviations in the order of the channels: `FL`, `FR`, `FC` …
    public var names: [String] { positions.map(\.name) }

    private func byte(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index < 8 ? low : high) >> UInt64(8 * (index & 7)))
    }
}
