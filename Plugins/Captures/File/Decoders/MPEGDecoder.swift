internal import CMPG123
internal import Hemiola
internal import HemiolaPCM

extension SharedLibrary {
    // Versions before 1.32 do not say which they are.
    static let mpg123 = SharedLibrary(
        "libmpg123", soname: "libmpg123.so.0", package: "libmpg123-0", licence: "LGPL-2.1-only", relation: .suggests,
        use: "MP3 and other MPEG audio", versionSymbol: .numbersFunction("mpg123_distversion"))
}

/// Decodes MPEG audio of all versions and layers, through libmpg123.
///
/// libmpg123 gets whole frames: `MPEGFrameReader` finds them, because libmpg123 says neither which bytes it skips, nor whether a frame is
/// damaged, nor that another file begins in the middle. The sound of all frames gets the channels of the first.
final class MPEGDecoder: Decoder {
    private(set) var format: StreamFormat
    private(set) var declaredFrames: Int64?
    /// Encoders differ in the padding at both ends: two frames.
    let lengthTolerance: Int64 = 2 * 1152
    private(set) var presentFrames: Int64?
    private(set) var endDamage: Gap.Reason?

    private let frames: MPEGFrameReader
    private var section: MPEGSection
    // Unsafe: libmpg123's state; this object owns it.
    private let handle: OpaquePointer
    /// Whether libmpg123 is to forget the frames before the next one.
    private var startsAfresh = true
    /// How many bytes of audio of the frames before the next one may use, at most 511. A section may be cut from a longer file: what its
    /// first frames lack was not lost here.
    private var reservoir = 511
    /// Whether the frame that was read last is to be decoded, after all that is decoded and pending.
    private var hasFrame = false
    // Safe: room for the longest padding and a frame, of at most two channels; freed in `deinit`.
    private let buffer: UnsafeMutablePointer<Float>
    /// The frames of sound in `buffer` that are not delivered.
    private var decoded = 0..<0
    /// How many of them wait, because they may be padding.
    private var held = 0
    /// What is delivered after the others.
    private var pending: [ReadResult] = []
    /// Lost frames of sound that are not reported.
    private var lost: Int64 = 0
    private var isFinished = false

    /// Why libmpg123 cannot be loaded; nil: it is loaded.
    static func missingLibrary() -> String? { cmpg123_load().map { "\(String(cString: $0)); \(SharedLibrary.mpg123.remedy)" } }

    /// - Parameter range: The bytes that hold the frames, and anything but frames before and behind them.
    init(_ file: InputFile, _ range: Range<Int64>) throws(Problem) {
        if let missing = Self.missingLibrary() { throw Problem(missing) }
        guard let frames = MPEGFrameReader(file, range) else { throw Problem("no frame of MPEG audio is found") }
        guard let handle = mpg123_new(nil, nil) else { throw Problem("libmpg123 cannot be used") }
        (self.frames, self.handle) = (frames, handle)
        buffer = .allocate(capacity: 2 * (4096 + 1152))
        section = MPEGSection(frames)
        format = StreamFormat(sampleRate: frames.frame.sampleRate, channelCount: frames.frame.isMono ? 1 : 2)
        declaredFrames = section.declaredFrames
        if let end = section.declaredEnd, end <= range.upperBound,
            file.firstMPEGFrame(from: end, to: range.upperBound, within: 1 << 16) == nil
        {
            presentFrames = declaredFrames
        }
        if !section.hasTag { frames.unread() }
        // Delay and padding are removed here, and the length tag is not passed on.
        mpg123_param(handle, MPG123_REMOVE_FLAGS, Int(MPG123_GAPLESS.rawValue | MPG123_AUTO_RESAMPLE.rawValue), 0)
        let channels = format.channelCount == 1 ? MPG123_MONO_MIX : MPG123_FORCE_STEREO
        let flags = MPG123_QUIET.rawValue | MPG123_NO_READAHEAD.rawValue | MPG123_IGNORE_INFOFRAME.rawValue
        mpg123_param(handle, MPG123_ADD_FLAGS, Int(flags | MPG123_FORCE_FLOAT.rawValue | channels.rawValue), 0)
    }

