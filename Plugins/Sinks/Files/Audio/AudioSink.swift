public import Hemiola
internal import HemiolaFiles
internal import HemiolaPCM

extension SinkPlugin {
    /// Records the analysed audio in a sound file, sample by sample.
    public static let audio = SinkPlugin(
        PluginDescription(
            "audio", "The analysed audio itself, as FLAC or WAV: frame 0 of the file is frame 0 of the stream.", primary: "path",
            uses: .init(libraries: [.sndfile])),
        settings: AudioSettings.self,
        needs: { settings in
            Needs(
                samples: true,
                outputs: [Output(settings.path ?? "", takesSeveralInputs: false, replacesFile: settings.rotation == nil)])
        },
        make: { settings throws(Problem) in
            guard let text = settings.path, !text.isEmpty else {
                throw Problem("no file is given; write audio:PATH.flac or audio:PATH.wav", at: "path")
            }
            guard OutputTarget(text).descriptor == nil else {
                throw Problem("a sound file cannot be written to a pipe; give a path", at: "path")
            }
            let options = FileOptions(.sound, capacity: .stream, compression: .none, rotation: settings.rotation)
            let template = try options.template(text, at: "path")
            let ending = PathTemplate.ending(of: text).lowercased()
            guard [".flac", ".wav"].contains(ending) else {
                throw Problem("unsupported extension \(ending); use .flac or .wav", at: "path")
            }
            let isFLAC = ending == ".flac"
            guard !isFLAC || settings.encoding != .float else {
                throw Problem("FLAC has no floating-point samples; use 24 bits, or a path that ends in .wav", at: "bits")
            }
            let encoding = settings.encoding == .auto ? isFLAC ? .bits24 : .float : settings.encoding
            return DocumentFile(template, options) { files, context in
                AudioDocument(files[0], warn: context.messages.warn) { file, format throws(Problem) in
                    try SoundFileEncoder(file, format, encoding, isFLAC: isFLAC)
                }
            }
        })
}

struct AudioSettings: PluginSettings {
    var path: String?
    var encoding: SampleEncoding
    /// Stream time per file, in seconds.
    var rotation: Double?

    init(_ read: inout SettingReader) {
        path = read.text("path", example: "take.flac", "Output file, .flac or .wav. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
        encoding = read.choice("bits", default: SampleEncoding.auto, "Bits per sample, or float; auto: 24 in .flac, float in .wav.")
        rotation = FileOptions.rotation(&read)
    }
}

/// The value of the setting `bits`.
enum SampleEncoding: String, CaseIterable {
    case auto
    case bits16 = "16"
    case bits24 = "24"
    case float

    /// The bits of integers.
    var bits: Int { self == .bits16 ? 16 : 24 }
}

/// Encodes samples into one sound file. Used on the sink's thread only.
protocol AudioEncoder: AnyObject {
    /// Samples that were limited to full scale.
    var clippedSamples: Int64 { get }
    /// Frames that are in the file, without those that the encoder holds until ``complete()``.
    var writtenFrames: Int64 { get }

    /// Writes whole frames of interleaved samples.
    ///
    /// - Throws: A write failed. The file ends before it, and only `complete` may follow.
    func write(_ samples: Span<Float>) throws(Problem)
    /// Writes what is pending, and the final header. The file is valid then, with all complete frames. After an error of `write`, the header
    /// states the frames that are in the file.
    func complete() throws(Problem)
}

/// Converts samples to integers: full scale, 1.0, is 2^(bits − 1). Samples of integer files with as many bits or fewer are converted
/// without loss. No dither.
struct Quantizer {
    let bits: Int
    /// Samples that were limited to the range of the integers. A sample of 1.0, one step above the range, does not count.
    private(set) var clippedSamples: Int64 = 0
    private(set) var values: [Int32] = []

    init(bits: Int) {
        self.bits = bits
    }

    /// Converts samples; the result is in `values` until the next call.
    ///
    /// - Parameter shift: Bits by which each value is shifted to the left.
    mutating func convert(_ samples: Span<Float>, shift: Int32 = 0) {
        if values.count != samples.count { values = Array(repeating: 0, count: samples.count) }
        let scale = Float(1 << (bits - 1))
        var clipped: Int64 = 0
        var span = values.mutableSpan
        for index in samples.indices {
            let value = (samples[index] * scale).rounded(.toNearestOrEven)
            if value > scale || value < -scale { clipped += 1 }
            span[index] = Int32(clamping: min(max(value, -scale), scale - 1)) << shift
        }
        clippedSamples += clipped
    }
}
