import Foundation

/// What librosa, mir_eval, Essentia and scipy say about tones, chords, keys and pitches: `tonal.json`, made by `make_tonal_vectors.py`
/// beside this file. The README there defines every number.
public struct TonalVectors: Decodable, Sendable {
    /// The libraries that made the vectors, with their versions.
    public let recipe: [String: String]
    public let constantQ: ConstantQ
    /// Chords, each with librosa's chroma and tuning.
    public let chroma: [Chroma]
    public let keys: Keys
    public let chords: Chords
    public let pitch: Pitch

    /// The vectors, read once. A test cannot go on without them, so a missing or broken file traps and says why.
    public static let shared: TonalVectors = {
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "tonal.json")
            return try decoder.decode(TonalVectors.self, from: Data(contentsOf: file))
        } catch {
            fatalError("Tests/References/tonal.json: \(error)")
        }
    }()
}

extension TonalVectors {
    /// A sum of sines and the levels of 84 bins from C1 on.
    public struct ConstantQ: Decodable, Sendable {
        /// Pairs of hertz and amplitude.
        public let partials: [[Double]]
        public let levelsDb: [Double]
    }

    /// A sum of sines and its chroma.
    public struct Chroma: Decodable, Sendable {
        /// Pairs of hertz and amplitude.
        public let partials: [[Double]]
        /// 12 values from C on.
        public let values: [Double]
        public let tuningCents: Double
    }

    /// Correlations of mean chromas with the profiles of keys.
    public struct Keys: Decodable, Sendable {
        public struct Case: Decodable, Sendable {
            /// `krumhansl`, `temperley`, `edma` or `general`.
            public let profile: String
            /// The time constant; nil: all frames count alike.
            public let windowS: Double?
            /// Pairs of a chroma's index and a number of frames, in the order of time.
            public let runs: [[Int]]
            /// 12 major keys from C on, 12 minor keys from C on.
            public let correlations: [Double]
        }

        public let frameS: Double
        public let chroma: [[Double]]
        public let cases: [Case]
    }

    /// A sequence of frames and its chords. States are 12 · quality + root (qualities: maj, min, 7, min7, maj7); 60 is no chord.
    public struct Chords: Decodable, Sendable {
        public struct Agreement: Decodable, Sendable {
            public let frame: Int
            /// Of each state.
            public let values: [Double]
        }

        public let frameS: Double
        /// The mean duration of a chord.
        public let meanS: Double
        public let delayFrames: Int
        /// 12 values from C on, for each frame; 0 in silence.
        public let chroma: [[Double]]
        public let bass: [[Double]]
        /// The autocorrelation of the chroma at a lag of 0.2 s, at each frame.
        public let persistence: [Double]
        /// That of some of the frames.
        public let agreement: [Agreement]
        /// The most probable path: the state of each frame.
        public let path: [Int]
        /// The state of each frame but the last `delayFrames`, on the most probable path that ends `delayFrames` after it.
        public let delayedPath: [Int]
    }

    /// Signals with a known pitch.
    public struct Pitch: Decodable, Sendable {
        /// A melody of tones with harmonics, 0 between its parts.
        public struct Melody: Decodable, Sendable {
            public struct Part: Decodable, Sendable {
                public let startS: Double
                public let seconds: Double
                public let hz: Double
                public let centsPerS: Double
                public let vibratoCents: Double
                /// Those of the harmonics.
                public let amplitudes: [Double]
            }

            public let seconds: Double
            public let vibratoHz: Double
            public let parts: [Part]
            public let timesS: [Double]
            /// The frequency at each of `timesS`; nil: none.
            public let exactHz: [Double?]
            /// That of librosa's `pyin`.
            public let pyinHz: [Double?]
        }

        /// A frame of 1024 samples at 11 025 Hz.
        public struct Frame: Decodable, Sendable {
            /// Pairs of hertz and amplitude.
            public let partials: [[Double]]
            /// Pairs of a period in seconds and a probability, in ascending order of the periods.
            public let candidates: [[Double]]
        }

        public let lowestHz: Double
        public let highestHz: Double
        public let melody: Melody
        public let frames: [Frame]
    }
}
