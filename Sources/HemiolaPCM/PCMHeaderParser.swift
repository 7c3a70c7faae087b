internal import HemiolaRecords
internal import HemiolaSignal

/// Parses one header. A value for one use.
struct PCMHeaderParser<Source: ChunkSource> {
    private let source: Source
    private let start: Int64
    private let size: Int64?
    private let isStream: Bool
    private var header: PCMHeader
    private var isBigEndian = true
    private var hasFormat = false
    private var hasData = false
    private var (sampleRate, channelCount) = (0, 0)
    private var channelMap: ChannelMap?
    /// Bytes of a sample; nil for codecs of blocks.
    private var sampleSize: Int?
    /// The size of the samples in RF64's `ds64` chunk.
    private var longSize: Int64?

    init(_ source: Source, _ container: PCMHeader.Container, start: Int64, size: Int64?, isStream: Bool) {
        (self.source, self.start, self.size, self.isStream) = (source, start, size, isStream)
        header = PCMHeader(container: container)
    }

    /// Maximum number of chunks to read: a damaged file may contain millions of empty ones.
    private static var chunkLimit: Int { 1000 }

    /// - Parameter head: The first 12 bytes.
    mutating func parse(_ head: [UInt8]) throws(Source.Failure) -> PCMHeader.Outcome {
        if let failure = try header.container == .au ? readAU() : readChunks(WaveFileHeader(head)) { return failure }
        header.stream = StreamFormat(sampleRate: sampleRate, channelCount: channelCount, channelMap: channelMap)
        let frameSize = Int64(max(1, (sampleSize ?? 0) * channelCount))
        if let declared = header.byteCount, declared / frameSize > DeclaredLength.maximumFrames { header.byteCount = nil }
        // In AU the samples extend to the end of the file: a shorter declared length is wrong.
        if header.container == .au, !isStream, let size, let declared = header.byteCount, declared + frameSize <= size - header.offset {
            header.lengthFault = .falseLength
            header.byteCount = nil
        }
        // AIFF declares the number of frames, too.
        if header.container == .aiff, sampleSize != nil, let size, let frames = header.frameCount,
            frames > (header.byteCount ?? max(0, size - header.offset)) / frameSize, !DeclaredLength.isPlaceholder(frames * frameSize)
        {
            header.lengthFault = .truncatedFile
        }
        return .header(header)
    }

    /// Sun and NeXT audio, in either byte order: six numbers, then the samples. Returns why it cannot be used; nil: it can.
    private mutating func readAU() throws(Source.Failure) -> PCMHeader.Outcome? {
        let head = try source.bytes(at: start, count: 24)
        guard head.count == 24 else { return .incomplete(.au) }
        isBigEndian = head.hasText(".snd", at: 0)
        let numbers = (0..<6).map { Int(head.unsigned32(at: 4 * $0, isBigEndian: isBigEndian)) }
        guard numbers[1] >= 24 else { return .damaged(.au) }
        (sampleRate, channelCount) = (numbers[4], numbers[5])
        switch numbers[3] {
        case 1: set(nil, "µ-law", sampleSize: 1)
        case 2...5: set(.integer(bytes: numbers[3] - 1, isBigEndian))
        case 6, 7: set(.float(bytes: numbers[3] == 6 ? 4 : 8, isBigEndian))
        case 27: set(nil, "A-law", sampleSize: 1)
        default: set(nil, "a codec (encoding \(numbers[3]))")
        }
        setData(at: start + Int64(numbers[1]), size: Int64(numbers[2]), isOpenEnded: true)
        return nil
    }

