internal import CZstd

/// One zstd frame under way, with a checksum at its end.
///
/// A class: as an optional noncopyable struct within `OutputFile` it was called although it was nil, and crashed (Swift 6.3.1).
final class ZstdStream {
    /// What happens to bytes that could wait for more.
    enum Step {
        case more
        /// A reader can have all there is.
        case flush
        /// The frame is over; the next bytes begin another.
        case end
    }

    private let context: OpaquePointer
    // Unsafe: memory that the C library writes to; this value owns it.
    private let room: UnsafeMutableRawBufferPointer

    init(level: Int) {
        guard let context = ZSTD_createCCtx() else { fatalError("there is no memory for zstd") }
        self.context = context
        room = .allocate(byteCount: ZSTD_CStreamOutSize(), alignment: 16)
        // Neither can fail: the library clamps a level, and has checksums since 1.0.
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))
        _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit {
        ZSTD_freeCCtx(context)
        room.deallocate()
    }

    /// Takes all of the bytes and hands on what comes out, which is good until `send` returns.
    func compress(
        _ bytes: UnsafeRawBufferPointer, _ step: Step, send: (UnsafeRawBufferPointer) throws(OutputError) -> Void
    ) throws(OutputError) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var isDone = false
        while !isDone {
            var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
            let rest = ZSTD_compressStream2(context, &output, &input, step.directive)
            guard ZSTD_isError(rest) == 0 else {
                throw OutputError("cannot compress: \(String(cString: ZSTD_getErrorName(rest))); write without compression")
            }
            if output.pos > 0 { try send(UnsafeRawBufferPointer(rebasing: room[..<output.pos])) }
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
