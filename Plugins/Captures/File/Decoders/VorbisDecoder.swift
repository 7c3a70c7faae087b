internal import CXiph
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

extension SharedLibrary {
    static let vorbis = SharedLibrary(
        "libvorbis", soname: "libvorbis.so.0", package: "libvorbis0a", licence: "BSD-3-Clause", relation: .suggests,
        use: "Ogg Vorbis files", versionSymbol: .textFunction("vorbis_version_string"))
}

/// A Vorbis stream, through libvorbis. Samples are not clipped.
final class VorbisDecoder: OggPacketDecoder {
    let format: StreamFormat
    private(set) var tags = SoundTags()
    let delay = 0
    let samples: UnsafeMutablePointer<Float>

    // Safe: initialised in `init`, cleared and freed in `deinit`; libvorbis keeps the addresses.
    private let info = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
    private let comment = UnsafeMutablePointer<vorbis_comment>.allocate(capacity: 1)
    private let state = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
    private let block = UnsafeMutablePointer<vorbis_block>.allocate(capacity: 1)

    init(_ packet: ogg_packet) throws(Problem) {
        vorbis_info_init(info)
        vorbis_comment_init(comment)
        state.initialize(to: vorbis_dsp_state())
        block.initialize(to: vorbis_block())
        var packet = packet
        let isValid = vorbis_synthesis_headerin(info, comment, &packet) == 0
        let channels = isValid ? Int(info.pointee.channels) : 1
        format = StreamFormat(sampleRate: Int(info.pointee.rate), channelCount: channels, channelMap: Self.channelMap(channels))
        // A packet yields half of the longest block.
        samples = .allocate(capacity: isValid ? Int(vorbis_info_blocksize(info, 1)) * channels : 1)
        guard isValid else { throw Problem("damaged Vorbis header") }
    }

    deinit {
        vorbis_block_clear(block)
        vorbis_dsp_clear(state)
        vorbis_comment_clear(comment)
        vorbis_info_clear(info)
        info.deallocate()
        comment.deallocate()
        state.deallocate()
        block.deallocate()
        samples.deallocate()
    }

    /// The positions of the channels: Vorbis I, section 4.3.9. Those of Opus are the same: RFC 7845, section 5.1.1.2.
    static func channelMap(_ channelCount: Int) -> ChannelMap? {
        let positions: [ChannelPosition]? =
            switch channelCount {
            case 3: [.frontLeft, .frontCenter, .frontRight]
            case 4: [.frontLeft, .frontRight, .backLeft, .backRight]
            case 5: [.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight]
            case 6: [.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight, .lowFrequency]
            case 7: [.frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .backCenter, .lowFrequency]
            case 8: [.frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .backLeft, .backRight, .lowFrequency]
            default: nil
            }
        return positions.flatMap(ChannelMap.init)
    }

    func addHeader(_ packet: ogg_packet) throws(Problem) -> Bool {
        let type = packet.content.first
        if type == 3 { tags = SoundTags(oggComments: packet.content.dropFirst(7)) }
        if type == 5, Self.codebookSize(packet) > 1 << 22 { throw Problem("Vorbis codebooks of absurd size") }
        var header = packet
        guard vorbis_synthesis_headerin(info, comment, &header) == 0, type != 5 || vorbis_synthesis_init(state, info) == 0 else {
            throw Problem("damaged Vorbis header")
        }
        if type == 5 { vorbis_block_init(state, block) }
        return type == 5
    }

    /// The numbers in the codebooks of a setup header: entries times dimensions. libvorbis allocates them all, and a few bytes can declare
    /// millions; real files have about 100 000. Looks at every bit for the mark of a codebook.
    private static func codebookSize(_ packet: ogg_packet) -> Int {
        var (bits, size) = (oggpack_buffer(), 0)
        oggpack_readinit(&bits, packet.packet, Int32(packet.bytes))
        while case let mark = oggpack_look(&bits, 24), mark >= 0 {
            if mark == 0x56_4342 {
                var book = bits
                oggpack_adv(&book, 24)
                let count = oggpack_read(&book, 16) * oggpack_read(&book, 24)
                // libvorbis refuses a larger one.
                if count < 1 << 24 { size += count }
            }
            oggpack_adv(&bits, 1)
        }
        return size
    }

    func decode(_ packet: ogg_packet) -> Int? {
        // A packet of a header has an odd first byte.
        guard packet.content.first.map({ $0 & 1 == 0 }) ?? false else { return 0 }
        var packet = packet
        // Without a position, so that libvorbis trims nothing.
        (packet.granulepos, packet.e_o_s) = (-1, 0)
        guard vorbis_synthesis(block, &packet) == 0, vorbis_synthesis_blockin(state, block) == 0 else { return nil }
        var source: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
        let count = vorbis_synthesis_pcmout(state, &source)
        let channels = format.channelCount
        for channel in 0..<channels {
            // Safe: libvorbis has `count` frames of every channel, and `samples` room for a block.
            guard let from = source?[channel] else { continue }
            for frame in 0..<Int(count) { samples[frame * channels + channel] = from[frame] }
        }
        _ = vorbis_synthesis_read(state, count)
        return Int(count)
    }

    func reset() { vorbis_synthesis_restart(state) }
}

extension SoundTags {
    /// From the comments of Vorbis and Opus: little-endian lengths and texts. The first text is the vendor, after which their number stands.
    init(oggComments bytes: Slice<UnsafeRawBufferPointer>) {
        var (rest, texts) = (bytes, [Slice<UnsafeRawBufferPointer>]())
        while rest.count >= 4, texts.count < 10_000 {
            let size = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard size <= rest.count - 4 else { break }
            texts.append(rest.dropFirst(4).prefix(size))
            rest = rest.dropFirst(4 + size + (texts.count == 1 ? 4 : 0))
        }
        self.init(vorbisComments: texts.dropFirst())
    }
}
