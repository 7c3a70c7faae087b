import Foundation
import Hemiola
import HemiolaSignal

/// Takes the batches of a stream and keeps the loudest second of them, to a batch.
///
/// A sink is called from one task, in order: open, begin, write …, end, close.
actor LoudestSecond: Sink {
    /// Where that second begins, and its RMS level.
    private(set) var start = 0.0
    private(set) var decibels = -Double.infinity

    private var format = StreamFormat(sampleRate: 48_000, channelCount: 1)
    private var level = FeatureHandle(offset: 0, count: 0)
    /// The batches of the last second: where each begins, and its mean square times its frames.
    private var window: [(frame: Int64, energy: Double)] = []

    func open(_ context: SinkContext) {}

    /// The header says which column of a row holds what.
    func begin(_ stream: StreamHeader) throws(SinkError) {
        guard let level = stream.layout.handle("levels", "rms_db") else {
            throw SinkError("the loudest second cannot be found without the analyzer levels")
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

            let heard = 10 * log10(window.reduce(0) { $0 + $1.energy } / Double(format.sampleRate))
            if heard > decibels, let first = window.first {
                decibels = heard
                start = format.seconds(at: first.frame)
            }
        }
    }

    func end(_ summary: StreamSummary) {}
    func close() {}
}
