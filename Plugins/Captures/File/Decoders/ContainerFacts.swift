internal import HemiolaPCM
internal import HemiolaRecords

/// What the container of a file says about its audio tracks: the output of ffprobe, and what ffprobe leaves out.
struct ContainerFacts {
    /// The values of the audio stream that is read, and of the file, by their names in lower case: `codec_name`, `tag:title`.
    private var stream: [String: String] = [:]
    private var container: [String: String] = [:]
    /// The stream that is read among those of audio, 0…
    private(set) var track: Int
    /// The number of audio streams; 0: unknown, or there is none.
    private(set) var trackCount = 0

    /// ffmpeg's name of the codec; nil: there is no audio stream.
    var codec: String? { stream["codec_name"] }
    /// In Hz; nil when unknown.
    var sampleRate: Int? { stream["sample_rate"].flatMap { Int($0) } }
    /// Whether the sound ends where an edit list says so, and not with its last packet.
    var hasEditList: Bool { format == "mov" }
    /// Whether the format is certain by content or name: ffmpeg takes almost anything for a stream of frames.
    func isCertain(_ fileExtension: String) -> Bool {
        (container["probe_score"].flatMap { Int($0) } ?? 100) > 25 || format.prefix(2) == fileExtension.prefix(2)
    }

    private var format: Substring { (container["format_name"] ?? "").prefix { $0 != "," } }
    private var isOnlyStream: Bool { container["nb_streams"] == "1" }

    /// The section and field names for ffprobe. It compares those of tags without regard to case.
    static let entries =
        "stream=index,codec_name,sample_rate,duration,start_time:stream_disposition=default:stream_tags=DURATION,\(tagKeys)"
        + ":format=format_name,nb_streams,duration,start_time,probe_score:format_tags=\(tagKeys)"
    private static let tagKeys = "title,artist,album,track,genre,date,year"

    /// Formats whose header declares the length. For the others, ffmpeg estimates it from the bit rate, or from what it finds in the file.
    private static let declaring: Set<Substring> = [
        "aiff", "ape", "au", "caf", "flac", "flv", "matroska", "mov", "mpc", "mpc8", "oma", "rm", "tak", "tta", "w64", "wav", "wv",
    ]

    /// - Parameters:
    ///   - text: The output of ffprobe: for each stream the line `[STREAM]` and lines such as `TAG:title=A song`, then the line `[FORMAT]`
    ///     and its own.
    ///   - track: The audio stream to read, 0…; nil: the default one, or else the first.
    init(_ text: [UInt8], track: Int?) {
        var streams: [[String: String]] = []
        var isOfStream = true
        for line in text.split(separator: 0x0a) {
            if line.elementsEqual("[STREAM]".utf8) { streams.append([:]) }
            if line.elementsEqual("[FORMAT]".utf8) { isOfStream = false }
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, let value = SoundTags.text(of: parts[1]) else { continue }
            let name = String(decoding: parts[0], as: UTF8.self).lowercased()
            if !isOfStream {
                if container[name] == nil { container[name] = value }
            } else if let last = streams.indices.last, streams[last][name] == nil {
                streams[last][name] = value
            }
        }
        // Streams of a program are listed twice.
        var indexes: Set<String> = []
        streams.removeAll { !indexes.insert($0["index"] ?? "").inserted }
        trackCount = streams.count
        self.track = track ?? streams.firstIndex { $0["disposition:default"] == "1" } ?? 0
        if self.track < trackCount { stream = streams[self.track] }
    }

    /// The tags of the file, or else those of the stream.
    var tags: SoundTags {
        func text(_ key: String) -> String? { container["tag:\(key)"] ?? stream["tag:\(key)"] }
        var tags = SoundTags()
        (tags.title, tags.artist, tags.album) = (text("title"), text("artist"), text("album"))
        (tags.track, tags.genre) = (text("track"), text("genre"))
        tags.year = (text("date") ?? text("year")).flatMap(SoundTags.year)
        return tags
    }

    /// The declared number of frames at a sample rate; nil when the container declares none, or more than a day.
    func declaredFrames(_ file: InputFile, rate: Int) -> Int64? {
        guard let seconds = declaredSeconds(file), seconds > 0, seconds < 100_000 else { return nil }
        return Int64(((seconds + delay) * Double(rate)).rounded())
    }

    private func declaredSeconds(_ file: InputFile) -> Double? {
        if let count = part(of: file)?.count, let sampleRate { return Double(count) / Double(sampleRate) }
        guard Self.declaring.contains(format) else { return nil }
        if let seconds = seconds("duration", of: stream) { return seconds }
        let end = seconds("tag:duration", of: stream) ?? (isOnlyStream ? seconds("duration", of: container) : nil)
        // Matroska counts from the start of the file, and includes the start of Opus (pre-skip), which has times below 0.
        return format == "matroska" ? end.map { $0 - abs(seconds("start_time", of: stream) ?? 0) } : end
    }

    /// A number of seconds, or a time such as 00:00:19.794000000.
    private func seconds(_ name: String, of values: [String: String]) -> Double? {
        let seconds = (values[name] ?? "N/A").split(separator: ":").reduce(0) { $0 * 60 + (Double($1) ?? .nan) }
        return seconds.isFinite ? seconds : nil
    }

    /// Seconds by which the sound begins later than the film, if they are more than 45 ms, which nobody notices (ITU-R BT.1359).
    private var delay: Double {
        guard let start = seconds("start_time", of: stream), let first = seconds("start_time", of: container) else { return 0 }
        return (0.045..<100_000).contains(start - first) ? start - first : 0
    }

