import Glibc
import Hemiola
import Synchronization
import TestSupport
import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct PCMCaptureTests {
    static let ramp = (0..<5_000).map { Float($0) / 8_192 }
    static let rampBytes = ramp.flatMap { $0.bitPattern.bytes() }
    static let stereo = "pcm:raw=f32le:44100:2"

    @Test func `raw samples: delivered unchanged`() throws {
        let recording = try record(Self.rampBytes, Self.stereo)
        #expect(recording.samples == Self.ramp)
        #expect(recording.gaps.isEmpty)
        #expect(
            recording.source
                == StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "pcm", name: "standard input"))
    }

    @Test func `pcm: not live`() throws {
        #expect(try PCMReader(settings("pcm")).isLive == false)
    }

    @Test(arguments: [1, 3, 7, 4_093])
    func `fragments of any size: the same samples`(fragment: Int) throws {
        let bytes = Array(Self.rampBytes[..<4_000])
        #expect(try record(bytes, Self.stereo, fragment: fragment, frames: 100).samples == Array(Self.ramp[..<1_000]))
        let wav = WAVBytes(encoding: .f32le, channelCount: 2, samples: bytes)
        #expect(try record(wav.bytes, fragment: fragment, frames: 1).samples == Array(Self.ramp[..<1_000]))
    }

    @Test func `frames of 3 bytes, more than the buffer holds: all samples`() throws {
        let bytes = (0..<(3 * ByteStream.capacity)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let recording = try record(bytes, "pcm:raw=s24le:48000:1", fragment: 50_001, frames: 1_000)
        #expect(recording.samples.count == ByteStream.capacity)
        #expect(recording.bits == (try record(bytes, "pcm:raw=s24le:48000:1", frames: 77)).bits)
    }

    @Test func `samples at an unaligned offset: the same values`() throws {
        let (bytes, floats) = samples(of: .f64le)
        // 12 + 8 + 16 + 8 + 6 + 8: the samples begin at byte 58.
        let wav = WAVBytes(encoding: .f64le, before: [("note", [1, 2, 3, 4, 5, 6])], samples: bytes)
        #expect(try record(wav.bytes).bits == floats.map(\.bitPattern))
    }

    // MARK: - End of the stream

    @Test(arguments: [1, 4, 7])
    func `raw samples that end within a frame: a gap of 0 frames`(extra: Int) throws {
        let recording = try record(Array(Self.rampBytes[..<(800 + extra)]), Self.stereo)
        #expect(recording.samples.count == 200)
        #expect(recording.gaps == [Gap(frames: 0, reason: .truncatedFile)])
    }

    @Test(arguments: [0, 1, 3, 8, 397])
    func `stream that ends before its declared length: a gap of the missing frames`(kept: Int) throws {
        let wav = WAVBytes(encoding: .s16le, channelCount: 2, declaredLength: 400, samples: Array(repeating: 1, count: kept))
        let recording = try record(kept % 2 == 1 ? Array(wav.bytes.dropLast()) : wav.bytes)
        #expect(recording.samples.count == kept / 4 * 2)
        #expect(recording.gaps == [Gap(frames: Int64(100 - kept / 4), reason: .truncatedFile)])
        #expect(recording.source.duration == 100.0 / 44_100)
    }

    @Test(arguments: 7...12)
    func `missing part of a declared frame: a gap of 0 frames`(kept: Int) throws {
        let wav = WAVBytes(encoding: .f32le, declaredLength: 11, samples: Array(repeating: 0, count: kept)).bytes
        let recording = try record(kept % 2 == 1 ? Array(wav.dropLast()) : wav)
        let held = min(kept, 11)
        #expect(recording.samples.count == min(2, held / 4))
        let gap: Int64? = held < 8 ? 1 : held < 11 ? 0 : nil
        #expect(recording.gaps == (gap.map { [Gap(frames: $0, reason: .truncatedFile)] } ?? []))
    }

    @Test(arguments: [1, 10])
    func `declared length reached while the writer stays: ends`(frames: Int) throws {
        let pipe = TestPipe()
        let wav = WAVBytes(samples: Array(repeating: 1, count: 2 * frames)).bytes
        _ = wav.withUnsafeBytes { write(pipe.writer, $0.baseAddress!, wav.count) }
        #expect(try Recording(PCMReader(settings("pcm"), descriptor: pipe.reader)).samples.count == frames)
        close(pipe.writer)
    }

    @Test(arguments: ["pcm", "pcm:raw=f32le:44100:2"])
    func `empty input: an error`(spec: String) {
        #expect(failure([], spec) == "standard input is empty (0 bytes); check whether the program before the pipe failed")
    }

    @Test func `header without samples: ends at once`() throws {
        let recording = try record(WAVBytes(declaredLength: 0xffff_ffff).bytes)
        #expect(recording.samples.isEmpty && recording.gaps.isEmpty)
    }

    // MARK: - Waiting

    @Test func `writer that pauses: idle within 0.1 s`() throws {
        let pipe = TestPipe()
        let capture = try PCMReader(settings(Self.stereo), descriptor: pipe.reader)
        _ = try capture.open(FormatRequest())
        var buffer = [Float](repeating: 0, count: 64)
        func read() throws -> ReadResult {
            var span = buffer.mutableSpan
            return try capture.read(into: &span)
        }
        let start = ContinuousClock.now
        #expect(try read() == .idle)
        let waited = ContinuousClock.now - start
        #expect(waited > .milliseconds(80) && waited < .seconds(5))
        // 12 bytes are needed to check for a WAV header, which is one and a half frames.
        for (count, delivery) in [(8, ReadResult.idle), (5, .frames(1)), (2, .idle), (2, .frames(1))] {
            _ = Self.rampBytes.withUnsafeBytes { write(pipe.writer, $0.baseAddress!, count) }
            #expect(try read() == delivery, "after \(count) bytes more")
        }
        close(pipe.writer)
        #expect(try read() == .gap(Gap(frames: 0, reason: .truncatedFile)))
        #expect(try read() == .end)
        #expect(try read() == .end)
        capture.close()
    }

    @Test func `slow writer of a header: open waits`() throws {
        let pipe = TestPipe()
        let state = Mutex((rest: WAVBytes(samples: Array(repeating: 1, count: 20)).bytes[...], questions: 0))
        // Every second time that it asks, after it has waited in vain, it gets a part of the header, and at last all else.
        let request = FormatRequest(isCancelled: {
            state.withLock { state in
                state.questions += 1
                guard state.questions.isMultiple(of: 2), !state.rest.isEmpty else { return }
                let part = state.rest.prefix(state.questions < 8 ? 13 : .max)
                _ = part.withUnsafeBytes { write(pipe.writer, $0.baseAddress!, part.count) }
                state.rest = state.rest.dropFirst(part.count)
                if state.rest.isEmpty { close(pipe.writer) }
            }
            return false
        })
        #expect(try Recording(PCMReader(settings("pcm"), descriptor: pipe.reader), request).samples.count == 10)
        #expect(state.withLock { $0.questions } >= 8)
    }

    // MARK: - Paths

    @Test func `path in /dev/fd: read as a pipe`() throws {
        let pipe = TestPipe(Self.rampBytes)
        let recording = try Recording(PCMReader(settings("pcm:/dev/fd/\(pipe.reader),raw=f32le:44100:2")))
        #expect(recording.samples == Self.ramp)
        #expect(recording.source.name == "/dev/fd/\(pipe.reader)")
    }

    @Test func `FIFO without a writer: idle, then its frames`() throws {
        let file = TemporaryFile([])
        let path = "\(file.path).fifo"
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let capture = try PCMReader(settings("pcm:\(path),raw=f32le:44100:2"))
        _ = try capture.open(FormatRequest())
        var buffer = [Float](repeating: 0, count: 64)
        do {
            var span = buffer.mutableSpan
            #expect(try capture.read(into: &span) == .idle)
        }
        let writer = open(path, O_WRONLY)
        _ = Self.rampBytes.withUnsafeBytes { write(writer, $0.baseAddress!, 16) }
        close(writer)
        var span = buffer.mutableSpan
        #expect(try capture.read(into: &span) == .frames(2))
        #expect(try capture.read(into: &span) == .end)
        capture.close()
    }

    private final class Messages: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// A FIFO that is read as in a live run.
    private final class LiveFIFO {
        let path: String
        let capture: PCMReader
        let messages = Messages()
        private let file = TemporaryFile([])

        init(_ raw: String = "") throws {
            path = "\(file.path).fifo"
            try #require(mkfifo(path, 0o600) == 0)
            capture = try PCMReader(settings("pcm:\(path)\(raw)"))
        }

        deinit { unlink(path) }

        func open() throws -> StreamSource {
            try capture.open(FormatRequest(waitsForWriters: true, warn: { [messages] text in messages.lines.withLock { $0.append(text) } }))
        }

        func write(_ bytes: [UInt8]) {
            let writer = Glibc.open(path, O_WRONLY)
            _ = bytes.withUnsafeBytes { Glibc.write(writer, $0.baseAddress, bytes.count) }
            close(writer)
        }

        /// The next result that is not `.idle`, and its samples.
        func next() throws -> (ReadResult, [Float]) {
            var buffer = [Float](repeating: 0, count: 64)
            while true {
                var span = buffer.mutableSpan
                let result = try capture.read(into: &span)
                if case .frames(let count) = result { return (result, Array(buffer[..<(2 * count)])) }
                if result != .idle { return (result, []) }
            }
        }

        func isIdle() throws -> Bool {
            var buffer = [Float](repeating: 0, count: 64)
            var span = buffer.mutableSpan
            return try capture.read(into: &span) == .idle
        }
    }

    @Test func `FIFO in a live run: the next writer goes on after a gap, at the start of a frame`() throws {
        let fifo = try LiveFIFO(",raw=f32le:44100:2")
        _ = try fifo.open()
        #expect(try fifo.isIdle())
        // Half a frame is left.
        fifo.write(Array(Self.rampBytes[..<20]))
        #expect(try fifo.next() == (.frames(2), Array(Self.ramp[..<4])))
        for _ in 0..<3 { #expect(try fifo.isIdle()) }
        for _ in 0..<2 {
            fifo.write(Array(Self.rampBytes[16..<32]))
            #expect(try fifo.next() == (.gap(Gap(frames: 0, reason: .suspended)), []))
            #expect(try fifo.next() == (.frames(2), Array(Self.ramp[4..<8])))
            #expect(try fifo.isIdle())
        }
        #expect(fifo.messages.lines.withLock { $0 } == ["waiting for sound in \(fifo.path)"])
        fifo.capture.close()
    }

    @Test func `FIFO in a live run with headers: each writer has its own, and another format is a new stream`() throws {
        let fifo = try LiveFIFO()
        let wav = WAVBytes(encoding: .f32le, channelCount: 2, samples: Array(Self.rampBytes[..<16])).bytes
        let writer = try startWriter(fifo.path, wav)
        #expect(try fifo.open().format.channelCount == 2)
        #expect(try fifo.next() == (.frames(2), Array(Self.ramp[..<4])))
        #expect(writer.join() == wav.count)
        // The end of what is declared, then that of the writer.
        for _ in 0..<2 { #expect(try fifo.isIdle()) }
        fifo.write(wav)
        #expect(try fifo.next().0 == .gap(Gap(frames: 0, reason: .suspended)))
        #expect(try fifo.next().0 == .frames(2))
        for _ in 0..<2 { #expect(try fifo.isIdle()) }
        fifo.write(WAVBytes(encoding: .f32le, channelCount: 1, samples: Array(Self.rampBytes[..<16])).bytes)
        #expect(try fifo.next().0 == .format(StreamFormat(sampleRate: 44_100, channelCount: 1)))
        #expect(try fifo.next().0 == .frames(4))
        fifo.capture.close()
    }

    /// Writes to a FIFO that nobody reads yet.
    private func startWriter(_ path: String, _ bytes: [UInt8]) throws -> WorkerThread<Int> {
        try WorkerThread(for: "a test") {
            let writer = open(path, O_WRONLY)
            defer { close(writer) }
            return bytes.withUnsafeBytes { write(writer, $0.baseAddress, bytes.count) }
        }
    }

    @Test func `file without a declared length: the duration by its size`() throws {
        let raw = TemporaryFile(Self.rampBytes)
        let recording = try Recording(PCMReader(settings("pcm:\(raw.path),raw=f32le:44100:2")))
        #expect(recording.samples == Self.ramp)
        #expect(recording.source.duration == 2_500.0 / 44_100)
        let wav = TemporaryFile(WAVBytes(encoding: .f32le, declaredLength: .max, samples: Self.rampBytes).bytes)
        #expect(try Recording(PCMReader(settings("pcm:\(wav.path)"))).source.duration == 5_000.0 / 44_100)
    }

    @Test func `missing path, directory or closed descriptor: an error with its name`() throws {
        let missing = #expect(throws: Problem.self) { try Recording(PCMReader(settings("pcm:/no/such/pipe"))) }
        #expect(missing?.message == "cannot open /no/such/pipe: No such file or directory")
        let directory = #expect(throws: Problem.self) { try Recording(PCMReader(settings("pcm:/tmp"))) }
        #expect(directory?.message == "/tmp is a directory; specify a pipe or a file")
        let closed = #expect(throws: Problem.self) { try Recording(PCMReader(settings("pcm"), descriptor: 999)) }
        #expect(closed?.message.hasPrefix("cannot read standard input: it is closed") == true)
    }

    @Test func `terminal: refused with an example of a pipe`() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0, "this machine has no pseudo-terminals")
        defer { close(terminal) }
        let error = #expect(throws: Problem.self) { try Recording(PCMReader(settings("pcm"), descriptor: terminal)) }
        #expect(
            error?.message
                == "standard input is a terminal; pipe audio into it, for example ffmpeg -v error -i FILE -f wav - | hemiola analyze -")
    }

    // MARK: - Second pass

    @Test(arguments: [0, 10, 2_500])
    func `spooled stream after a rewind: the same samples`(framesBefore: Int) throws {
        let wav = WAVBytes(encoding: .f32le, channelCount: 2, declaredLength: .max, samples: Self.rampBytes)
        let pipe = TestPipe(wav.bytes, fragment: 1_001)
        let capture = try SpooledPCMReader(settings("pcm:spool=true"), descriptor: pipe.reader)
        _ = try capture.open(FormatRequest())
        var buffer = [Float](repeating: 0, count: 20)
        var count = 0
        while count < framesBefore {
            var span = buffer.mutableSpan
            if case .frames(let frames) = try capture.read(into: &span) { count += frames }
        }
        try capture.rewind()
        var recording = try Recording(OpenedCapture(capture))
        #expect(recording.samples == Self.ramp)
        try capture.rewind()
        recording.samples = []
        try recording.read(capture)
        #expect(recording.samples == Self.ramp)
        capture.close()
    }

    @Test func `file after a rewind: the same samples`() throws {
        let file = TemporaryFile(Self.rampBytes)
        let capture = try SpooledPCMReader(settings("pcm:\(file.path),raw=f32le:44100:2,spool=true"))
        _ = try capture.open(FormatRequest())
        var recording = try Recording(OpenedCapture(capture))
        try capture.rewind()
        try recording.read(capture)
        #expect(recording.samples == Self.ramp + Self.ramp)
        capture.close()
    }

    @Test func `rewindable: only with spool=true`() throws {
        for (spec, isRewindable) in [("pcm", false), ("pcm:-,spool=yes", true)] {
            let values = try CapturePlugin.pcm.about.values(parsing: spec)
            #expect(try CapturePlugin.pcm.make(values) is any RewindableCapture == isRewindable)
        }
    }
}

/// Wraps an open capture: open and close have no effect.
private final class OpenedCapture: Capture {
    private let base: any Capture
    var isLive: Bool { false }

    init(_ base: any Capture) { self.base = base }
    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "pcm", name: "opened")
    }
    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult { try base.read(into: &samples) }
    func close() {}
}
