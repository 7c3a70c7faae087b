internal import HemiolaSignal

extension ChannelMap {
    /// The map of libpulse's channel positions (`pa_channel_position_t`); nil where one of them is no loudspeaker (`aux0` …) or
    /// occurs twice.
    init?(pulse positions: [Int32]) {
        let known = positions.compactMap { Self.pulsePositions[$0] }
        guard known.count == positions.count else { return nil }
        self.init(known)
    }

    /// PA_CHANNEL_POSITION_…
    private static let pulsePositions: [Int32: ChannelPosition] = [
        1: .frontLeft, 2: .frontRight, 3: .frontCenter, 4: .backCenter, 5: .backLeft, 6: .backRight, 7: .lowFrequency,
        8: .frontLeftOfCenter, 9: .frontRightOfCenter, 10: .sideLeft, 11: .sideRight, 44: .topCenter, 45: .topFrontLeft,
        46: .topFrontRight, 47: .topFrontCenter, 48: .topBackLeft, 49: .topBackRight, 50: .topBackCenter,
    ]
}
