import Hemiola
import HemiolaSignal
import TestSupport
import Testing

@testable import PCMCapture

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@Suite struct PCMCaptureTests {
    static let ramp = (0..<5_000).map { Float($0) / 8_192 }
    static let rampBytes = ramp.flatMap { $0.bitPattern.bytes() }
    static let stereo = "pcm:raw=f32le:44100:2"

    @Test func `raw samples arrive as they were sent`() throws {
        let heard = try hear(Self.rampBytes, Self.stereo)
        #expect(heard.samples == Self.ramp)
        #expect(heard.gaps.isEmpty)
        #expect(
            heard.source
                == StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "pcm", name: "standard input"))
    }

    @Test func `it is not live`() throws {
        #expect(try PCMCapture(settings("pcm")).isLive == false)
    }

    @Test(arguments: [1, 3, 7, 4_093])
    func `fragments of any size change nothing`(fragment: Int) throws {
        let bytes = Array(Self.rampBytes[..<4_000])
        #expect(try hear(bytes, Self.stereo, fragment: fragment, frames: 100).samples == Array(Self.ramp[..<1_000]))
        let wav = WAVBytes(encoding: .f32le, channelCount: 2, samples: bytes)
        #expect(try hear(wav.bytes, fragment: fragment, frames: 1).samples == Array(Self.ramp[..<1_000]))
    }

    @Test func `more than the buffer holds comes through, in frames of 3 bytes`() throws {
        let bytes = (0..<(3 * ByteStream.capacity)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let heard = try hear(bytes, "pcm:raw=s24le:48000:1", fragment: 50_001, frames: 1_000)
        #expect(heard.samples.count == ByteStream.capacity)
        #expect(heard.bits == (try hear(bytes, "pcm:raw=s24le:48000:1", frames: 77)).bits)
    }

    @Test func `samples that do not begin at an even place are read all the same`() throws {
        let (bytes, floats) = samples(of: .f64le)
        // 12 + 8 + 16 + 8 + 6 + 8: the samples begin at byte 58.
        let wav = WAVBytes(encoding: .f64le, before: [("note", [1, 2, 3, 4, 5, 6])], samples: bytes)
        #expect(try hear(wav.bytes).bits == floats.map(\.bitPattern))
    }

    // MARK: - Ends

    @Test(arguments: [1, 4, 7])
    func `raw samples that end within a frame end with a gap of no frames`(extra: Int) throws {
        let heard = try hear(Array(Self.rampBytes[..<(800 + extra)]), Self.stereo)
        #expect(heard.samples.count == 200)
        #expect(heard.gaps == [Gap(frames: 0, reason: .truncatedFile)])
    }

    @Test(arguments: [0, 1, 3, 8, 397])
    func `a stream that promised more ends with what is missing`(kept: Int) throws {
        let wav = WAVBytes(encoding: .s16le, channelCount: 2, claimedLength: 400, samples: Array(repeating: 1, count: kept))
        let heard = try hear(kept % 2 == 1 ? Array(wav.bytes.dropLast()) : wav.bytes)
        #expect(heard.samples.count == kept / 4 * 2)
        #expect(heard.gaps == [Gap(frames: Int64(100 - kept / 4), reason: .truncatedFile)])
        #expect(heard.source.duration == 100.0 / 44_100)
    }

    @Test(arguments: 7...12)
    func `a part of a frame that was promised and is missing is a gap of no frames`(kept: Int) throws {
        let wav = WAVBytes(encoding: .f32le, claimedLength: 11, samples: Array(repeating: 0, count: kept)).bytes
        let heard = try hear(kept % 2 == 1 ? Array(wav.dropLast()) : wav)
        let held = min(kept, 11)
        #expect(heard.samples.count == min(2, held / 4))
        let gap: Int64? = held < 8 ? 1 : held < 11 ? 0 : nil
        #expect(heard.gaps == (gap.map { [Gap(frames: $0, reason: .truncatedFile)] } ?? []))
    }

    @Test(arguments: [1, 10])
    func `a promise is kept although the writer stays`(frames: Int) throws {
        let pipe = TestPipe()
        let wav = WAVBytes(samples: Array(repeating: 1, count: 2 * frames)).bytes
        _ = wav.withUnsafeBytes { write(pipe.writer, $0.baseAddress!, wav.count) }
        #expect(try Heard(PCMCapture(settings("pcm"), descriptor: pipe.reader)).samples.count == frames)
        close(pipe.writer)
    }

    @Test(arguments: ["pcm", "pcm:raw=f32le:44100:2"])
    func `an empty input is an error`(spec: String) {
        #expect(failure([], spec) == "standard input is empty: not one byte came; did the program before the pipe fail?")
    }

    @Test func `a header without samples is an end`() throws {
        let heard = try hear(WAVBytes(claimedLength: 0xffff_ffff).bytes)
        #expect(heard.samples.isEmpty && heard.gaps.isEmpty)
    }

    // MARK: - Waiting

    @Test func `a writer that sleeps is heard as idle, within a tenth of a second`() throws {
        let pipe = TestPipe()
        let capture = PCMCapture(try settings(Self.stereo), descriptor: pipe.reader)
        _ = try capture.open(FormatWish())
        var buffer = [Float](repeating: 0, count: 64)
        func read() throws -> Delivery {
            var span = buffer.mutableSpan
            return try capture.read(into: &span)
        }
        let start = ContinuousClock.now
        #expect(try read() == .idle)
        let waited = ContinuousClock.now - start
        #expect(waited > .milliseconds(80) && waited < .seconds(5))
        // Two frames are fewer than tell a WAV stream; the third makes up for it.
        for (count, delivery) in [(8, Delivery.idle), (5, .frames(1)), (2, .idle), (2, .frames(1))] {
            _ = Self.rampBytes.withUnsafeBytes { write(pipe.writer, $0.baseAddress!, count) }
            #expect(try read() == delivery, "after \(count) bytes more")
        }
        close(pipe.writer)
        #expect(try read() == .gap(Gap(frames: 0, reason: .truncatedFile)))
        #expect(try read() == .end)
        #expect(try read() == .end)
        capture.close()
    }

    @Test func `a header may take its time`() throws {
        let pipe = TestPipe(WAVBytes(samples: Array(repeating: 1, count: 20)).bytes, fragment: 13, pause: 20_000)
        #expect(try Heard(PCMCapture(settings("pcm"), descriptor: pipe.reader)).samples.count == 10)
    }

    // MARK: - Paths

    @Test func `a path in /dev/fd is a pipe like any other`() throws {
        let pipe = TestPipe(Self.rampBytes)
        let heard = try Heard(PCMCapture(settings("pcm:/dev/fd/\(pipe.reader),raw=f32le:44100:2")))
        #expect(heard.samples == Self.ramp)
        #expect(heard.source.name == "/dev/fd/\(pipe.reader)")
    }

    @Test func `a FIFO waits for its writer`() throws {
        let file = TemporaryFile([])
        let path = "\(file.path).fifo"
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let capture = PCMCapture(try settings("pcm:\(path),raw=f32le:44100:2"))
        _ = try capture.open(FormatWish())
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

    @Test func `a file knows how long it is even when its header does not`() throws {
        let raw = TemporaryFile(Self.rampBytes)
        let heard = try Heard(PCMCapture(settings("pcm:\(raw.path),raw=f32le:44100:2")))
        #expect(heard.samples == Self.ramp)
        #expect(heard.source.duration == 2_500.0 / 44_100)
        let wav = TemporaryFile(WAVBytes(encoding: .f32le, claimedLength: .max, samples: Self.rampBytes).bytes)
        #expect(try Heard(PCMCapture(settings("pcm:\(wav.path)"))).source.duration == 5_000.0 / 44_100)
    }

    @Test func `what cannot be read is named`() throws {
        let missing = #expect(throws: CaptureError.self) { try Heard(PCMCapture(settings("pcm:/no/such/pipe"))) }
        #expect(missing?.message == "cannot open /no/such/pipe: No such file or directory")
        let directory = #expect(throws: CaptureError.self) { try Heard(PCMCapture(settings("pcm:/tmp"))) }
        #expect(directory?.message == "/tmp is a directory; name a pipe or a file")
        let closed = #expect(throws: CaptureError.self) { try Heard(PCMCapture(settings("pcm"), descriptor: 999)) }
        #expect(closed?.message.hasPrefix("cannot read standard input: it is closed") == true)
    }

    @Test func `a terminal is asked for a pipe`() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0, "this machine has no pseudo-terminals")
        defer { close(terminal) }
        let error = #expect(throws: CaptureError.self) { try Heard(PCMCapture(settings("pcm"), descriptor: terminal)) }
        #expect(
            error?.message
                == "standard input is a terminal; pipe audio in, as in ffmpeg -v error -i FILE -f wav - | hemiola analyze -")
    }

    // MARK: - Twice

    @Test(arguments: [0, 10, 2_500])
    func `what was spooled is heard again, sample for sample`(framesBefore: Int) throws {
        let wav = WAVBytes(encoding: .f32le, channelCount: 2, claimedLength: .max, samples: Self.rampBytes)
        let pipe = TestPipe(wav.bytes, fragment: 1_001)
        let capture = SpooledPCMCapture(try settings("pcm:spool=true"), descriptor: pipe.reader)
        _ = try capture.open(FormatWish())
        var buffer = [Float](repeating: 0, count: 20)
        var count = 0
        while count < framesBefore {
            var span = buffer.mutableSpan
            if case .frames(let frames) = try capture.read(into: &span) { count += frames }
        }
        try capture.rewind()
        var heard = try Heard(TestOpened(capture))
        #expect(heard.samples == Self.ramp)
        try capture.rewind()
        heard.samples = []
        try heard.listen(to: capture)
        #expect(heard.samples == Self.ramp)
        capture.close()
    }

    @Test func `a file is heard again without a spool`() throws {
        let file = TemporaryFile(Self.rampBytes)
        let capture = SpooledPCMCapture(try settings("pcm:\(file.path),raw=f32le:44100:2,spool=true"))
        _ = try capture.open(FormatWish())
        var heard = try Heard(TestOpened(capture))
        try capture.rewind()
        try heard.listen(to: capture)
        #expect(heard.samples == Self.ramp + Self.ramp)
        capture.close()
    }

    @Test func `only a spooled stream claims to be rewindable`() throws {
        for (spec, isRewindable) in [("pcm", false), ("pcm:-,spool=yes", true)] {
            let values = try CapturePlugin.pcm.about.values(parsing: spec)
            #expect(try CapturePlugin.pcm.make(values) is any RewindableCapture == isRewindable)
        }
    }
}

/// A capture that is open already and stays so.
private final class TestOpened: Capture {
    private let base: any Capture
    var isLive: Bool { false }

    init(_ base: any Capture) { self.base = base }
    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "pcm", name: "opened")
    }
    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery { try base.read(into: &samples) }
    func close() {}
}
