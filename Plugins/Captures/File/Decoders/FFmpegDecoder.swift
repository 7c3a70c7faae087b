internal import HemiolaPCM
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// Decodes what no other decoder reads (AAC, MPEG-4, Matroska, WavPack …) with the program ffmpeg, where it is installed.
///
/// ffmpeg writes WAV in 32-bit floating point to an unlinked file in `$TMPDIR`, which is then read like any other file: any number of
/// times, from any position.
///
/// The file may come from a stranger. ffmpeg gets it as an open descriptor, not by its name, may open nothing but files
/// (`-protocol_whitelist`), and reads only formats that hold the sound themselves (`-format_whitelist`): a playlist or a manifest would name
/// other files and addresses. Sound, memory and processor time are limited.
struct FFmpegDecoder: Sendable {
    /// A decoded file, and what its container declares.
    struct Output {
        /// WAV in 32-bit floating point, whose header declares no length: the sound ends with the file.
        var file: InputFile
        var tags: SoundTags
        /// The track that was decoded, of those of a file with several.
        var audioTrack: StreamSource.AudioTrack?
        /// The declared number of frames, at the rate of `file`; nil: none.
        var declaredFrames: Int64?
        /// See `Decoder`.
        var lengthTolerance: Int64
        var endDamage: Gap.Reason?
    }

    /// The names or paths of the programs. Without the second one, which examines the file, there are no tags and no declared length.
    var program = "ffmpeg"
    var probe = "ffprobe"
    /// The audio track to decode, 1…; nil: the default one.
    var track: Int?
    /// Seconds of processor time that a program may take beyond those in which it decodes at `leastSpeed`.
    var timeLimit = 60.0

    /// The lowest sample rate of sound, in Hz. A lower one in a header is false, and a few bytes would become hours.
    static let leastRate = 1000
    /// Decoded bytes per second of processor time, 256 KiB. The slowest decoders make a hundred times as many.
    private static let leastSpeed = 262_144.0
    /// Seconds by which a complete file may fall short of the declared length. The most of all encoders and containers of ffmpeg 5.1 are
    /// 0.064 s, a frame of Windows Media Audio; those of others reach 0.11 s.
    private static let tolerance = 0.2
    /// Bytes of messages and of ffprobe's output that are read.
    private static let longestText = 64 * 1024

    /// ffmpeg's names of the formats that are read: those that hold sound and name no other file.
    private static let formats =
        "3dostr,aa,aac,aax,ac3,acm,adp,ads,adx,aea,aiff,aix,alp,amr,amrnb,amrwb,apc,ape,apm,argo_asf,asf,ast,au,avi,avr,bfstm,binka,brstm,"
        + "caf,codec2,dcstr,derf,dsf,dss,dts,dtshd,dv,dxa,ea,eac3,flac,flv,fsb,fwse,genh,gxf,hca,hcom,iff,ilbc,ircam,iss,kvag,loas,matroska,"
        + "mca,mlp,mov,mp3,mpc,mpc8,mpeg,mpegts,msf,mtaf,musx,mxf,nistsphere,nsp,nut,ogg,oma,paf,pmp,pva,pvf,qcp,rm,rsd,rso,sbc,sds,sdx,"
        + "shn,smjpeg,sol,sox,svag,swf,tak,truehd,tta,vag,voc,vqf,w64,wav,wsd,wtv,wv,wve,xa,xvag,xwma"