    deinit {
        mpg123_delete(handle)
        buffer.deallocate()
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        while true {
            if decoded.count > held {
                let (channels, start) = (format.channelCount, decoded.lowerBound)
                let count = min(decoded.count - held, samples.count / channels)
                // Safe: `count` frames fit `samples`, and are in the buffer.
                samples.withUnsafeMutableBufferPointer { $0.baseAddress!.update(from: buffer + start * channels, count: count * channels) }
                decoded = start + count..<decoded.upperBound
                return .frames(count)
            }
            if !pending.isEmpty {
                let result = pending.removeFirst()
                if case .format(let next) = result { format = next }
                return result
            }
            if isFinished { return .end }
            if hasFrame {
                decodeFrame()
            } else if frames.next() {
                examineFrame()
            } else if let error = frames.error {
                throw error
            } else {
                endSection()
                if frames.isTruncated { endDamage = .truncatedFile }
                isFinished = true
            }
        }
    }

    /// Reports what is lost before a frame, begins a section with it, and decides whether it is decoded.
    private func examineFrame() {
        let frame = frames.frame
        let next = MPEGSection(frames)
        let isJoint = next.hasTag || section.isComplete(at: frames.offset)
        // Between two sections nothing is lost but what the first one declares, and nothing where bytes were added.
        if frames.skipped > 0, !isJoint, !(section.declaredEnd.map(frames.hasAddedBytes) ?? false) {
            reportLoss()
            lose(section.length(ofBytes: frames.skipped, before: frames.offset))
            reportLoss()
            startAfresh(reservoir: 0)
        }
        if isJoint || frame.kind != section.first.kind {
            endSection()
            section = next
            startAfresh(reservoir: 511)
            declaredFrames = declaredFrames.flatMap { length in next.declaredFrames.map { length + $0 } }
            if frame.sampleRate != format.sampleRate {
                pending.append(.format(StreamFormat(sampleRate: frame.sampleRate, channelCount: format.channelCount)))
            }
        }
        if next.hasTag { return }
        if isWhole(frame) {
            reportLoss()
            hasFrame = true
        } else {
            lose(Int64(frame.length))
        }
    }

    /// Checks a frame: libmpg123 decodes damaged ones to zeros or noise, and does not say so.
    private func isWhole(_ frame: MPEGFrame) -> Bool {
        guard frame.layer == 3 else { return true }
        guard let side = MPEGSideInfo(frame, frames.bytes) else {
            startAfresh(reservoir: 0)
            return false
        }
        let isWhole = side.mainDataBegin <= reservoir
        reservoir = min(side.mainDataBegin + side.roomSize - side.audioSize, reservoir + side.roomSize, 511)
        // The frames that follow need the bytes of this one.
        if !isWhole { _ = decode() }
        return isWhole
    }

    private func decodeFrame() {
        hasFrame = false
        let length = frames.frame.length
        guard decode() else { return lose(Int64(length)) }
        let delay = length - Int(section.add(Int64(length)))
        decoded = (decoded.isEmpty ? delay : 0)..<decoded.upperBound + length
        held = min(Int(section.padding), decoded.count)
    }

    /// Decodes the frame that was read last to the end of the buffer.
    ///
    /// - Returns: false: libmpg123 cannot decode all of it.
    private func decode() -> Bool {
        if startsAfresh {
            startsAfresh = false
            // Without the header.
            mpg123_param(handle, MPG123_FREEFORMAT_SIZE, frames.frame.freeSize > 0 ? frames.frame.freeSize - 4 : -1, 0)
            mpg123_open_feed(handle)
        }
        let channels = format.channelCount
        // Safe: the frames that may be padding move to the front of the buffer; then there is room for one more frame.
        buffer.update(from: buffer + decoded.lowerBound * channels, count: decoded.count * channels)
        decoded = 0..<decoded.count
        let (output, size) = (buffer + decoded.count * channels, frames.frame.length * channels * MemoryLayout<Float>.size)
        var written = 0
        // Safe: libmpg123 copies the bytes, and writes at most `size` bytes.
        var result = mpg123_decode(handle, frames.bytes.baseAddress, frames.bytes.count, output, size, &written)
        if result == MPG123_NEW_FORMAT.rawValue { result = mpg123_decode(handle, nil, 0, output, size, &written) }
        startsAfresh = result != MPG123_OK.rawValue || written != size
        return !startsAfresh
    }

    /// The next frame does not continue the last one.
    private func startAfresh(reservoir: Int) { (startsAfresh, self.reservoir) = (true, reservoir) }

    /// Drops the padding: less of it where declared frames are missing.
    private func endSection() {
        reportLoss()
        decoded = decoded.lowerBound..<decoded.upperBound - min(held, max(0, Int(section.padding - section.missingLength)))
        held = 0
    }

    private func lose(_ length: Int64) { lost += section.add(length) }

    private func reportLoss() {
        guard lost > 0 else { return }
        pending.append(.gap(Gap(frames: lost, reason: .damagedFile)))
        (lost, held) = (0, 0)
    }
}
