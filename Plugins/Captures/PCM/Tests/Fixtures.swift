import Dispatch
import Glibc
import Hemiola
import TestSupport
import Testing

@testable import HemiolaPCM
@testable import PCMCapture

/// Builds the bytes of a WAV stream.
struct WAVBytes {
    var magic = "RIFF"
    var encoding = PCMEncoding.s16le
    var sampleRate = 44_100
    var channelCount = 1
    var tag: Int?
    var bits: Int?
    var isExtensible = false
    /// The channel mask of an extensible format.
    var mask = 0
    /// Chunks between the format and the samples.
    var before: [(name: String, bytes: [UInt8])] = []
    var after: [(name: String, bytes: [UInt8])] = []
    /// Declared sizes in place of the actual ones.
    var declaredLength: UInt32?
    var declaredTotal: UInt32?
    /// The size in the `ds64` chunk of RF64.
    var wideLength: UInt64?
    var samples: [UInt8] = []

    private var isBigEndian: Bool { magic == "RIFX" }

    private func word(_ value: Int, _ byteCount: Int) -> [UInt8] {
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    private func chunk(_ name: String, _ bytes: [UInt8], length: UInt32? = nil) -> [UInt8] {
        Array(name.utf8) + word(length.map { Int($0) } ?? bytes.count, 4) + bytes + (bytes.count % 2 == 1 ? [0] : [])
    }

    private var format: [UInt8] {
        let isFloat = encoding.rawValue.first == "f"
        let width = encoding.byteCount
        let plain = tag ?? (isFloat ? 3 : 1)
        var bytes =
            word(isExtensible ? 0xfffe : plain, 2) + word(channelCount, 2) + word(sampleRate, 4)
            + word(sampleRate * width * channelCount, 4) + word(width * channelCount, 2) + word(bits ?? 8 * width, 2)
        if isExtensible {
            bytes += word(22, 2) + word(bits ?? 8 * width, 2) + word(mask, 4) + word(plain, 2)
            bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        }
        return bytes
    }

    var bytes: [UInt8] {
        var body = Array("WAVE".utf8)
        if let wideLength {
            body += chunk("ds64", word(0, 8) + word(Int(bitPattern: UInt(wideLength)), 8) + word(0, 8) + word(0, 4))
        }
        body += chunk("fmt ", format)
        for extra in before { body += chunk(extra.name, extra.bytes) }
        body += chunk("data", samples, length: declaredLength)
        for extra in after { body += chunk(extra.name, extra.bytes) }
        return Array(magic.utf8) + word(declaredTotal.map { Int($0) } ?? body.count, 4) + body
    }
}

/// Builds the bytes of a stream in a container other than WAV: two channels at 48 kHz.
enum ContainerBytes: String, CaseIterable {
    case aiff = "AIFF"
    case aiffC = "AIFF-C"
    case au = "AU"
    case littleEndianAU = "AU in little-endian order"
    case decAU = "AU of DEC"
    case caf = "CAF"
    case wave64 = "Wave64"

    /// The name in messages.
    var container: String { self == .aiffC ? "AIFF" : rawValue.hasPrefix("AU") ? "AU" : rawValue }

    var encoding: PCMEncoding {
        switch self {
        case .aiff, .au, .caf: .s16be
        case .aiffC, .littleEndianAU, .decAU, .wave64: .s16le
        }
    }

    /// - Parameter declared: The size of the samples in the header; nil: the actual one.
    func bytes(_ samples: [UInt8], declared: Int? = nil) -> [UInt8] {
        let size = declared ?? samples.count
        switch self {
        case .aiff, .aiffC:
            let rate: [UInt8] = [0x40, 0x0e, 0xbb, 0x80, 0, 0, 0, 0, 0, 0]
            let codec = self == .aiff ? [] : Array("sowt".utf8) + [0, 0]
            let frames = UInt32(max(0, size) / 4)
            let common = UInt16(2).bytes(bigEndian: true) + frames.bytes(bigEndian: true) + UInt16(16).bytes(bigEndian: true)
            let head = Array("COMM".utf8) + UInt32(18 + codec.count).bytes(bigEndian: true) + common + rate + codec
            let sound =
                Array("SSND".utf8) + UInt32(truncatingIfNeeded: size + 8).bytes(bigEndian: true) + [UInt8](repeating: 0, count: 8)
            return Array("FORM\0\0\u{1}\0\(self == .aiff ? "AIFF" : "AIFC")".utf8) + head + sound + samples
        case .au, .littleEndianAU, .decAU:
            let magic = self == .au ? ".snd" : self == .decAU ? "\0ds." : "dns."
            let numbers = [28, UInt32(truncatingIfNeeded: size), 3, 48_000, 2, 0]
            return Array(magic.utf8) + numbers.flatMap { $0.bytes(bigEndian: self == .au) } + samples
        case .caf:
            let description = (48_000.0).bitPattern.bytes(bigEndian: true) + Array("lpcm".utf8)
            let numbers = ([0, 4, 1, 2, 16] as [UInt32]).flatMap { $0.bytes(bigEndian: true) }
            let head = Array("caff\0\u{1}\0\0desc".utf8) + Int64(32).bytes(bigEndian: true) + description + numbers
            return head + Array("data".utf8)
                + Int64(size < 0 ? -1 : size + 4).bytes(bigEndian: true) + [0, 0, 0, 0] + samples
        case .wave64:
            let rest: [UInt8] = [0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a]
            let riff: [UInt8] = [
                0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0, 0,
            ]
            let format =
                UInt16(1).bytes() + UInt16(2).bytes() + UInt32(48_000).bytes() + UInt32(192_000).bytes() + UInt16(4).bytes()
                + UInt16(16).bytes()
            return riff + UInt64(1000).bytes() + Array("wave".utf8) + rest + Array("fmt ".utf8) + rest + UInt64(40).bytes() + format
                + Array("data".utf8) + rest + (size < 0 ? UInt64.max : UInt64(size + 24)).bytes() + samples
        }
    }
}

/// A pipe with a writer on another thread.
final class TestPipe: Sendable {
    let reader: Int32
    let writer: Int32
    private let writing = DispatchGroup()

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        // The writer may outlive the reader.
        signal(SIGPIPE, SIG_IGN)
    }

