internal import Hemiola

extension PCMHeader {
    /// Reads the header of a stream, and leaves the stream at the first sample. Blocks until the header is complete.
    init(reading stream: ByteStream) throws(Problem) {
        switch try PCMHeader.read(stream, from: stream.consumed, size: stream.size, isStream: true) {
        case .header(let header):
            guard try stream.skip(to: header.offset) else { throw Self.incomplete(header.container, stream.name) }
            self = header
        case .otherFormat:
            throw stream.count == 0 ? UnsupportedFormat.empty(stream.name) : UnsupportedFormat.error(for: stream)
        case .incomplete(let container):
            throw Self.incomplete(container, stream.name)
        case .dataFirst(let container):
            throw Problem(
                "\(stream.name): this \(container.rawValue) stream has its data before its format; convert it with ffmpeg")
        case .damaged(let container):
            throw Problem(
                "\(stream.name): this \(container.rawValue) stream has a damaged header; check the program that writes it")
        }
    }

    private static func incomplete(_ container: Container, _ name: String) -> Problem {
        Problem(
            "\(name): this \(container.rawValue) stream ends within its header, before any samples; "
                + "check whether the program before the pipe failed")
    }

    /// The format of the samples of a stream.
    func supportedFormat(of input: ByteStream) throws(Problem) -> PCMFormat {
        guard let format else {
            guard case .other(let name, _) = encoding else { preconditionFailure("samples without a format") }
            throw UnsupportedFormat.error(for: input, because: "this \(container.rawValue) stream holds \(name)")
        }
        let (sampleRate, channelCount) = (stream.sampleRate, stream.channelCount)
        guard channelCount > 0, sampleRate > 0 else {
            throw Problem(
                "\(input.name): this \(container.rawValue) stream declares \(channelCount) channels at \(sampleRate) Hz; "
                    + "check the program that writes it")
        }
        guard stream.isSupported else {
            let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
            throw Problem(
                "\(input.name): \(sampleRate) Hz and \(channelCount) channels are outside \(rates.lowerBound)...\(rates.upperBound) Hz "
                    + "and \(counts.lowerBound)...\(counts.upperBound) channels; \(input.advice.conversion)")
        }
        return format
    }
}
