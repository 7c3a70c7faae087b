import Foundation
import HemiolaRecords
import HemiolaSignal

/// Passes a signal hop by hop to a closure, with the spectra of these outputs, as the engine does. The last hop is padded with zeros.
func forEachHop(
    of samples: [Float], sampleRate: Int, hopFrames: Int = 1024, _ outputs: AnalyzerOutputs, _ body: (borrowing Hop) -> Void
) {
    let bank = SpectrumBank(outputs.spectra, hopFrames: hopFrames, sampleRate: sampleRate)
    let slots = bank.slots(0..<outputs.spectra.count)
    let format = StreamFormat(sampleRate: sampleRate, channelCount: 1)
    for first in stride(from: 0, to: samples.count, by: hopFrames) {
        let count = min(hopFrames, samples.count - first)
        let mono = Array(samples[first..<first + count]) + [Float](repeating: 0, count: hopFrames - count)
        bank.advance(mono.span, at: Int64(first), frameCount: count)
        body(
            Hop(
                frame: Int64(first), frameCount: count, indexInBatch: 0, format: format, mono: mono.span,
                samples: mono.span.extracting(first: count), slots: slots.span))
    }
}

/// A sum of sines, each a pair of hertz and amplitude.
func sines(_ partials: [[Double]], seconds: Double, sampleRate: Int) -> [Float] {
    (0..<Int(seconds * Double(sampleRate))).map { frame in
        Float(partials.reduce(0) { $0 + $1[1] * sin(2 * .pi * $1[0] * Double(frame) / Double(sampleRate)) })
    }
}

extension Span where Element == Float {
    var array: [Float] { indices.map { self[$0] } }
}
