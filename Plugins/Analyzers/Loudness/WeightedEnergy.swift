internal import CEBUR128
internal import Hemiola

extension SharedLibrary {
    static let ebur128 = SharedLibrary(
        "libebur128", soname: "libebur128.so.1", package: "libebur128-1", licence: "MIT", relation: .recommends,
        use: "the analyzer loudness", versionSymbol: .numbersFunction("ebur128_get_version"))
}

/// The energy of a stream after the K-weighting of ITU-R BS.1770, through libebur128.
struct WeightedEnergy: ~Copyable {
    // Unsafe: libebur128's state; this value owns it.
    private var state: UnsafeMutablePointer<ebur128_state>?
    private let channelCount: Int

    /// Loads libebur128. Returns nil, or why it cannot be loaded.
    static func load() -> String? {
        cebur128_load().map { "\(String(cString: $0)); \(SharedLibrary.ebur128.remedy)" }
    }

    /// Requires a successful ``load()``.
    ///
    /// - Parameter isDualMono: Whether the channel of a mono stream counts twice.
    init(_ format: StreamFormat, isDualMono: Bool) throws(Problem) {
        channelCount = format.channelCount
        state = ebur128_init(UInt32(format.channelCount), UInt(format.sampleRate), Int32(EBUR128_MODE_M.rawValue))
        guard let state else {
            throw Problem(
                "libebur128 cannot process \(format.channelCount) channels at \(format.sampleRate) Hz; leave out the analyzer loudness")
        }
        for (channel, weight) in ChannelWeight.weights(of: format, isDualMono: isDualMono).enumerated() {
            guard ebur128_set_channel(state, UInt32(channel), Int32(weight.position.rawValue)) == Int32(EBUR128_SUCCESS.rawValue) else {
                throw Problem("libebur128 rejects the position of channel \(channel); leave out the analyzer loudness")
            }
        }
    }

    deinit {
        var state = state
        ebur128_destroy(&state)
    }

    /// Filters `count` frames of interleaved samples, from frame `start` on. No allocation.
    mutating func add(_ samples: Span<Float>, from start: Int, count: Int) {
        samples.withUnsafeBufferPointer { buffer in
            precondition(start >= 0 && count >= 0 && (start + count) * channelCount <= buffer.count, "frames outside the samples")
            guard let samples = buffer.baseAddress else { return }
            _ = ebur128_add_frames_float(state, samples + start * channelCount, count)
        }
    }

    /// The sum over the channels of weight times mean square, of the last 10 ms: ⌊sample rate / 100⌋ frames. 0 in silence.
    func last10Milliseconds() -> Double {
        var loudness = -Double.infinity
        _ = ebur128_loudness_window(state, 10, &loudness)
        return Loudness.energy(loudness)
    }
}

/// The weight of a channel in the sum of energies, by ITU-R BS.1770-4, table 4.
enum ChannelWeight: Equatable {
    /// 1: front, rear centre, back beside side channels, above, and positions that are not known.
    case one
    /// 1.41, +1.5 dB: azimuth 60° to 120° without elevation.
    case surround
    /// 2: the channel of a mono stream that two loudspeakers play.
    case dualMono
    /// 0: low-frequency effects.
    case excluded

    /// The weight of each channel. Channels without known positions count alike.
    static func weights(of format: StreamFormat, isDualMono: Bool) -> [ChannelWeight] {
        if isDualMono, format.channelCount == 1 { return [.dualMono] }
        guard let positions = format.channelMap?.positions else { return Array(repeating: .one, count: format.channelCount) }
        let hasSides = positions.contains(.sideLeft) || positions.contains(.sideRight)
        return positions.map { position in
            switch position {
            case .lowFrequency: .excluded
            case .sideLeft, .sideRight: .surround
            // The only surrounds of a layout are those at ±110°, whether it calls them side or back; behind sides they are at ±135°.
            case .backLeft, .backRight: hasSides ? .one : .surround
            default: .one
            }
        }
    }

    /// A position of libebur128 with this weight.
    fileprivate var position: channel {
        switch self {
        case .one: EBUR128_LEFT
        case .surround: EBUR128_LEFT_SURROUND
        case .dualMono: EBUR128_DUAL_MONO
        case .excluded: EBUR128_UNUSED
        }
    }
}
