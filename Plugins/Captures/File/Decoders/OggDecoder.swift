internal import CXiph
internal import Hemiola
internal import HemiolaPCM

/// Decodes the packets of a Vorbis or Opus stream.
protocol OggPacketDecoder: AnyObject {
    var format: StreamFormat { get }
    var tags: SoundTags { get }
    /// The frames at the start of a stream that are not part of the sound.
    var delay: Int { get }
    // Safe: room for the longest packet; freed in `deinit`.
    /// The frames of the last packet, interleaved.
    var samples: UnsafeMutablePointer<Float> { get }

    /// Adds a packet of the header, from the second one on. Returns whether it was the last one.
    func addHeader(_ packet: ogg_packet) throws(Problem) -> Bool
    /// Decodes a packet to `samples`. Returns the number of frames; nil: the packet is damaged.
    func decode(_ packet: ogg_packet) -> Int?
    /// Called where packets are missing.
    func reset()
}

extension ogg_packet {
    // Safe: libogg has so many bytes, until the next page.
    var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: packet, count: bytes) }
}

/// Decodes Ogg Vorbis and Ogg Opus, all links of a chained file in order.
///
/// A page states the position at its end, and is decoded as a whole: so the length of what is missing before it is exact. libvorbisfile and
/// libopusfile are not used: they mistake links with the same serial number, as `cat a.ogg a.ogg` makes, for damage, and search a file of
/// many links or imitated pages in unbounded time.
final class OggDecoder: Decoder {
    private(set) var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private(set) var tags = SoundTags()
    let declaredFrames: Int64? = nil
    private(set) var presentFrames: Int64?
    private(set) var endDamage: Gap.Reason?

    private let reader: OggReader
    // Safe: initialised in `init`, cleared in `deinit`.
    private var stream = ogg_stream_state()
    private var link = Link()
    /// The sound of the last page, and its frames that can be read.
    private var pageSamples: [Float] = []
    private var ready = 0..<0
    /// Frames to drop at the start of a link.
    private var droppedFrames: Int64 = 0
    /// Frames that are lost before those that follow; nil: none.
    private var lostFrames: Int64?
    private var failure: Problem?
    private var isAtEnd = false

    /// The logical stream that is decoded, of those that are multiplexed.
    private struct Link {
        /// The number of multiplexed streams.
        var streamCount = 0
        /// nil: the stream is neither Vorbis nor Opus.
        var decoder: (any OggPacketDecoder)?
        /// Why the stream cannot be decoded.
        var error: Problem?
        var serial: UInt32 = 0
        /// Whether the header is complete.
        var isSound = false
        /// Whether the last page has been read, or else the last packet of the page is incomplete.
        var isOver = false
        var goesOn = false
        /// Whether packets are missing before the next page.
        var hasLoss = false
        /// The granule position at the end of the last page; nil before the first page of sound.
        var position: Int64?
        /// The last granule position of pages that cannot be decoded.
        var lostGranule: Int64 = 0
    }

    /// The longest plausible loss at the start of a link, in seconds: a longer one is a stream that was joined in its middle.
    private static let longestLoss: Int64 = 60
    /// The bytes of the largest packet, which is a comment with pictures; and the samples of the largest page.
    private static let limit = 16 << 20

    /// Requires that `OggReader.missingLibrary()` is nil.
    init(_ file: InputFile, _ range: Range<Int64>) throws(Problem) {
        reader = OggReader(file, range)
        ogg_stream_init(&stream, 0)
        // Up to the first page of sound, whose position is that of the start.
        while link.position == nil, !isAtEnd { readPage() }
        guard link.isSound, let decoder = link.decoder else {
            throw failure ?? link.error ?? Problem("no Vorbis or Opus stream")
        }
        (format, tags) = (decoder.format, decoder.tags)
        if lostFrames == nil, let position = link.position, let end = OggReader.lastGranule(file, range, serial: link.serial) {
            presentFrames = max(0, plausible(end) - position + Int64(ready.count) - droppedFrames)
        }
    }

    deinit { ogg_stream_clear(&stream) }

    /// The format of the link that begins; nil: it is that of the frames before.
    private var nextFormat: StreamFormat? {
        link.isSound && link.decoder?.format != format ? link.decoder?.format : nil
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        while ready.isEmpty, lostFrames == nil, nextFormat == nil, !isAtEnd { readPage() }
        if let lost = lostFrames {
            lostFrames = nil
            return .gap(Gap(frames: lost, reason: .damagedFile))
        }
        if let next = nextFormat {
            format = next
            return .format(next)
        }
        if ready.isEmpty, let failure { throw failure }
        if ready.isEmpty { return .end }
        let channels = format.channelCount
        let count = min(ready.count, samples.count / channels)
        let source = pageSamples[ready.lowerBound * channels..<(ready.lowerBound + count) * channels]
        samples.withUnsafeMutableBufferPointer { _ = $0.update(fromContentsOf: source) }
        ready = ready.dropFirst(count)
        return .frames(count)
    }

    private func lose(_ frames: Int64) { lostFrames = plausible((lostFrames ?? 0) + frames - drop(frames)) }

