internal import CZstd
internal import HemiolaSystem

/// Compresses bytes into one zstd frame with a checksum.
///
/// A class: as an optional noncopyable struct in `OutputFile`, Swift 6.3.1 called its methods although it was nil.
final class ZstdStream {
    /// How much of the compressed data is produced.
    enum Step {
        /// Only full blocks; the compressor keeps the rest.
        case more
        /// All, so that a reader can decompress it.
        case flush
        /// All, and the end of the frame; the next bytes begin another.
        case end
    }

    private let context: OpaquePointer
    // Unsafe: memory that the C library writes to; owned by this object.
    private let output: UnsafeMutableRawBufferPointer

    /// - Throws: Zstandard is not installed.
    init(level: Int) throws(Problem) {
        if let fault = czstd_load() {
            throw Problem(
                "cannot compress: \(String(cString: fault)); \(SharedLibrary.zstd.remedy), or write without compression")
        }
        guard let context = ZSTD_createCCtx() else { exitForLackOfMemory() }
        self.context = context
        output = .allocate(byteCount: ZSTD_CStreamOutSize(), alignment: 16)
        // Neither call can fail: the library clamps the level and supports checksums since 1.0.
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit {
        ZSTD_freeCCtx(context)
        output.deallocate()
    }

    /// Compresses all bytes and passes the compressed bytes to `write` in pieces, each valid until `write` returns.
    func compress(
        _ bytes: UnsafeRawBufferPointer, _ step: Step, write: (UnsafeRawBufferPointer) throws(Problem) -> Void
    ) throws(Problem) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var isDone = false
        while !isDone {
            var piece = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
            let rest = ZSTD_compressStream2(context, &piece, &input, step.directive)
            guard ZSTD_isError(rest) == 0 else {
                throw Problem("cannot compress: \(String(cString: ZSTD_getErrorName(rest))); write without compression")
            }
            if piece.pos > 0 { try write(UnsafeRawBufferPointer(rebasing: output[..<piece.pos])) }
            isDone = step == .more ? input.pos == input.size : rest == 0
        }
    }
}

extension ZstdStream.Step {
    fileprivate var directive: ZSTD_EndDirective {
        switch self {
        case .more: ZSTD_e_continue
        case .flush: ZSTD_e_flush
        case .end: ZSTD_e_end
        }
    }
}

/// Decompresses the frames of a zstd file, one after another. The window of a frame is at most 128 MiB, the library's default limit.
final class ZstdReader {
    private let context: OpaquePointer
    // Unsafe: memory that the C library writes to; owned by this object.
    private let output: UnsafeMutableRawBufferPointer
    /// Whether a frame has begun and not ended.
    private(set) var isInFrame = false

    /// The bytes with which a zstd frame begins.
    static let signature: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]

    /// - Throws: Zstandard is not installed.
    init() throws(Problem) {
        if let fault = czstd_load() {
            throw Problem("cannot decompress: \(String(cString: fault)); \(SharedLibrary.zstd.remedy)")
        }
        guard let context = ZSTD_createDCtx() else { exitForLackOfMemory() }
        self.context = context
        output = .allocate(byteCount: ZSTD_DStreamOutSize(), alignment: 16)
    }

    deinit {
        ZSTD_freeDCtx(context)
        output.deallocate()
    }

    /// Decompresses a piece of the compressed bytes: at most one buffer of output.
    ///
    /// - Parameter bytes: The bytes that follow those of the last call; those that were read are removed.
    /// - Returns: The decompressed bytes; empty when more bytes are needed.
    /// - Throws: The library's message.
    func decompress(_ bytes: inout ArraySlice<UInt8>) throws(Problem) -> [UInt8] {
        var piece = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        var read = 0
        let rest = bytes.withUnsafeBytes { buffer in
            var input = ZSTD_inBuffer(src: buffer.baseAddress, size: buffer.count, pos: 0)
            defer { read = input.pos }
            return ZSTD_decompressStream(context, &piece, &input)
        }
        guard ZSTD_isError(rest) == 0 else { throw Problem(String(cString: ZSTD_getErrorName(rest))) }
        bytes = bytes.dropFirst(read)
        // Without input and output the last frame has ended, and the next has not begun.
        if read > 0 || piece.pos > 0 { isInFrame = rest != 0 }
        return Array(output[..<piece.pos])
    }
}
