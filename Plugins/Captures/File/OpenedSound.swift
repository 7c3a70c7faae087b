internal import Hemiola
internal import HemiolaPCM
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

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
        let content = SoundContent(of: file)
        if let library = content.missingLibrary { request.warn(FileError.lessChecked(path, without: library)) }
        var reason = content.refusal
        var unsupported: StreamFormat?
        if let choice = content.choice {
            do throws(Problem) {
                let decoder = try choice.makeDecoder(file)
                if decoder.format.isSupported { return (OpenedSound(file, choice, decoder, content.tags), decoder) }
                unsupported = decoder.format
            } catch {
                reason = error.message
            }
        }
        // ffmpeg converts a rate, but neither a rate of 0 nor the number of channels.
        let refusal = unsupported.flatMap { FileError.outOfRange(path, $0) }
        if let refusal, let format = unsupported,
            ffmpeg == nil || format.sampleRate == 0 || !StreamFormat.channelCounts.contains(format.channelCount)
        {
            throw refusal
        }
        let undecoded = UndecodedFile(path: path, signature: content.signature, reason: reason)
        guard let ffmpeg, content.signature.mayBeSound else { throw undecoded.withoutFFmpeg }
        let output: FFmpegDecoder.Output
        do throws(Problem) { output = try ffmpeg.decode(file, undecoded, isCancelled: request.isCancelled) } catch {
            // A cancelled run says nothing about the file.
            throw error.remedy == .finish ? error : refusal ?? error
        }
        let decoder: any Decoder
        do throws(Problem) { decoder = try FFmpegOutputDecoder(output) } catch {
            throw undecoded.notDecoded(error.message)
        }
        if let error = FileError.outOfRange(path, decoder.format) { throw error }
        return (OpenedSound(file, .output(output), decoder, content.tags), decoder)
    }
}