    /// Drops the first ones of so many frames, if a link begins with them. Returns their number.
    private func drop(_ frames: Int64) -> Int64 {
        let count = min(droppedFrames, frames)
        droppedFrames -= count
        return count
    }

    private func plausible(_ granule: Int64) -> Int64 { min(granule, DeclaredLength.maximumFrames) }

    // MARK: - Pages

    private func readPage() {
        guard var page = reader.next() else { return finishFile() }
        if page.isFirst {
            finishLink()
            link = Link()
        }
        while page.isFirst {
            beginStream(page)
            guard let next = reader.next() else { return finishFile() }
            page = next
        }
        guard let decoder = link.decoder else {
            if link.streamCount > 0 {
                failure = link.error ?? Problem("a link of the file is neither Vorbis nor Opus")
                isAtEnd = true
            }
            return
        }
        var content = page.content
        if link.error == nil, !link.isOver, ogg_stream_pagein(&stream, &content) == 0 {
            (link.isOver, link.goesOn) = (page.isLast, page.goesOn)
            if stream.body_fill > Self.limit {
                link.hasLoss = true
                ogg_stream_reset_serialno(&stream, Int32(bitPattern: link.serial))
            }
            if !link.isSound { readHeader(decoder) }
            // Some encoders put sound on the last page of the header.
            if link.isSound { return decode(page, decoder) }
            if link.error == nil { return }
        }
        // The header is damaged, or the first page of another link.
        if link.streamCount == 1 { link.lostGranule = max(link.lostGranule, plausible(page.granule)) }
    }

    private func beginStream(_ page: OggReader.Page) {
        link.streamCount += 1
        let codec = OggCodec(packet: page.body)
        guard link.decoder == nil, codec == .vorbis || codec == .opus else { return }
        (link.serial, link.isOver) = (page.serial, page.isLast)
        var (content, packet) = (page.content, ogg_packet())
        ogg_stream_reset_serialno(&stream, Int32(bitPattern: page.serial))
        ogg_stream_pagein(&stream, &content)
        ogg_stream_packetout(&stream, &packet)
        do {
            link.decoder = codec == .vorbis ? try VorbisDecoder(packet) : try OpusDecoder(packet)
            link.error = nil
        } catch {
            link.error = error
        }
    }

    private func readHeader(_ decoder: any OggPacketDecoder) {
        var packet = ogg_packet()
        while !link.isSound, link.error == nil, case let result = ogg_stream_packetout(&stream, &packet), result != 0 {
            do throws(Problem) {
                guard result > 0 else { throw Problem("a part of the header is missing") }
                link.isSound = try decoder.addHeader(packet)
            } catch {
                link.error = error
            }
        }
        droppedFrames = Int64(decoder.delay)
    }

    /// Decodes a page of sound.
    private func decode(_ page: OggReader.Page, _ decoder: any OggPacketDecoder) {
        pageSamples.removeAll(keepingCapacity: true)
        let channels = decoder.format.channelCount
        var packet = ogg_packet()
        while case let result = ogg_stream_packetout(&stream, &packet), result != 0 {
            if result > 0, pageSamples.count < Self.limit, let count = decoder.decode(packet) {
                // Safe: the decoder has so many frames.
                pageSamples += UnsafeBufferPointer(start: decoder.samples, count: count * channels)
            } else {
                decoder.reset()
                link.hasLoss = true
            }
        }
        var frames = Int64(pageSamples.count / channels)
        if frames > 0 || link.hasLoss { frames -= locate(frames, on: page, Int64(decoder.format.sampleRate)) }
        ready = Int(drop(frames))..<Int(frames)
    }

    /// Finds the position of the frames of a page, and what is lost before them.
    ///
    /// - Returns: The number of frames at its end that do not belong to the stream.
    private func locate(_ frames: Int64, on page: OggReader.Page, _ rate: Int64) -> Int64 {
        // Frames without a position follow those before.
        guard page.granule >= 0 else {
            if frames > 0 { link.position = (link.position ?? 0) + frames }
            return 0
        }
        let end = plausible(page.granule)
        let position = link.position ?? 0
        var start = link.hasLoss ? end - frames : link.position ?? end - frames
        // Where the page has more frames than its position allows, the last ones of the stream do not belong to it, or else the first ones.
        if link.hasLoss || page.isLast { start = max(position, start) }
        let isJoined = link.position == nil && start > Self.longestLoss * rate
        if link.hasLoss, !isJoined { lose(start - position) }
        droppedFrames += max(0, -start)
        (link.position, link.hasLoss) = (end, false)
        return page.isLast ? max(0, frames - max(0, end - start)) : 0
    }

    private func finishLink() {
        // Headers without sound occur: repeated ones.
        if link.isSound, link.hasLoss || link.position != nil && !link.isOver { lose(0) }
        droppedFrames = Int64(link.decoder?.delay ?? 0)
        if link.lostGranule > 0 { lose(link.lostGranule) }
    }

    private func finishFile() {
        // Some encoders do not mark the last page.
        let endsEarly = reader.endsWithinPage || link.goesOn || link.position == nil
        if link.isSound, !link.isOver, endsEarly { endDamage = .truncatedFile }
        link.isOver = true
        finishLink()
        (failure, isAtEnd) = (reader.error, true)
    }
}
