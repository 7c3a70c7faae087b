internal import HemiolaPCM
internal import HemiolaSystem

/// What other programs play before the sound of an MP3 file.
///
/// An encoder delays the sound, in most files by 1105 frames with the decoder's part. Xing and LAME put a frame without sound first, the
/// tag, which declares the delay. Hemiola's decoder omits the tag and the declared delay, as mpg123, ffmpeg and LAME do, so that the
/// sound is at its time in the original. Programs for DJs omit neither the delay nor, in some files, the tag.
struct MP3Start {
    /// ID3v2 tags at the start that are skipped.
    private static let mostTags = 4

    /// Seconds of the delay that Hemiola's decoder omits.
    private(set) var delay = 0.0
    /// Seconds for which Rekordbox plays the tag as silence: if it is a tag of LAME with a correct checksum, and not one of libavcodec.
    /// Found by the authors of dj-data-converter and Mixxx, in whose importer it is case D.
    private(set) var tag = 0.0

    /// Reads the first bytes of a file. Nothing is played before the sound of other files, and before that of an MP3 file without a tag.
    init(_ path: String) {
        // Opening a device may have an effect, and a named pipe must not block.
        guard (try? FileSystem.status(of: path).kind) == .file, let file = try? FileDescriptor.open(path, [.nonBlocking]) else { return }
        defer { file.close() }
        var start = 0
        for _ in 0..<Self.mostTags { start += Int(Self.read(file, at: start, 10).id3Size ?? 0) }
        let head = Self.read(file, at: start, 4096)
        // Zeros may follow a tag.
        guard let place = start == 0 ? 0 : head.indices.first(where: { Self.frame(head, at: $0) != nil }) else { return }
        read(Array(head[place...]))
    }

    /// - Parameter bytes: Those from the first frame on.
    private mutating func read(_ bytes: [UInt8]) {
        guard let frame = Self.frame(bytes, at: 0), let lengthTag = bytes.withUnsafeBufferPointer({ MPEGTag(frame, $0) }) else { return }
        let seconds = 1 / Double(frame.sampleRate)
        delay = Double(lengthTag.delay) * seconds
        guard let place = lengthTag.extensionOffset, bytes.count >= place + 36 else { return }
        let name = String(decoding: bytes[place..<(place + 4)], as: UTF8.self)
        let checksum = Int(bytes[place + 34]) << 8 | Int(bytes[place + 35])
        if name.lowercased() != "lavc", Self.checksum(bytes[..<(place + 34)]) == checksum { tag = Double(frame.length) * seconds }
    }

    /// The header of a frame of layer III; nil where there is none.
    private static func frame(_ bytes: [UInt8], at place: Int) -> MPEGFrame? {
        MPEGFrame(bytes, at: place, freeSize: 1).flatMap { $0.layer == 3 ? $0 : nil }
    }

    /// CRC-16 with the polynomial 0x8005, the lowest bit first, from 0: the checksum of LAME's tag.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { (sum: Int, byte: UInt8) in
            (0..<8).reduce(sum ^ Int(byte)) { rest, _ in rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ 0xa001 }
        }
    }

    /// The bytes at an offset; fewer at the end of the file.
    private static func read(_ file: FileDescriptor, at offset: Int, _ count: Int) -> [UInt8] {
        (try? file.bytes(at: Int64(offset), count: count)) ?? []
    }
}
