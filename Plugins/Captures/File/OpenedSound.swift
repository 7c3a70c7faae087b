internal import Hemiola
internal import HemiolaPCM

/// The decoder that a file gets, with what it needs.
enum DecoderChoice {
    case pcm(PCMHeader)
    case flac(Range<Int64>, isOgg: Bool)
    case mpeg(Range<Int64>)
    case ogg(Range<Int64>)
    case sndFile(Range<Int64>, PCMHeader?)
    /// What ffmpeg has decoded.
    case output(FFmpegDecoder.Output)

    /// Makes a decoder for one pass.
    func makeDecoder(_ file: InputFile) throws(Problem) -> any Decoder {
        switch self {
        case .pcm(let header): try PCMDecoder(file, header)
        case .flac(let range, let isOgg): try FLACDecoder(file, range, isOgg: isOgg)
        case .mpeg(let range): try MPEGDecoder(file, range)
        case .ogg(let range): try OggDecoder(file, range)
        case .sndFile(let range, let header): try SndFileDecoder(file, range, header)
        case .output(let output): try FFmpegOutputDecoder(output)
        }
    }

    /// Whether there is a frame that can be decoded. Of uncompressed samples, the size tells it.
    fileprivate func deliversSound(_ file: InputFile) throws(Problem) -> Bool {
        if case .pcm = self { return true }
        let decoder = try makeDecoder(file)
        var buffer = [Float](repeating: 0, count: StreamFormat.channelCounts.upperBound)
        while true {
            var samples = buffer.mutableSpan
            switch try decoder.read(into: &samples) {
            case .frames: return true
            case .end: return false
            default: break
            }
        }
    }
}

/// The sound of an open file: what it is, and how to decode it.
struct OpenedSound {
    private let file: InputFile
    private let choice: DecoderChoice
    let format: StreamFormat
    let tags: SoundTags
    /// The number of frames that can be read; nil: only decoding shows it.
    let presentFrames: Int64?

    private init(_ file: InputFile, _ choice: DecoderChoice, _ decoder: any Decoder, _ tags: SoundTags) {
        (self.file, self.choice) = (file, choice)
        (format, presentFrames) = (decoder.format, decoder.presentFrames)
        var all = decoder.tags
        all.fill(from: tags)
        self.tags = all
    }

    /// The track that is read, of a file with several.
    var audioTrack: StreamSource.AudioTrack? {
        if case .output(let output) = choice { output.audioTrack } else { nil }
    }

    /// Makes the decoder of another pass.
    func makeDecoder() throws(Problem) -> any Decoder { try choice.makeDecoder(file) }

    /// Opens a file with the decoder of its type, or with ffmpeg where that one refuses it.
    ///
    /// - Parameters:
    ///   - path: The name of the file in messages.
    ///   - ffmpeg: nil: ffmpeg is not used.
    /// - Returns: The sound, and the decoder of the first pass.
    static func open(
        _ file: InputFile, _ path: String, _ ffmpeg: FFmpegDecoder?, _ request: FormatRequest
    ) throws(Problem) -> (sound: OpenedSound, decoder: any Decoder) {
        let content = SoundContent(of: file, named: path)
        if let library = content.missingLibrary { request.warn(FileError.lessChecked(path, without: library)) }
        var reason = content.refusal
        /// What is wrong if ffmpeg does not decode it either.
        var refusal: Problem?
        // Only ffmpeg reads another track than the first one.
        if let choice = content.choice, ffmpeg?.track ?? 1 == 1 {
            do throws(Problem) {
                let decoder = try choice.makeDecoder(file)
                refusal = FileError.outOfRange(path, decoder.format)
                // ffmpeg converts a rate, but not the number of channels. A rate of a few hertz is false.
                let isConvertible =
                    decoder.format.sampleRate >= FFmpegDecoder.leastRate && StreamFormat.channelCounts.contains(decoder.format.channelCount)
                if let refusal, ffmpeg == nil || !isConvertible { throw refusal }
                if refusal == nil {
                    if try choice.deliversSound(file) { return (OpenedSound(file, choice, decoder, content.tags), decoder) }
                    refusal = FileError.nothingDecoded(path)
                }
            } catch {
                if let refusal { throw refusal }
                reason = error.message
            }
        }
        if let refusal, ffmpeg == nil { throw refusal }
        let undecoded = UndecodedFile(path: path, signature: content.signature, reason: reason)
        guard let ffmpeg, content.signature.mayBeSound else { throw undecoded.withoutFFmpeg }
        let output: FFmpegDecoder.Output
        do { output = try ffmpeg.decode(file, undecoded, isCancelled: request.isCancelled) } catch {
            // A cancelled run says nothing about the file.
            throw error.remedy == .finish ? error : refusal ?? error
        }
        let decoder: any Decoder
        do { decoder = try FFmpegOutputDecoder(output) } catch {
            throw undecoded.notDecoded(error.message)
        }
        if let error = FileError.outOfRange(path, decoder.format) { throw error }
        if let track = output.audioTrack, ffmpeg.track == nil { request.warn(FileError.defaultTrack(path, track)) }
        return (OpenedSound(file, .output(output), decoder, content.tags), decoder)
    }
}
