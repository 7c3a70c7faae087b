import FileCapture
import FuzzSupport
import Glibc
import Hemiola

/// The capture must not start ffmpeg for every input that the other decoders refuse.
private let hidesFFmpeg: Bool = setenv("PATH", "/nonexistent", 1) == 0

/// Processor time to open a file and to read its first batches, in seconds, of all threads. Files of a few kilobytes take less
/// than 0.01 s.
private let timeLimit = 1.0
/// The largest number of bytes allocated at a time while a file is opened and read.
private let heapLimit: Int64 = 64 << 20
/// Number of reads. A gap or a change of format counts as one read.
private let readLimit = 8

extension Fuzzer {
    /// Any bytes as the header of a file with a little audio: opening and `readLimit` reads stay within `timeLimit` and `heapLimit`.
    ///
    /// Checksums of Ogg pages are recomputed. `FUZZ_SAVE=FILE` saves the decoded bytes to a file, for use in a test.
    func tryHeader(_ bytes: [UInt8]) {
        precondition(hidesFFmpeg)
        let bytes = OggPages.withChecksums(bytes)
        if let path = getenv("FUZZ_SAVE") { save(bytes, to: path) }
        let capture = makeCapture(.file, ["path": InputFile.path(holding: bytes)])
        let start = processorSeconds()
        heap_peak_start()
        readStart(of: capture)
        capture.close()
        let seconds = processorSeconds() - start
        require(seconds <= timeLimit, "the header costs \(seconds) s of processor time; the limit is \(timeLimit) s")
        require(heap_peak() <= heapLimit, "the header costs \(heap_peak()) bytes of memory; the limit is \(heapLimit)")
    }

    private func readStart(of capture: any Capture) {
        let source: StreamSource
        do throws(Problem) {
            source = try capture.open(FormatRequest())
        } catch {
            requireOneLine(error.message)
            countOutcome(error.message)
            return
        }
        require(source.format.isSupported, "\(source.format) is not analysed")
        if let duration = source.duration { require(duration.isFinite && duration >= 0, "the duration is \(duration) s") }
        countOutcome("\(source.format.channelCount) channels")
        var buffer = [Float](repeating: 0, count: 1024 * source.format.channelCount)
        do throws(Problem) {
            for _ in 0..<readLimit {
                var span = buffer.mutableSpan
                switch try capture.read(into: &span) {
                case .frames(let count): require((1...1024).contains(count), "\(count) frames in a room of 1024")
                case .gap(let gap):
                    require((0...1 << 40).contains(gap.frames), "a gap of \(gap.frames) frames")
                    countOutcome("\(gap.reason)")
                case .format(let format):
                    require(format.isSupported, "\(format) goes on in a format that is not analysed")
                    buffer = [Float](repeating: 0, count: 1024 * format.channelCount)
                case .idle: break
                case .device, .source: fatalError("a file is no device")
                case .end: return
                }
            }
        } catch {
            requireOneLine(error.message)
            countOutcome(error.message)
        }
    }

    /// Reports the decoder's result to libFuzzer, because the decoder is compiled without coverage. Digits are ignored: with rates and
    /// times, every message would be a new one.
    private func countOutcome(_ message: String) {
        var hash: UInt32 = 0x811c_9dc5
        for byte in message.utf8 where !(0x30...0x39).contains(byte) { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        count_outcome(hash)
    }

    private func processorSeconds() -> Double {
        var time = timespec()
        precondition(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private func save(_ bytes: [UInt8], to path: UnsafePointer<CChar>) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(file >= 0 && write(file, bytes, bytes.count) == bytes.count, "cannot write to FUZZ_SAVE")
        Glibc.close(file)
    }
}