    /// Decodes an audio stream of a file. Kills ffmpeg when the run is cancelled. Blocks until ffmpeg ends.
    ///
    /// - Parameter undecoded: The same file, for messages.
    func decode(_ file: InputFile, _ undecoded: UndecodedFile, isCancelled: () -> Bool) throws(Problem) -> Output {
        let ends = file.endsWithoutTags
        let facts = try examine(file, undecoded, end: ends.id3, isCancelled)
        if isCancelled() { throw undecoded.interrupted }
        var (source, end, map) = (file, ends.ape, "0:a:\(facts.track)")
        if facts.codec?.hasPrefix("amr_") == true, facts.hasEditList {
            // ffmpeg 5.1 decodes only the first of several frames that a sample in MPEG-4 holds. In a file of AMR they stand alone.
            let copy = ["-nostdin", "-v", "error"] + Self.input(end: end) + ["-map", map, "-c", "copy", "-f", "amr", "pipe:1"]
            source = try run(program, copy, file, undecoded, file.size + 16, isCancelled).output
            (end, map) = (source.size, "0:a:0")
        }
        // 4 GiB, 3 hours of stereo at 48 kHz, and the thousandfold size of the file up to 32 GiB. An hour of silence in WavPack has 1.3 GiB.
        let sizeLimit = 1 << 32 + min(file.size, 1 << 25) << 10
        // Checksums are compared, and packets that cannot be decoded make it end with a status other than 0.
        let options = ["-nostdin", "-v", "error", "-max_error_rate", "0", "-err_detect:a", "crccheck"]
        let rate = facts.sampleRate.flatMap(Self.supportedRate)
        let filters = facts.filters(file, outputRate: rate).joined(separator: ",")
        let encoding =
            Self.input(end: end) + ["-map", map, "-map_metadata", "-1", "-c:a", "pcm_f32le"] + (filters.isEmpty ? [] : ["-af", filters])
            + (rate.map { ["-ar", "\($0)"] } ?? []) + ["-bitexact", "-f", "wav", "pipe:1"]
        // ffmpeg's own decoder of Speex loses a last packet that is not full.
        let isSpeex = facts.codec == "speex"
        var result = try run(
            program, options + (isSpeex ? ["-c:a", "libspeex"] : []) + encoding, source, undecoded, sizeLimit, isCancelled)
        if isSpeex, result.output.size == 0 { result = try run(program, options + encoding, source, undecoded, sizeLimit, isCancelled) }
        let (exit, output, text) = result
        let message = String(decoding: text.bytes(at: 0, count: Self.longestText), as: UTF8.self)
        if case .signal(let number) = exit { throw undecoded.killed(by: number) }
        if !exit.isSuccess, message.contains(SystemCallError(.noSpace).description) {
            throw undecoded.noSpace(in: TemporaryFile.folder)
        }
        guard let header = PCMHeader.read(output, size: output.size).header, output.size > header.offset else {
            throw undecoded.notDecoded(
                facts.codec == nil ? Self.reason(message) : "none of its sound can be decoded: it is cut off or damaged")
        }
        let frameSize = Int64(4 * max(1, header.stream.channelCount))
        let frames = (output.size - header.offset) / frameSize
        var declared = facts.declaredFrames(file, rate: header.stream.sampleRate)
        // ffmpeg has no status for a wrong checksum. Two of its comparisons fail for whole files: those of WavPack's 32-bit integers, and ALS.
        let hasChecksum =
            facts.codec != "mp4als" && message.split(separator: "\n").contains { $0.contains("CRC") && !$0.contains("xtra bits") }
        // An error in the last packet does no harm where all that is declared is there.
        let isDamaged = hasChecksum || !exit.isSuccess && declared.map { frames < $0 } ?? true
        if let end = declared, frames > end {
            // Containers round, or count from the file's size. ffmpeg 5.1 delivers the last packet of an MPEG-4 file whole: at most the 4096
            // frames of Apple Lossless.
            declared = facts.hasEditList && frames - end <= 4096 ? end : nil
            if declared != nil { try? output.descriptor.truncate(to: header.offset + end * frameSize) }
        }
        return Output(
            file: output.resized(), tags: facts.tags,
            audioTrack: facts.trackCount > 1 ? StreamSource.AudioTrack(number: facts.track + 1, count: facts.trackCount) : nil,
            declaredFrames: declared,
            // At a low rate, the delay of an AAC encoder is longer: two packets of 2048 frames.
            lengthTolerance: max(4096, Int64(Double(header.stream.sampleRate) * Self.tolerance)),
            endDamage: facts.isCut(file, end: ends.ape) ? .truncatedFile : isDamaged ? .damagedFile : nil)
    }

    /// What ffprobe says about the audio streams; nothing when it is not installed or fails. Then ffmpeg decides.
    private func examine(
        _ file: InputFile, _ undecoded: UndecodedFile, end: Int64, _ isCancelled: () -> Bool
    ) throws(Problem) -> ContainerFacts {
        let options = ["-v", "quiet", "-select_streams", "a", "-show_entries", ContainerFacts.entries] + Self.input(end: end)
        let index = track.map { $0 - 1 }
        guard let (exit, output, _) = try? run(probe, options, file, undecoded, 1 << 20, isCancelled), exit.isSuccess else {
            return ContainerFacts([], track: index)
        }
        let facts = ContainerFacts(output.bytes(at: 0, count: Self.longestText), track: index)
        if let track, facts.trackCount > 0, track > facts.trackCount {
            throw FileError.noTrack(undecoded.path, track, of: facts.trackCount)
        }
        if ["unknown", "none"].contains(facts.codec) {
            throw undecoded.notDecoded("its audio codec is unknown, or it is encrypted")
        }
        if let rate = facts.sampleRate, rate < Self.leastRate { throw undecoded.notDecoded("its sample rate is \(rate) Hz") }
        if undecoded.signature == .unknown, !facts.isCertain(undecoded.path.pathExtension) {
            throw undecoded.notDecoded("its format is unknown")
        }
        return facts
    }

