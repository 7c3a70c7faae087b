internal import CXiph
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

extension SharedLibrary {
    static let opus = SharedLibrary(
        "libopus", soname: "libopus.so.0", package: "libopus0", licence: "BSD-3-Clause", relation: .suggests,
        use: "Opus files", versionSymbol: .textFunction("opus_get_version_string"))
}

/// An Opus stream (RFC 7845), through libopus: always at 48 000 Hz. Samples are not clipped.
final class OpusDecoder: OggPacketDecoder {
    let format: StreamFormat
    private(set) var tags = SoundTags()
    let delay: Int
    let samples: UnsafeMutablePointer<Float>

    // Safe: created in `init` and destroyed in `deinit`.
    private let decoder: OpaquePointer

    private static let rate = 48_000
    /// The frames of the longest packet: 120 ms.
    private static let longest = 5760

    init(_ packet: ogg_packet) throws(Problem) {
        let bytes = packet.content
        guard bytes.count >= 19, bytes[8] < 16, bytes[9] > 0 else { throw Problem("damaged Opus header") }
        let channels = Int(bytes[9])
        let (streams, coupled, mapping): (Int, Int, [UInt8])
        switch bytes[18] {
        case 0 where channels <= 2: (streams, coupled, mapping) = (1, channels - 1, [0, 1])
        case 1 where channels <= 8 && bytes.count >= 21 + channels:
            (streams, coupled, mapping) = (Int(bytes[19]), Int(bytes[20]), Array(bytes[21..<21 + channels]))
        case let family: throw Problem("Opus with channel mapping family \(family)")
        }
        var error: Int32 = 0
        guard
            let decoder = opus_multistream_decoder_create(
                Int32(Self.rate), Int32(channels), Int32(streams), Int32(coupled), mapping, &error)
        else { throw Problem("damaged Opus header") }
        self.decoder = decoder
        _ = cxiph_set_gain(decoder, Int32(bytes.loadUnaligned(fromByteOffset: 16, as: Int16.self).littleEndian))
        delay = Int(bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self).littleEndian)
        format = StreamFormat(sampleRate: Self.rate, channelCount: channels, channelMap: VorbisDecoder.channelMap(channels))
        samples = .allocate(capacity: Self.longest * channels)
    }

    deinit {
        opus_multistream_decoder_destroy(decoder)
        samples.deallocate()
    }

    func addHeader(_ packet: ogg_packet) throws(Problem) -> Bool {
        guard packet.content.starts(with: "OpusTags".utf8) else { throw Problem("damaged Opus header") }
        tags = SoundTags(oggComments: packet.content.dropFirst(8))
        return true
    }

    func decode(_ packet: ogg_packet) -> Int? {
        // libopus takes an empty packet for a lost one.
        guard packet.bytes > 0 else { return 0 }
        let count = opus_multistream_decode_float(decoder, packet.packet, Int32(packet.bytes), samples, Int32(Self.longest), 0)
        return count < 0 ? nil : Int(count)
    }

    /// The decoder converges again within 80 ms.
    func reset() {}
}