    /// The other containers, which consist of chunks. Returns why the header cannot be used; nil: it can.
    private mutating func readChunks(_ riff: WaveFileHeader?) throws(Source.Failure) -> PCMHeader.Outcome? {
        let container = header.container
        isBigEndian = riff?.isBigEndian ?? (container != .wave64)
        let (layout, first): (ChunkLayout, Int64) =
            switch container {
            case .wave64: (.wave64, 40)
            case .caf: (.caf, 8)
            default: (isBigEndian ? .iff : .riff, 12)
            }
        var reader = ChunkReader(source, layout: layout, from: start + first, limit: Self.chunkLimit)
        // Nothing follows samples of unknown length.
        while !hasData || !isStream && header.byteCount != nil, let chunk = try reader.next() {
            switch (container, chunk.name) {
            case (.wav, "fmt "), (.wave64, "fmt "), (.aiff, "COMM"), (.caf, "desc"):
                if hasFormat { break }
                let content = try reader.content(of: chunk, limit: WaveFormat.maximumSize)
                guard container == .aiff ? readCOMM(content) : container == .caf ? readDesc(content) : readFmt(content) else {
                    return chunk.size > content.count ? .incomplete(container) : .damaged(container)
                }
                hasFormat = true
            case (.wav, "ds64"):
                // A shorter chunk does not contain the size of the samples: then it is unknown.
                let sizes = try reader.content(of: chunk, limit: 16)
                if sizes.count == 16 { longSize = Int64(clamping: sizes.unsigned64(at: 8, isBigEndian: false)) }
            case (.wav, "fact"), (.wave64, "fact"):
                let frames = try reader.content(of: chunk, limit: container == .wave64 ? 8 : 4)
                if frames.count == 4 { header.frameCount = Int64(frames.unsigned32(at: 0, isBigEndian: isBigEndian)) }
                if frames.count == 8 { header.frameCount = Int64(clamping: frames.unsigned64(at: 0, isBigEndian: false)) }
            case (.aiff, "CHAN"), (.caf, "chan"):
                channelMap = ChannelMap(coreAudioLayout: try reader.content(of: chunk, limit: ChannelMap.longestCoreAudioLayout))
            case (.wav, "data"), (.wave64, "data"), (.caf, "data"), (.aiff, "SSND"):
                if hasData { break }
                if isStream, !hasFormat { return .dataFirst(container) }
                try readData(chunk, riff)
                if container == .wav, let size = header.byteCount { reader.skip(chunk, size: size) }
            default:
                if !isStream { try readTag(chunk, reader, layout) }
            }
        }
        return hasFormat && hasData ? nil : .incomplete(container)
    }

    // MARK: Samples

    private mutating func readData(_ chunk: Chunk, _ riff: WaveFileHeader?) throws(Source.Failure) {
        if let riff {
            let isLong = riff.is64Bit && chunk.size >= 0xffff_0000
            // A size of 0 is unknown, unless the declared size of the file says that chunks follow. It is false where samples follow.
            let isOpenEnded = riff.is64Bit || riff.fileSize + 8 <= chunk.offset - start || DeclaredLength.isPlaceholder(riff.fileSize)
            var isFalse = false
            if !isOpenEnded, chunk.size == 0, !isStream { isFalse = try !isChunk(at: chunk.offset) }
            setData(at: chunk.offset, size: isLong ? longSize ?? 0 : chunk.size, isOpenEnded: isOpenEnded || isFalse)
            if isFalse { header.lengthFault = .falseLength }
        } else if header.container == .aiff {
            // An offset and a block size of 4 bytes each precede the samples. The declared size, which may be 0, does not limit this read.
            let offset = try source.bytes(at: chunk.offset, count: 4)
            let skip = offset.count == 4 ? 8 + Int64(offset.unsigned32(at: 0, isBigEndian: true)) : 8
            setData(at: chunk.offset + skip, size: chunk.size - skip, isOpenEnded: false)
        } else {
            // CAF: an edit count of 4 bytes precedes the samples.
            let skip: Int64 = header.container == .caf ? 4 : 0
            setData(at: chunk.offset + skip, size: chunk.size < 0 ? -1 : chunk.size - skip, isOpenEnded: skip == 0)
        }
    }

