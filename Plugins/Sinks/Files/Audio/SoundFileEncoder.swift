internal import CSndFile
internal import Hemiola
internal import HemiolaFiles

/// Writes a FLAC or WAV file through libsndfile, whose output goes to a ``OutputFile``.
///
/// A WAV file becomes an RF64 file (EBU Tech 3306) when it is larger than 4 GiB. Its header is written again every second of audio, so that
/// a file whose writer was killed is valid up to then.
final class SoundFileEncoder: AudioEncoder {
    private let output: OutputFile
    private let format: StreamFormat
    private let isFLAC: Bool
    private let isFloat: Bool
    private var quantizer: Quantizer
    // Safe: owned by this object, closed once in `complete` or `deinit`.
    private var handle: OpaquePointer?
    /// Frames that were passed to libsndfile.
    private var frameCount: Int64 = 0
    /// Where libsndfile writes next.
    private var position: Int64 = 0
    /// The first failed write.
    private var failure: Problem?

    /// WAV: the size of the header, which is constant, and the frames that it states.
    private var headerSize: Int64 = 0
    private var headerFrames: Int64 = 0

    /// FLAC frames in the file, and samples per channel in each but the last.
    private var blockCount: Int64 = 0
    private var blockSize: Int64 = 0
    /// Byte 21 of a FLAC file: its low half is the start of the number of samples.
    private var sharedByte: UInt8 = 0

    init(_ output: OutputFile, _ format: StreamFormat, _ encoding: SampleEncoding, isFLAC: Bool) throws(Problem) {
        self.output = output
        self.format = format
        self.isFLAC = isFLAC
        isFloat = encoding == .float
        quantizer = Quantizer(bits: encoding.bits)
        let samples = isFloat ? SF_FORMAT_FLOAT : encoding == .bits16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24
        var info = SF_INFO()
        info.samplerate = Int32(format.sampleRate)
        info.channels = Int32(format.channelCount)
        info.format = Int32((isFLAC ? SF_FORMAT_FLAC : SF_FORMAT_RF64) | samples)
        var callbacks = Self.callbacks
        if !isFLAC || format.channelCount <= 8 {
            // libsndfile copies the callbacks, and calls them with this object until sf_close.
            handle = sf_open_virtual(&callbacks, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(self).toOpaque())
        }
        guard handle != nil else {
            if let failure { throw failure }
            throw Problem(
                "\(isFLAC ? "FLAC" : "WAV") cannot hold \(format.channelCount) channels at \(format.sampleRate) Hz"
                    + (isFLAC ? "; write a path that ends in .wav" : ""))
        }
        guard !isFLAC else { return }
        // A chunk PEAK would have the time of day. libsndfile adds none to RF64, unless SFC_SET_ADD_PEAK_CHUNK is set, be it to false.
        sf_command(handle, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, Int32(SF_TRUE))
        sf_command(handle, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
        headerSize = output.size
        if let failure { throw failure }
    }

    deinit {
        if let handle { sf_close(handle) }
    }

    var clippedSamples: Int64 { quantizer.clippedSamples }
    var writtenFrames: Int64 {
        isFLAC ? min(frameCount, blockCount * blockSize) : max(0, output.size - headerSize) / bytesPerFrame
    }

    private var bytesPerFrame: Int64 { Int64((isFloat ? 4 : quantizer.bits / 8) * format.channelCount) }

    func write(_ samples: Span<Float>) throws(Problem) {
        let count = samples.count / format.channelCount
        let handle = handle
        frameCount += Int64(count)
        let written: Int
        if isFloat {
            written = samples.withUnsafeBufferPointer { Int(sf_writef_float(handle, $0.baseAddress, sf_count_t(count))) }
        } else {
            // libsndfile takes integers of 32 bits and uses the highest.
            quantizer.convert(samples, shift: Int32(32 - quantizer.bits))
            written = quantizer.values.withUnsafeBufferPointer { Int(sf_writef_int(handle, $0.baseAddress, sf_count_t(count))) }
        }
        if failure == nil, !isFLAC, frameCount - headerFrames >= Int64(format.sampleRate) {
            sf_command(handle, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
            headerFrames = frameCount
        }
        if let failure { throw failure }
        guard written == count else { throw Problem("libsndfile cannot encode the samples: \(String(cString: sf_strerror(handle)))") }
    }

    func complete() throws(Problem) {
        guard let handle else { return }
        self.handle = nil
        let hadFailed = failure != nil
        // Of the last frame of WAV, a part may be in the file.
        if hadFailed, !isFLAC { output.truncate(to: headerSize + writtenFrames * bytesPerFrame) }
        // Without frames, libsndfile has not written the header yet.
        if frameCount == 0 { sf_command(handle, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
        // Encodes the last frame and completes the header. Of FLAC, neither after a failed write.
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
        do {
            if !isFLAC, position == 0 {
                let header = waveHeader(bytes)
                try header.span.bytes.withUnsafeBytes { header throws(Problem) in try output.write(header, at: 0) }
            } else {
                try output.write(bytes, at: position)
            }
        } catch {
            failure = failure ?? error
            return 0
        }
        if isFLAC, isAppended { noteBlock(bytes) }
        position += Int64(bytes.count)
        return bytes.count
    }

    /// The header of a WAV file with the loudspeakers of the stream, 0 where they are not known: libsndfile states usual ones there.
    private func waveHeader(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var header = Array(bytes)
        // The chunk `fmt ` follows `JUNK` or `ds64`, which differ in size.
        guard header.count > 16, header.count >= 52 + Int(header[16]) else { return header }
        let place = 48 + Int(header[16])
        for byte in 0..<4 { header[place + byte] = UInt8(truncatingIfNeeded: channelMask >> UInt32(8 * byte)) }
        return header
    }

    /// The loudspeakers of WAVE_FORMAT_EXTENSIBLE; 0: not known.
    private var channelMask: UInt32 {
        switch format.channelCount {
        case 1: 0x4
        case 2: 0x3
        default: (format.channelMap?.positions ?? []).reduce(0) { $0 | 1 << UInt32($1.rawValue - 1) }
        }
    }

    /// Reads what was appended to a FLAC file.
    private func noteBlock(_ bytes: UnsafeRawBufferPointer) {
        if position == 4, bytes.count >= 38 {
            // STREAMINFO, behind the header of its block.
            blockSize = Int64(bytes[4]) << 8 | Int64(bytes[5])
            sharedByte = bytes[17]
        }
        // Every frame, which begins with a sync code, is one write.
        if position > 4, bytes.count > 2, bytes[0] == 0xFF, bytes[1] & 0xFC == 0xF8 { blockCount += 1 }
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
        get_filelen: { SoundFileEncoder.object(at: $0).output.size },
        seek: { SoundFileEncoder.object(at: $2).seek($0, $1) },
        read: { _, _, _ in 0 },
        write: { bytes, count, encoder in
            sf_count_t(SoundFileEncoder.object(at: encoder).write(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
        },
        tell: { SoundFileEncoder.object(at: $0).position })

    private static func object(at pointer: UnsafeMutableRawPointer?) -> SoundFileEncoder {
        Unmanaged<SoundFileEncoder>.fromOpaque(pointer!).takeUnretainedValue()
    }
}
