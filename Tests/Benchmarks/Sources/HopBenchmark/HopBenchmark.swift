import Hemiola
import HemiolaEngine
import HemiolaPlugins

/// Times the analysis and each sink by themselves: nanoseconds per hop and batches per second.
///
/// The source is a capture that hands out the same second of noise over and over from memory, so that neither decoding nor
/// the disk is in the figures.
@main
struct HopBenchmark {
    static func main() async throws {
        print("analysis alone (levels + 64-band spectrum, stereo, no sink):")
        for frames in [256, 512, 1024, 2048, 4096] {
            let seconds = try await time(batch: frames, sinks: [])
            let hops = Double(NoiseCapture.totalFrames) / Double(min(frames, 1024))
            print("  batch \(pad(frames))  \(pad(Int(seconds / hops * 1e9))) ns per hop")
        }
        let bare = try await time(batch: 1024, sinks: [])
        print("sinks (analysis taken off):")
        for sink in ["json-lines:/dev/null", "json-lines:/dev/null,select=levels"] {
            let seconds = try await time(batch: 1024, sinks: [sink]) - bare
            let batches = Double(NoiseCapture.totalFrames) / 1024
            print("  \(sink): \(Int(batches / max(seconds, 1e-9))) batches per second")
        }
        print("a control (the analysis thread's processor time):")
        for (count, what, control) in ControlFlood.cases {
            let base = try await ControlFlood.run(presets: count, nil)
            let flooded = try await ControlFlood.run(presets: count, control)
            let nanoseconds = Int((flooded.seconds - base.seconds) / Double(max(1, flooded.controls)) * 1e9)
            print("  \(pad(count)) presets, \(what): \(pad(nanoseconds)) ns")
        }
    }

    /// Seconds of the best of five runs.
    private static func time(batch: Int, sinks: [String]) async throws -> Double {
        let registry = PluginRegistry.standard.adding(captures: [.noise])
        var configuration = PipelineConfiguration(
            captures: [PluginSpec("noise")], analyzers: [PluginSpec("levels"), PluginSpec("spectrum")],
            batchFrames: batch)
        configuration.sinks = try sinks.map { try PluginSpec(parsing: $0) }
        var best = Duration.seconds(1000)
        for _ in 0..<5 {
            let pipeline = try registry.assemble(configuration)
            let clock = ContinuousClock()
            let start = clock.now
            _ = await pipeline.run()
            best = min(best, clock.now - start)
        }
        return Double(best.components.seconds) + Double(best.components.attoseconds) * 1e-18
    }

    private static func pad(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: " ", count: max(0, 6 - text.count)) + text
    }
}

extension CapturePlugin {
    static let noise = CapturePlugin(PluginDescription("noise", "Ten minutes of noise from memory."), settings: NoSettings.self) { _ in
        NoiseCapture()
    }
}

/// Ten minutes of stereo noise.
final class NoiseCapture: Capture {
    static let totalFrames = 600 * 44_100
    private let noise: [Float]
    private var place = 0
    private var left = NoiseCapture.totalFrames

    init() {
        var state: UInt32 = 1
        noise = (0..<2 * 44_100).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Float(Int32(bitPattern: state)) / Float(Int32.max) * 0.5
        }
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) -> StreamSource {
        StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "noise", name: "noise", duration: 600)
    }

    func read(into samples: inout MutableSpan<Float>) -> ReadResult {
        let count = min(samples.count, noise.count - place, 2 * left)
        guard count > 0 else { return .end }
        let source = noise
        for index in 0..<count { samples[index] = source[place + index] }
        place = (place + count) % noise.count
        left -= count / 2
        return .frames(count / 2)
    }

    func close() {}
}