    /// The start of the standard input. Unlike `pipe:0`, it can be read from any position.
    private static func input(end: Int64) -> [String] {
        ["-protocol_whitelist", "file,subfile", "-format_whitelist", formats, "-i", "subfile,,start,0,end,\(end),,:/proc/self/fd/0"]
    }

    /// Runs a program until it ends.
    ///
    /// - Parameter sizeLimit: Bytes that it may write.
    /// - Returns: How the program ended, and what it wrote to standard output and standard error.
    private func run(
        _ program: String, _ arguments: [String], _ file: InputFile, _ undecoded: UndecodedFile, _ sizeLimit: Int64,
        _ isCancelled: () -> Bool
    ) throws(Problem) -> (exit: ProcessExit, output: InputFile, messages: InputFile) {
        let (output, messages) = (try InputFile.temporary(for: undecoded), try InputFile.temporary(for: undecoded))
        // In the group of this process: Ctrl-C also ends a decoder whose parent is killed.
        var spawn = Spawn(.named(program), arguments.map { Array($0.utf8) }, hasOwnGroup: false)
        // 512 MiB, ten times what ffmpeg takes for the formats of the tests.
        spawn.memory = 1 << 29
        spawn.descriptors = (file.descriptor.number, output.descriptor.number, messages.descriptor.number)
        let process: Int32
        do { process = try spawn.start() } catch {
            if error.code == .noSuchFileOrDirectory { throw undecoded.withoutFFmpeg }
            throw undecoded.notDecoded("\(program) cannot be started: \(error)")
        }
        while true {
            if let exit = ProcessExit.of(process, waits: false) { return (exit, output.resized(), messages.resized()) }
            let size = output.currentSize + messages.currentSize
            var problem: Problem?
            if size > sizeLimit {
                problem = undecoded.notDecoded("its \(file.size) bytes hold more than \(sizeLimit >> 30) GiB of sound")
            } else if MonotonicTime.processorTime(of: process) > timeLimit + Double(size) / Self.leastSpeed {
                problem = undecoded.notDecoded("processor time without sound: \(timeLimit) s")
            } else if isCancelled() {
                problem = undecoded.interrupted
            }
            if let problem {
                ProcessExit.kill(process)
                throw problem
            }
            MonotonicTime.sleep(for: 0.005)
        }
    }

    /// The rate by the smallest whole factor at which a stream is supported; nil: its own.
    private static func supportedRate(_ rate: Int) -> Int? {
        let rates = StreamFormat.sampleRates
        if rate > rates.upperBound {
            let least = (rate - 1) / rates.upperBound + 1
            return rate / ((least...rate / rates.lowerBound).first { rate.isMultiple(of: $0) } ?? least)
        }
        return rate > 0 && rate < rates.lowerBound ? rate * ((rates.lowerBound - 1) / rate + 1) : nil
    }

    /// Why nothing was decoded. Two reasons can be told from ffmpeg's messages only.
    private static func reason(_ message: String) -> String {
        if message.contains("moov atom not found") { return "it is truncated: its index (moov) is missing" }
        if message.contains("matches no streams") || message.isEmpty { return "it holds no audio" }
        return message.contains("Format not on whitelist") ? "its format is not a sound format" : "its content is damaged or unknown"
    }
}

extension InputFile {
    /// Creates a file without a name.
    fileprivate static func temporary(for undecoded: UndecodedFile) throws(Problem) -> InputFile {
        do { return InputFile(FileDescriptor(try TemporaryFile.create()), size: 0) } catch {
            throw undecoded.notDecoded("no temporary file in \(TemporaryFile.folder): \(error)")
        }
    }

    fileprivate var currentSize: Int64 { (try? descriptor.status().size).map { Int64($0) } ?? 0 }

    /// The same file with its current size.
    fileprivate func resized() -> InputFile { InputFile((try? descriptor.duplicate()) ?? FileDescriptor(-1), size: currentSize) }

    /// Where the file ends without an ID3v1 tag, and also without an APE tag before that one.
    ///
    /// ffmpeg decodes tags of a format without packets, such as AC-3. It reads APE tags of some formats, but not before an ID3v1 tag.
    fileprivate var endsWithoutTags: (id3: Int64, ape: Int64) {
        let end = size >= 128 && bytes(at: size - 128, count: 3).elementsEqual("TAG".utf8) ? size - 128 : size
        let footer = bytes(at: end - 32, count: 32)
        guard footer.starts(with: "APETAGEX".utf8) else { return (end, end) }
        // Without the header. A wrong size would cut the sound.
        let start = end - 32 - footer[12..<16].littleEndian
        return (end, bytes(at: start, count: 8).elementsEqual("APETAGEX".utf8) ? start : end - 32)
    }
}
