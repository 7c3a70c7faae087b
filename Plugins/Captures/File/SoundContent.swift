internal import HemiolaPCM
internal import HemiolaRecords

/// What a file holds and where it begins, by its bytes.
///
/// Players put ID3 tags before any format, sometimes two, and sometimes with a false size; recorders and editors leave zeros or other bytes
/// before the first frame. Decoders skip all of that.
struct SoundContent {
    /// The type of what begins after tags and other bytes.
    private(set) var signature: FileSignature
    /// The tags that the decoders do not read: those of ID3 and of containers of samples.
    private(set) var tags: SoundTags
    /// The decoder; nil: ffmpeg, or none.
    private(set) var choice: DecoderChoice?
    /// Why there is none although the type is known.
    private(set) var refusal: String?
    /// Why libsndfile takes the place of the decoder of the type; nil: it does not.
    private(set) var missingLibrary: String?

    /// Bytes after the tags in which sound is searched for.
    private static let searchLength: Int64 = 1 << 20

    /// - Parameter path: Its extension tells whether other bytes may precede the sound.
    init(of file: InputFile, named path: String) {
        var start: Int64
        (tags, start) = file.id3Tags(in: 0..<file.size)
        // A tag whose size is false ends behind the file: then the sound begins somewhere in it.
        if start == 0, file.bytes(at: 0, count: 10).id3Size != nil { start = min(10, file.size) }
        signature = FileSignature(file.bytes(at: start, count: 1024))
        if signature == .mpeg, file.firstMPEGFrame(from: start, to: file.size, within: 1, count: 2) == nil { signature = .unknown }
        // Quiet samples of 16 bits contain bytes that look like frames, and so do images: only behind a tag, or in a file with such a name,
        // there is MPEG audio or FLAC behind anything. Elsewhere a frame has to follow zeros.
        let isSearched = start > 0 || ["mp1", "mp2", "mp3", "mpga", "aac", "flac"].contains(path.pathExtension)
        if isSearched, signature.mayPrecedeSound || start > 0 && !signature.mayBeSound {
            search(file, &start)
            if start > 0, signature == .unknown { signature = .other("sound behind a tag") }
        } else if signature.mayPrecedeSound, let next = file.bytes(at: 0, count: Int(Self.searchLength)).firstIndex(where: { $0 != 0 }) {
            let (found, next) = (FileSignature(file.bytes(at: Int64(next), count: 4)), Int64(next))
            let isFrame = found == .mpeg && file.firstMPEGFrame(from: next, to: file.size, within: 1) != nil
            if next > 0, isFrame || found == .flac { (signature, start) = (found, next) }
        }
        // Frames of FLAC without the start of the file: libFLAC finds the first.
        if signature == .unknown, path.pathExtension == "flac" { signature = .flac }
        choose(file, start..<file.size)
    }

    /// Searches for the first frame of MPEG audio, or the start of a FLAC file.
    private mutating func search(_ file: InputFile, _ start: inout Int64) {
        let mpeg = file.firstMPEGFrame(from: start, to: file.size, within: Self.searchLength, mayEnd: false)?.offset
        let flac = file.bytes(at: start, count: 1 << 16).firstRange(of: Array("fLaC".utf8)).map { start + Int64($0.lowerBound) }
        if let flac, flac < mpeg ?? .max {
            (signature, start) = (.flac, flac)
        } else if let mpeg {
            (signature, start) = (.mpeg, mpeg)
        }
    }

    private mutating func choose(_ file: InputFile, _ range: Range<Int64>) {
        switch signature {
        case .samples: chooseForSamples(file, range)
        case .flac: choose(.flac(range, isOgg: false), unless: FLACDecoder.missingLibrary(), range)
        case .mpeg: choose(.mpeg(range), unless: MPEGDecoder.missingLibrary(), range)
        case .ogg:
            if let missing = OggReader.missingLibrary() { return choose(.ogg(range), unless: missing, range) }
            switch OggCodec(file, range) {
            case .flac: choose(.flac(range, isOgg: true), unless: FLACDecoder.missingLibrary(), range)
            case .vorbis, .opus: choose(.ogg(range), unless: nil, range)
            case nil: break
            }
        // libsndfile reads some types without a signature of ours, such as VOC.
        case .unknown: choice = .sndFile(range, nil)
        case .other, .notAudio: break
        }
    }

    private mutating func choose(_ choice: DecoderChoice, unless missing: String?, _ range: Range<Int64>) {
        missingLibrary = missing
        self.choice = missing == nil ? choice : .sndFile(range, nil)
    }

    /// A container of samples, or of a codec.
    private mutating func chooseForSamples(_ file: InputFile, _ range: Range<Int64>) {
        let outcome = PCMHeader.read(file, from: range.lowerBound, size: file.size)
        guard let header = outcome.header else {
            // libsndfile reads the containers that only it knows.
            if outcome == .otherFormat { choice = .sndFile(range, nil) } else { refusal = "its header is incomplete or damaged" }
            return
        }
        let others = tags
        tags = header.tags
        if let id3 = header.id3 { tags.fill(from: file.id3Tags(in: id3).tags) }
        tags.fill(from: others)
        switch header.encoding {
        case .pcm: choice = .pcm(header)
        case .other(_, formatTag: 0x50), .other(_, formatTag: 0x55):
            let end = header.byteCount.map { min(header.offset + $0, file.size) } ?? file.size
            choose(.mpeg(header.offset..<max(header.offset, end)), unless: MPEGDecoder.missingLibrary(), range)
        case .other: choice = .sndFile(range, header)
        }
    }
}
