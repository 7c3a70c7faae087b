import Foundation

/// What numpy and librosa say about two short inputs: `vectors.json`, made by `make_vectors.py` beside this file.
///
/// The README there defines every number. All values are linear (no dB), computed in double precision and rounded to nine
/// significant digits.
public struct ReferenceVectors: Decodable, Sendable {
    /// The libraries that made the vectors, with their versions.
    public let recipe: [String: String]
    /// The frames of a batch, which is also the hop: 1024.
    public let batchFrames: Int
    /// `input.wav`: 44.1 kHz, 16-bit, one channel.
    public let mono: Input
    /// `input-stereo.wav`: 48 kHz, 32-bit float, two channels.
    public let stereo: Input

    /// The vectors, read once. A test cannot go on without them, so a missing or broken file traps and says why.
    public static let shared: ReferenceVectors = {
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(ReferenceVectors.self, from: Data(contentsOf: folder.appending(path: "vectors.json")))
        } catch {
            fatalError("Tests/References/vectors.json: \(error)")
        }
    }()

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
}

extension ReferenceVectors {
    /// One audio file and what is known about it. Spectral vectors are those of the mean of its channels.
    public struct Input: Decodable, Sendable {
        /// The file's name; `path` is where it lies.
        public let file: String
        public let sampleRate: Int
        public let channels: Int
        /// Sample frames in the file; the last batch is not whole.
        public let frames: Int
        /// Batches in the file, the last one included: the outer count of every vector that has a row for each batch.
        public let batches: Int

        public let levels: Levels
        /// Per batch, in Hz; nil where the window holds only digital silence.
        public let centroidHz: [Double?]
        /// Per batch, in Hz: the lowest bin below and at which lie 85 % of the magnitude; nil in digital silence.
        public let rolloffHz: [Double?]
        /// Per batch, 0 to 1, on unnormalised |X|², each bin at least 1e-10; nil in digital silence.
        public let flatness: [Double?]
        /// Per batch, 13 coefficients.
        public let mfcc: [[Double]]
        /// Per batch; the spectrum before the first batch counts as zero.
        public let flux: [Double]
        /// The first is the default, a Hann window of 2048, for more batches than the others.
        public let magnitudes: [Magnitudes]
        public let power: Power
        /// The four scales at the file's rate, then `log` at half the rate.
        public let bands: [Bands]

        /// The audio file itself.
        public var path: String { folder.appending(path: file).path }
    }

    /// RMS and peak of each batch's real frames, linear: 1 is full scale.
    public struct Levels: Decodable, Sendable {
        /// Per batch, of the mean of the channels.
        public let rms: [Double]
        /// Per batch, of the mean of the channels.
        public let peak: [Double]
        /// Per batch and channel.
        public let channelRms: [[Double]]
        /// Per batch and channel.
        public let channelPeak: [[Double]]
    }

    /// Linear magnitudes, amplitude-correct for the window: a sine of amplitude A in the middle of a bin reads A.
    public struct Magnitudes: Decodable, Sendable {
        /// `hann`, `hamming`, `blackman-harris` or `rectangular`; periodic.
        public let window: String
        /// The window's length in frames.
        public let size: Int
        /// Which batches the rows of `values` belong to.
        public let batches: [Int]
        /// Per chosen batch, `size / 2 + 1` bins.
        public let values: [[Double]]
    }

    /// The single-sided power spectrum with a Hann window of 2048; it sums to a stationary signal's mean square.
    public struct Power: Decodable, Sendable {
        /// Which batches the rows of `values` belong to.
        public let batches: [Int]
        /// Per chosen batch, 1025 bins.
        public let values: [[Double]]
    }

    /// The power spectrum in 64 bands.
    public struct Bands: Decodable, Sendable {
        /// `log`, `linear`, `mel-slaney` or `mel-htk`.
        public let scale: String
        /// The rate at which the file's samples are read: its own, or half of it.
        public let sampleRate: Int
        /// 65 edges, or the 66 of 64 overlapping triangles.
        public let edgesHz: [Double]
        /// Per batch and band, linear; in dB, max(-120, 10·log10(power)).
        public let power: [[Double]]
    }
}