    /// A pipe into which the bytes are written in fragments, and which is then closed.
    convenience init(_ bytes: [UInt8], fragment: Int = .max) {
        self.init()
        writing.enter()
        DispatchQueue.global().async { [self] in
            var offset = 0
            while offset < bytes.count {
                let count = min(fragment, bytes.count - offset)
                let written = bytes[offset..<offset + count].withUnsafeBytes { write(writer, $0.baseAddress!, count) }
                if written <= 0 { break }
                offset += written
            }
            close(writer)
            writing.leave()
        }
    }

    deinit {
        close(reader)
    }

    /// Waits until the writer has finished or failed.
    func finishWriting() {
        writing.wait()
    }
}

/// A temporary file, deleted with this object.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8]) {
        var template = Array("/tmp/hemiola-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress!, bytes.count) }
        close(descriptor)
    }

    deinit { unlink(path) }
}

/// All deliveries of a capture.
struct Recording {
    var source: StreamSource
    var samples: [Float] = []
    var gaps: [Gap] = []
    var idleCount = 0

    /// - Parameter frames: Size of the buffer of each read, in frames.
    init(_ capture: any Capture, frames: Int = 1024, _ request: FormatRequest = FormatRequest()) throws {
        source = try capture.open(request)
        defer { capture.close() }
        try read(capture, frames: frames)
    }

    mutating func read(_ capture: any Capture, frames: Int = 1024) throws {
        var buffer = [Float](repeating: 77, count: frames * source.format.channelCount)
        while true {
            var span = buffer.mutableSpan
            switch try capture.read(into: &span) {
            case .frames(let count):
                #expect(count > 0)
                samples += buffer[..<(count * source.format.channelCount)]
            case .gap(let gap): gaps.append(gap)
            case .idle: idleCount += 1
            case .end: return
            case .format, .source, .device: Issue.record("the format of a stream does not change")
            }
        }
    }

    var bits: [UInt32] { samples.map(\.bitPattern) }
}

/// The settings of a SPEC of `pcm`.
func settings(_ spec: String) throws -> PCMSettings {
    try PCMSettings(CapturePlugin.pcm.about.values(parsing: spec))
}

/// Reads these bytes through a pipe as standard input.
func record(_ bytes: [UInt8], _ spec: String = "pcm", fragment: Int = .max, frames: Int = 1024) throws -> Recording {
    let pipe = TestPipe(bytes, fragment: fragment)
    defer { pipe.finishWriting() }
    return try Recording(PCMReader(settings(spec), descriptor: pipe.reader), frames: frames)
}

/// The error of opening and reading these bytes.
func failure(_ bytes: [UInt8], _ spec: String = "pcm") -> String {
    do {
        _ = try record(bytes, spec)
        return "it did not fail"
    } catch {
        return "\(error)"
    }
}

extension FixedWidthInteger {
    func bytes(bigEndian: Bool = false) -> [UInt8] {
        withUnsafeBytes(of: bigEndian ? self.bigEndian : littleEndian) { Array($0) }
    }
}

/// Samples of an encoding, and the floats that they encode.
func samples(of encoding: PCMEncoding) -> (bytes: [UInt8], floats: [Float]) {
    let name = encoding.rawValue
    let bigEndian = name.hasSuffix("be")
    let bits = 8 * encoding.byteCount
    if name.hasPrefix("f") {
        let numbers: [Double] = [0, -0.0, 1, -1, 0.1, -1e-40, 1.000000059604645, 3.5e38, .infinity, .nan]
        return (
            numbers.flatMap { number in
                bits == 32 ? Float(number).bitPattern.bytes(bigEndian: bigEndian) : number.bitPattern.bytes(bigEndian: bigEndian)
            }, numbers.map { Float($0) }
        )
    }
    let top = 1 << (bits - 1)
    let codes = [-top, -top + 1, -1, 0, 1, top / 3, -top / 7, top - 65, top - 1].filter { (-top..<top).contains($0) }
    let bytes = codes.flatMap { code -> [UInt8] in
        if encoding == .u8 { return [UInt8(code + 128)] }
        let word = Int32(truncatingIfNeeded: code << (32 - bits)).bytes(bigEndian: bigEndian)
        return bigEndian ? Array(word[..<encoding.byteCount]) : Array(word[(4 - encoding.byteCount)...])
    }
    return (bytes, codes.map { Float(Double($0) / Double(top)) })
}
