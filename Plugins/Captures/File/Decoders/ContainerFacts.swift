internal import HemiolaRecords

/// What the container of a file says about its first audio stream: the output of ffprobe, and what ffprobe leaves out.
struct ContainerFacts {
    /// ffmpeg's name of the codec; nil: there is no audio stream.
    var codec: String? { values["stream:codec_name"] }
    /// In Hz; nil when unknown.
    var sampleRate: Int? { values["stream:sample_rate"].flatMap { Int($0) } }
    /// Whether the sound ends where an edit list says so, and not with its last packet.
    var hasEditList: Bool { format == "mov" }

    /// The values by the section and name in lower case: `format:tag:title`. The first of equal names counts.
    private var values: [String: String] = [:]
    private var format: Substring { (values["format:format_name"] ?? "").prefix { $0 != "," } }

    /// The section and field names for ffprobe. It compares those of tags without regard to case.
    static let entries =
        "stream=codec_name,sample_rate,duration,start_time:stream_tags=DURATION,\(tagKeys):format=format_name,nb_streams,duration:"
        + "format_tags=\(tagKeys)"
    private static let tagKeys = "title,artist,album,track,genre,date,year"

    /// Formats whose header declares the length. For the others, ffmpeg estimates it from the bit rate, or from what it finds in the file.
    private static let declaring: Set<Substring> = [
        "aiff", "ape", "asf", "au", "caf", "flac", "flv", "matroska", "mov", "mpc", "mpc8", "oma", "rm", "tak", "tta", "w64", "wav", "wv",
    ]

    /// - Parameter text: The output of ffprobe: the line `[STREAM]`, lines such as `TAG:title=A song`, then the line `[FORMAT]` and its own.
    init(_ text: [UInt8]) {
        var section = "stream:"
        for line in text.split(separator: 0x0a) {
            if line.elementsEqual("[FORMAT]".utf8) { section = "format:" }
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = section + String(decoding: parts[0], as: UTF8.self).lowercased()
            if values[name] == nil { values[name] = SoundTags.text(of: parts[1]) }
        }
    }

    /// The tags of the file, or else those of the stream.
    var tags: SoundTags {
        func text(_ key: String) -> String? { values["format:tag:\(key)"] ?? values["stream:tag:\(key)"] }
        var tags = SoundTags()
        (tags.title, tags.artist, tags.album) = (text("title"), text("artist"), text("album"))
        (tags.track, tags.genre) = (text("track"), text("genre"))
        tags.year = (text("date") ?? text("year")).flatMap(SoundTags.year)
        return tags
    }

    /// The declared number of frames at a sample rate; nil when the container declares none, or more than a day.
    func declaredFrames(_ file: InputFile, rate: Int) -> Int64? {
        guard Self.declaring.contains(format), let seconds = declaredSeconds(file), seconds > 0, seconds < 100_000 else { return nil }
        return Int64((seconds * Double(rate)).rounded())
    }

    private func declaredSeconds(_ file: InputFile) -> Double? {
        let isOnlyStream = values["format:nb_streams"] == "1"
        if format == "asf" { return isOnlyStream ? file.windowsMediaSeconds : nil }
        if let seconds = seconds("stream:duration") { return seconds }
        let end = seconds("stream:tag:duration") ?? (isOnlyStream ? seconds("format:duration") : nil)
        // Matroska counts from the start of the file, and includes the start of Opus (pre-skip), which has times below 0.
        return format == "matroska" ? end.map { $0 - abs(seconds("stream:start_time") ?? 0) } : end
    }

    /// A number of seconds, or a time such as 00:00:19.794000000.
    private func seconds(_ name: String) -> Double? {
        let seconds = (values[name] ?? "N/A").split(separator: ":").reduce(0) { $0 * 60 + (Double($1) ?? .nan) }
        return seconds.isFinite ? seconds : nil
    }

    /// Whether the file ends before its container does, where no length is declared.
    func isCut(_ file: InputFile, end: Int64) -> Bool {
        switch format {
        case "ogg" where OggReader.missingLibrary() == nil:
            let reader = OggReader(file, max(0, end - 128 * 1024)..<end)
            while reader.next() != nil {}
            return reader.endsWithinPage
        case "avi":
            // The size of the first chunk. Recorders that are killed leave 0 or 0xffffffff.
            let size = file.bytes(at: 4, count: 4)[...].littleEndian
            return size < 0xffff_ffff && size + 8 > end
        default: return false
        }
    }
}

extension InputFile {
    /// The duration in the header of a Windows Media file. ffmpeg does not report it for a file of another size than declared.
    fileprivate var windowsMediaSeconds: Double? {
        let name: [UInt8] = [0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53, 0x65]
        let head = bytes(at: 0, count: 64 * 1024)
        guard let place = head.firstRange(of: name)?.lowerBound, head.count >= place + 92, head[place + 88] & 1 == 0 else { return nil }
        // A play duration in units of 100 ns, which includes the preroll, in milliseconds.
        return Double(head[place + 64..<place + 71].littleEndian) / 1e7 - Double(head[place + 80..<place + 87].littleEndian) / 1e3
    }
}

extension ArraySlice<UInt8> {
    /// The number in at most 7 bytes.
    var littleEndian: Int64 { reversed().reduce(0) { $0 << 8 | Int64($1) } }
}
