import Foundation
import TestSupport
import Testing

/// Coarse limits for memory and start-up time. The benchmarks measure them.
@Suite(.serialized, .measures) struct FootprintTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The peak resident memory of analysing some minutes, in MB.
    private func peakMegabytes(minutes: Int, _ options: [String] = []) throws -> Double {
        // A low sample rate limits the run time of a debug build; memory depends on the number of batches.
        let rate = 8000
        let minute = TemporaryFolder.tone(frames: 60 * rate, rate: rate, channels: 2)
        var wave = WAVBytes(samples: [], sampleRate: rate, channelCount: 2)
        let sound = minute.sound
        wave.statedDataSize = UInt32(sound.count * minutes)
        wave.statedRIFFSize = UInt32(sound.count * minutes + 36)
        let file = try folder.write(wave.bytes, to: "long.wav")
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.seekToEnd()
        for _ in 0..<minutes { try handle.write(contentsOf: sound) }
        try handle.close()

        let process = try Hemiola.start(["analyze", file] + options)
        process.watchesMemory = true
        let outcome = try process.finish(timeout: 300)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let batches = (60 * rate * minutes + 1023) / 1024
        #expect(outcome.lines.count == batches + 2)
        try #require(outcome.peakMemory > 0)
        return Double(outcome.peakMemory) / 1e6
    }

    @Test func `memory of a whole file: at most 90 MB per hour`() throws {
        let growth = try peakMegabytes(minutes: 10) - peakMegabytes(minutes: 1)
        #expect(growth * 60 / 9 < 90, "\(growth) MB in nine minutes")
    }

    @Test func `memory, causal: within the limit, independent of the file's length`() throws {
        let short = try peakMegabytes(minutes: 1, ["--causal"])
        let long = try peakMegabytes(minutes: 10, ["--causal"])
        // The limit is for release builds, which make release-check measures; debug builds have a higher one.
        let bound = Hemiola.isRelease ? 30.0 : 60
        #expect(long < bound, "\(long) MB")
        #expect(abs(long - short) < 2, "\(short) MB for a minute, \(long) MB for ten")
    }

    @Test func `first record: within the time limit`() throws {
        let file = try folder.writeTone()
        // The best of several runs, because the machine has other work.
        let seconds = try (0..<5).map { _ in
            let start = Date()
            let process = try Hemiola.start(["analyze", file])
            _ = try #require(try process.readLine())
            let seconds = Date().timeIntervalSince(start)
            #expect(try process.finish().status == 0)
            return seconds
        }
        // The benchmarks check the limit of 25 ms; this test finds regressions of seconds.
        #expect(seconds.min()! < 1, "\(seconds)")
    }
}