    /// Whether a chunk begins at a byte, or nothing does: the name of a chunk has four printable characters.
    private func isChunk(at offset: Int64) throws(Source.Failure) -> Bool {
        try source.bytes(at: offset, count: 4).allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// - Parameters:
    ///   - declared: The size in the header; negative: unknown.
    ///   - isOpenEnded: Whether 0 is unknown too if there are samples.
    private mutating func setData(at offset: Int64, size declared: Int64, isOpenEnded: Bool) {
        hasData = true
        header.offset = offset
        let present = size.map { max(0, $0 - offset) }
        let isUnknown =
            switch declared {
            case 0: isOpenEnded && present != 0
            // A placeholder that the file is long enough for is the actual size.
            case ..<0xffff_0000: declared < 0 || DeclaredLength.isPlaceholder(declared) && declared > present ?? 0
            default: DeclaredLength.isPlaceholder(declared)
            }
        header.byteCount = isUnknown ? nil : declared
    }

    // MARK: Format

    /// - Parameter name: What the samples are if they are no numbers of a supported kind.
    private mutating func set(_ encoding: PCMEncoding?, _ name: String = "", formatTag: Int? = nil, sampleSize: Int? = nil) {
        header.encoding = encoding.map(PCMHeader.Encoding.pcm) ?? .other(name, formatTag: formatTag)
        self.sampleSize = encoding?.byteCount ?? sampleSize
    }

    /// WAV and Wave64.
    private mutating func readFmt(_ content: [UInt8]) -> Bool {
        guard let wave = WaveFormat(content, isBigEndian: isBigEndian) else { return false }
        (sampleRate, channelCount, channelMap) = (wave.sampleRate, wave.channelCount, wave.channelMap)
        header.blockSize = wave.blockSize
        let (tag, bits) = (wave.formatTag, wave.bitsPerSample)
        guard tag == WaveFormat.pcm || tag == WaveFormat.float else {
            set(nil, wave.codecName(tag), formatTag: tag, sampleSize: tag == WaveFormat.aLaw || tag == WaveFormat.muLaw ? 1 : nil)
            return true
        }
        // A sample may use fewer bits than its container, which has whole bytes; 24 bits may be in 4. Where the size of a frame contradicts
        // the bits otherwise, it is wrong: libsndfile and ffmpeg ignore it.
        let frame = wave.blockSize
        let container = frame > 0 && channelCount > 0 && frame.isMultiple(of: channelCount) ? frame / channelCount : 0
        let bytes = bits == 0 || bits == 24 && container == 4 ? container : (bits + 7) / 8
        let isFloat = tag == WaveFormat.float
        set(
            isFloat ? .float(bytes: bytes, isBigEndian) : bytes == 1 ? .u8 : .integer(bytes: bytes, isBigEndian),
            "\(bits)-bit \(isFloat ? "float" : "integer") samples", formatTag: tag)
        return true
    }

    /// AIFF and AIFF-C.
    private mutating func readCOMM(_ content: [UInt8]) -> Bool {
        guard content.count >= 18 else { return false }
        channelCount = Int(content.unsigned16(at: 0, isBigEndian: true))
        header.frameCount = Int64(content.unsigned32(at: 2, isBigEndian: true))
        sampleRate = content.extended80(at: 8)
        let bytes = (Int(content.unsigned16(at: 6, isBigEndian: true)) + 7) / 8
        let codec = content.count >= 22 ? String(decoding: content[18..<22], as: UTF8.self) : "NONE"
        switch codec {
        case "NONE", "twos": set(.integer(bytes: bytes, true), "samples of \(bytes) bytes")
        case "sowt": set(.integer(bytes: bytes, false), "samples of \(bytes) bytes")
        case "raw ": set(bytes == 1 ? .u8 : nil, "samples of \(bytes) bytes")
        case "in24", "42n1": set(.integer(bytes: 3, codec == "in24"))
        case "in32", "23ni": set(.integer(bytes: 4, codec == "in32"))
        case "fl32", "FL32": set(.f32be)
        case "fl64", "FL64": set(.f64be)
        case "ulaw", "ULAW": set(nil, "µ-law", sampleSize: 1)
        case "alaw", "ALAW": set(nil, "A-law", sampleSize: 1)
        default: set(nil, "the codec \(codec.printable)")
        }
        return true
    }

    /// CAF.
    private mutating func readDesc(_ content: [UInt8]) -> Bool {
        guard content.count >= 32 else { return false }
        let rate = Double(bitPattern: content.unsigned64(at: 0, isBigEndian: true))
        sampleRate = Int(exactly: rate.rounded()).map { max(0, $0) } ?? 0
        let numbers = (0..<8).map { Int(content.unsigned32(at: 4 * $0, isBigEndian: true)) }
        let (flags, packetSize, packetFrames) = (numbers[3], numbers[4], numbers[5])
        channelCount = numbers[6]
        let bytes = channelCount > 0 && packetSize.isMultiple(of: channelCount) ? packetSize / channelCount : 0
        let isBig = flags & 2 == 0
        switch String(decoding: content[8..<12], as: UTF8.self) {
        case "lpcm":
            let isWhole = packetFrames == 1 && numbers[7] <= 8 * bytes
            let encoding: PCMEncoding? = flags & 1 == 1 ? .float(bytes: bytes, isBig) : .integer(bytes: bytes, isBig)
            set(isWhole ? encoding : nil, "\(numbers[7])-bit samples in \(bytes) bytes")
        case "ulaw": set(nil, "µ-law", sampleSize: 1)
        case "alaw": set(nil, "A-law", sampleSize: 1)
        case let codec: set(nil, "the codec \(codec.printable)")
        }
        return true
    }

    // MARK: Tags

    private mutating func readTag(_ chunk: Chunk, _ reader: ChunkReader<Source>, _ layout: ChunkLayout) throws(Source.Failure) {
        switch (header.container, chunk.name) {
        case (_, "id3 "), (_, "ID3 "):
            guard header.id3 == nil, chunk.size > 0, let size else { break }
            header.id3 = chunk.offset..<max(chunk.offset, min(size, chunk.offset + min(chunk.size, size)))
        case (.wav, "LIST"):
            guard try reader.content(of: chunk, limit: 4).hasText("INFO", at: 0) else { break }
            var list = ChunkReader(source, layout: layout, from: chunk.offset + 4, to: chunk.offset + chunk.size, limit: 100)
            while let item = try list.next() {
                guard let key = Self.infoKeys[item.name] else { continue }
                setTag(key, try list.content(of: item, limit: Self.longestTag)[...])
            }
        case (.wav, "bext"):
            // EBU Tech 3285: the date of the recording follows texts of 256, 32 and 32 bytes.
            setTag("year", try reader.content(of: chunk, limit: 330).dropFirst(320))
        case (.aiff, "NAME"): setTag("title", try reader.content(of: chunk, limit: Self.longestTag)[...])
        case (.aiff, "AUTH"): setTag("artist", try reader.content(of: chunk, limit: Self.longestTag)[...])
        case (.caf, "info"):
            // A count, then keys and values that end with a zero.
            let content = try reader.content(of: chunk, limit: Self.longestTag).dropFirst(4)
            let texts = content.split(separator: 0, omittingEmptySubsequences: false)
            for index in stride(from: 0, to: texts.count - 1, by: 2) {
                setTag(String(decoding: texts[index], as: UTF8.self), texts[index + 1])
            }
        default: break
        }
    }

    private static var infoKeys: [String: String] {
        [
            "INAM": "title", "IART": "artist", "IPRD": "album", "ITRK": "track number", "IPRT": "track number", "IGNR": "genre",
            "ICRD": "year",
        ]
    }

    /// Bytes of a tag that are read at most.
    private static var longestTag: Int { 4 * SoundTags.longestText }

    /// - Parameter key: A key of CAF's `info` chunk. The first value of a key counts.
    private mutating func setTag(_ key: String, _ bytes: ArraySlice<UInt8>) {
        guard let text = SoundTags.text(of: bytes) else { return }
        switch key {
        case "title": header.tags.title = header.tags.title ?? text
        case "artist": header.tags.artist = header.tags.artist ?? text
        case "album": header.tags.album = header.tags.album ?? text
        case "track number": header.tags.track = header.tags.track ?? text
        case "genre": header.tags.genre = header.tags.genre ?? text
        case "year", "recorded date": header.tags.year = header.tags.year ?? SoundTags.year(of: text)
        default: break
        }
    }
}

extension WaveFormat {
    /// The codec of a format tag, for messages.
    fileprivate func codecName(_ tag: Int) -> String {
        switch tag {
        case 2: "Microsoft ADPCM"
        case Self.aLaw: "A-law"
        case Self.muLaw: "µ-law"
        case 0x11: "IMA ADPCM"
        case 0x31: "GSM 6.10"
        case 0x50, 0x55: "MP3"
        default: "a codec (format 0x\(String(tag, radix: 16)))"
        }
    }
}

extension PCMEncoding {
    /// Signed integers of a number of bytes; nil: not supported.
    fileprivate static func integer(bytes: Int, _ isBigEndian: Bool) -> PCMEncoding? {
        switch bytes {
        case 1: .s8
        case 2: isBigEndian ? .s16be : .s16le
        case 3: isBigEndian ? .s24be : .s24le
        case 4: isBigEndian ? .s32be : .s32le
        default: nil
        }
    }

    /// Floats of a number of bytes; nil: not supported.
    fileprivate static func float(bytes: Int, _ isBigEndian: Bool) -> PCMEncoding? {
        switch bytes {
        case 4: isBigEndian ? .f32be : .f32le
        case 8: isBigEndian ? .f64be : .f64le
        default: nil
        }
    }
}

extension String {
    /// With a question mark for each character that a terminal could not show.
    fileprivate var printable: String { String(map { $0.isASCII && ("!"..."~").contains($0) ? $0 : "?" }) }
}

extension [UInt8] {
    /// The integer part of an 80-bit floating-point number, the type of AIFF's sample rate; 0 for negative numbers and fractions.
    fileprivate func extended80(at offset: Int) -> Int {
        let exponent = Int(unsigned16(at: offset, isBigEndian: true) & 0x7fff) - 16383
        let mantissa = unsigned64(at: offset + 2, isBigEndian: true)
        guard self[offset] & 0x80 == 0, (0...62).contains(exponent) else { return exponent > 62 ? Int.max : 0 }
        return Int(mantissa >> UInt64(63 - exponent))
    }
}
