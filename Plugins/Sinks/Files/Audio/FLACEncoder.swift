internal import CSndFile
internal import Hemiola
internal import HemiolaFiles

/// Writes a FLAC file through libsndfile, whose output goes to a ``OutputFile``.
final class FLACEncoder: AudioEncoder {
    private let output: OutputFile
    /// Frames that were passed to libsndfile.
    private var frameCount: Int64 = 0
    private let format: StreamFormat
    private var quantizer: Quantizer
    // Safe: owned by this object, closed once in `complete` or `deinit`.
    private var handle: OpaquePointer?
    /// Where libsndfile writes next.
    private var position: Int64 = 0
    /// The first failed write.
    private var failure: Problem?
    /// FLAC frames in the file, and samples per channel in each but the last.
    private var blockCount: Int64 = 0
    private var blockSize: Int64 = 0
    /// Byte 21 of the file: its low half is the start of the number of samples.
    private var sharedByte: UInt8 = 0

    init(_ output: OutputFile, _ format: StreamFormat, _ encoding: SampleEncoding) throws(Problem) {
        self.output = output
        self.format = format
        quantizer = Quantizer(bits: encoding.bits)
        var info = SF_INFO()
        info.samplerate = Int32(format.sampleRate)
        info.channels = Int32(format.channelCount)
        info.format = Int32(SF_FORMAT_FLAC | (encoding == .bits16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24))
        var callbacks = Self.callbacks
        if format.channelCount <= 8 {
            // libsndfile copies the callbacks, and calls them with this object until sf_close.
            handle = sf_open_virtual(&callbacks, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(self).toOpaque())
        }
        guard handle != nil else {
            throw Problem("FLAC cannot hold \(format.channelCount) channels at \(format.sampleRate) Hz; write a path that ends in .wav")
        }
    }

    deinit {
        if let handle { sf_close(handle) }
    }

    var clippedSamples: Int64 { quantizer.clippedSamples }
    var writtenFrames: Int64 { min(frameCount, blockCount * blockSize) }

    func write(_ samples: Span<Float>) throws(Problem) {
        // libsndfile takes integers of 32 bits and uses the highest.
        quantizer.convert(samples, shift: Int32(32 - quantizer.bits))
        let count = samples.count / format.channelCount
        let handle = handle
        frameCount += Int64(count)
        let written = quantizer.values.withUnsafeBufferPointer { Int(sf_writef_int(handle, $0.baseAddress, sf_count_t(count))) }
        if let failure { throw failure }
        guard written == count else { throw Problem("libsndfile cannot encode FLAC: \(String(cString: sf_strerror(handle)))") }
    }

    func complete() throws(Problem) {
        guard let handle else { return }
        self.handle = nil
        let hadFailed = failure != nil
        // Without frames, libsndfile has not written the header yet.
        if frameCount == 0 { sf_command(handle, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
        // Encodes the last frame and completes the header, unless a write has failed.
        sf_close(handle)
        guard let failure else { return }
        // A header without a number of samples is valid; players show the length only if it is stated.
        if blockSize > 0 {
            let samples = UInt64(writtenFrames)
            var bytes: [UInt8] = [sharedByte & 0xF0 | UInt8(samples >> 32 & 0xF)]
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: samples >> UInt64(shift))) }
            try bytes.span.bytes.withUnsafeBytes { bytes throws(Problem) in try output.write(bytes, at: 21) }
        }
        if !hadFailed { throw failure }
    }

    // MARK: - Called by libsndfile

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let isAppended = position == output.size
        // After a failed write, nothing is appended.
        if failure != nil, position + Int64(bytes.count) > output.size { return 0 }
        do throws(Problem) {
            try output.write(bytes, at: position)
        } catch {
            failure = failure ?? error
            return 0
        }
        if isAppended, position == 4, bytes.count >= 38 {
            // STREAMINFO, behind the header of its block.
            blockSize = Int64(bytes[4]) << 8 | Int64(bytes[5])
            sharedByte = bytes[17]
        }
        // Every frame, which begins with a sync code, is one write.
        if isAppended, position > 4, bytes.count > 2, bytes[0] == 0xFF, bytes[1] & 0xFC == 0xF8 { blockCount += 1 }
        position += Int64(bytes.count)
        return bytes.count
    }

    private func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
        switch origin {
        case Int32(SEEK_SET): position = offset
        case Int32(SEEK_CUR): position += offset
        default: position = output.size + offset
        }
        return position
    }

    /// The pointer of every call is the encoder.
    private static let callbacks = SF_VIRTUAL_IO(
        get_filelen: { FLACEncoder.object(at: $0).output.size },
        seek: { FLACEncoder.object(at: $2).seek($0, $1) },
        read: { _, _, _ in 0 },
        write: { bytes, count, encoder in
            sf_count_t(FLACEncoder.object(at: encoder).write(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
        },
        tell: { FLACEncoder.object(at: $0).position })

    private static func object(at pointer: UnsafeMutableRawPointer?) -> FLACEncoder {
        Unmanaged<FLACEncoder>.fromOpaque(pointer!).takeUnretainedValue()
    }
}
