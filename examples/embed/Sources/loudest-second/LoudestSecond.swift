import Foundation
import Hemiola

/// Finds the loudest second of a stream, with a resolution of one batch.
///
/// A sink is called by one thread, in order: open, begin, write …, end, close.
final class LoudestSecond: Sink {
    /// Receives the start of that second in seconds, and its RMS level in dBFS.
    private let report: (_ start: Double, _ decibels: Double) -> Void
    private var start = 0.0
    private var decibels = -Double.infinity

    private var format = StreamFormat(sampleRate: 48_000, channelCount: 1)
    private var level = FeatureHandle(offset: 0, count: 0)
    /// The batches of the last second: the first frame of each, and its mean square multiplied by its number of frames.
    private var window: [(frame: Int64, energy: Double)] = []

    init(report: @escaping (_ start: Double, _ decibels: Double) -> Void) { self.report = report }

    func open(_ context: SinkContext) {}

    /// Reads from the header which column of a row has the level.
    func begin(_ stream: StreamHeader) throws(Problem) {
        guard let level = stream.layout.handle("levels", "rms_db") else {
            throw Problem("the loudest second needs the analyzer levels")
        }
        self.level = level
        format = stream.format
        window.removeAll()
    }

    func write(_ batches: BatchBlock) {
        for index in 0..<batches.count {
            let batch = batches[index]
            let meanSquare = pow(10, Double(batch.row[level.offset]) / 10)
            window.append((batch.frame, meanSquare * Double(batch.frameCount)))
            window.removeAll { batch.endFrame - $0.frame > Int64(format.sampleRate) }

            let current = 10 * log10(window.reduce(0) { $0 + $1.energy } / Double(format.sampleRate))
            if current > decibels, let first = window.first {
                decibels = current
                start = format.seconds(at: first.frame)
            }
        }
    }

    func end(_ summary: StreamSummary) { report(start, decibels) }
    func close() {}
}