    /// ffmpeg's filters that give the sound the time of the film, and remove what does not belong to it.
    func filters(_ file: InputFile, outputRate: Int?) -> [String] {
        guard let sampleRate else { return [] }
        var filters: [String] = []
        if let part = part(of: file) {
            filters.append("atrim=start_sample=\(part.start)" + (part.count.map { ":end_sample=\(part.start + $0)" } ?? ""))
        }
        if delay > 0 { filters.append("adelay=\(Int((delay * Double(sampleRate)).rounded()))S:all=1") }
        // The resampler delivers nothing of fewer frames than its filter has.
        if let outputRate, let count = declaredFrames(file, rate: outputRate), count < 1024 {
            filters.append("apad=pad_len=1024,aresample=\(outputRate),atrim=end_sample=\(count)")
        }
        return filters
    }

    /// The frames that are the sound, where ffmpeg does not remove the delay of the codec; a count of nil: all that follow.
    private func part(of file: InputFile) -> (start: Int64, count: Int64?)? {
        let part: (start: Int64, count: Int64?)? =
            switch codec {
            case "musepack7", "musepack8": file.musepackLength.map { (481, $0) }
            case "speex" where format == "ogg" && OggReader.missingLibrary() == nil: file.speexPart
            default: nil
            }
        guard let part, (0...DeclaredLength.maximumFrames).contains(part.count ?? 0) else { return nil }
        return part
    }

    /// Whether the file ends before its container does.
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
        case "asf": return file.windowsMediaEnd.map { $0 > end } ?? false
        case "flv": return file.endsWithinFlashTag(at: end)
        default: return false
        }
    }
}

extension InputFile {
    /// Where the last packet of a Windows Media file ends, by the number of packets and their size; nil for a broadcast.
    fileprivate var windowsMediaEnd: Int64? {
        let name: [UInt8] = [0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53, 0x65]
        let head = bytes(at: 0, count: 64 * 1024)
        guard let place = head.firstRange(of: name)?.lowerBound, head.count >= place + 100, head[place + 88] & 1 == 0 else { return nil }
        let (header, count, size) = (head.number(at: 16, 7), head.number(at: place + 56, 4), head.number(at: place + 92, 4))
        return count > 0 && header < self.size ? header + 50 + Int64(min(Double(count) * Double(size), 1e18)) : nil
    }

    /// Whether a Flash video ends within a tag: behind each is its size, and in front of it that of its content, which is 11 bytes less.
    fileprivate func endsWithinFlashTag(at end: Int64) -> Bool {
        func number(_ offset: Int64, _ count: Int) -> Int64 { bytes(at: offset, count: count).reduce(0) { $0 << 8 | Int64($1) } }
        let size = number(end - 4, 4)
        return size < 11 || size > end || number(end - 4 - size + 1, 3) + 11 != size
    }

    /// The frames of a Musepack file without the delay of its encoder and decoder, as libmpcdec counts them; nil: its header is damaged.
    fileprivate var musepackLength: Int64? {
        let head = bytes(at: id3Tags(in: 0..<size).start, count: 64)
        if head.hasText("MP+", at: 0), head.count == 64 {
            let (count, last) = (head.number(at: 4, 4) * 1152, head.number(at: 20, 4))
            return count - (last >> 31 == 1 ? 1152 - last >> 20 & 0x7ff : 481)
        }
        // Packets with a name of two letters and a size; the first one is the header: a checksum, the version, and the two lengths.
        guard head.hasText("MPCKSH", at: 0), let start = head[6...].firstIndex(where: { $0 < 0x80 }) else { return nil }
        var numbers: [Int64] = [0]
        for byte in head.dropFirst(start + 6) {
            numbers[numbers.count - 1] = numbers[numbers.count - 1] << 7 | Int64(byte & 0x7f)
            if byte < 0x80 { numbers.append(0) }
            if numbers.count == 3 { return max(0, numbers[0] &- numbers[1]) }
        }
        return nil
    }

    /// The frames of a Speex file without the delay of its encoder and decoder, as speexdec counts them.
    fileprivate var speexPart: (start: Int64, count: Int64?)? {
        let reader = OggReader(self, 0..<size)
        guard let first = reader.next(), first.body.starts(with: "Speex   ".utf8), first.body.count >= 80 else { return nil }
        let (head, serial) = (Array(first.body), first.serial)
        let (mode, frame, framesPerPacket) = (head.number(at: 40, 4), head.number(at: 56, 4), max(1, head.number(at: 64, 4)))
        guard (0...2).contains(mode), frame < 1 << 16, framesPerPacket < 1 << 16 else { return nil }
        let length = frame * framesPerPacket
        while let page = reader.next() {
            guard page.serial == serial, page.granule > 0 else { continue }
            // The position of the first page is that of its frames without the delay of the encoder.
            let delay = page.isLast ? 0 : max(0, page.packetCount * length - page.granule)
            return (delay > 0 ? delay + 40 << mode : 0, OggReader.lastGranule(self, 0..<size, serial: serial))
        }
        return nil
    }
}

extension [UInt8] {
    /// The little-endian number of at most 7 bytes at an offset, all of which are there.
    fileprivate func number(at offset: Int, _ count: Int) -> Int64 { self[offset..<offset + count].littleEndian }
}

extension ArraySlice<UInt8> {
    /// The number in at most 7 bytes.
    var littleEndian: Int64 { reversed().reduce(0) { $0 << 8 | Int64($1) } }
}
