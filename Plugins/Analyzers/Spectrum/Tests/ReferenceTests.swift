import AnalysisSupport
import Foundation
import HemiolaRecords
import References
import SpectrumAnalyzer
import Testing

/// Complete inputs compared with numpy and librosa in double precision. `Tests/References/README.md` explains the numbers.
@Suite struct `SpectrumAnalyzer, reference vectors` {
    /// One scale of one input.
    struct Case: Sendable, CustomTestStringConvertible {
        var input: ReferenceVectors.Input
        var bands: ReferenceVectors.Bands

        var testDescription: String { "\(input.file), \(bands.scale) at \(bands.sampleRate) Hz" }

        func analysis() async throws -> Analysis {
            try await Analysis(of: Audio(wav: input.path).read(at: bands.sampleRate), .spectrum, "scale=\(bands.scale)")
        }
    }

    static let inputs = [ReferenceVectors.shared.mono, ReferenceVectors.shared.stereo]
    static let cases = inputs.flatMap { input in input.bands.map { Case(input: input, bands: $0) } }

    private func analysis(_ input: Int) async throws -> (ReferenceVectors.Input, Analysis) {
        let reference = Self.inputs[input]
        return (reference, try await Analysis(of: Audio(wav: reference.path), .spectrum, "mfcc=13"))
    }

    // MARK: - Bands

    @Test(arguments: cases)
    func `bands, power: within 1e-4 of the frame's largest band`(_ one: Case) async throws {
        let bands = try await one.analysis().values("bands_db")
        #expect(bands.count == one.input.batches)
        for (batch, (levels, powers)) in zip(bands, one.bands.power).enumerated() {
            // Values below −120 dB are reported as −120 dB.
            let expected = powers.map { max(1e-12, $0) }
            let worst = zip(levels, expected).map { abs(pow(10, Double($0) / 10) - $1) }.max()!
            #expect(worst <= 1e-4 * expected.max()!, "batch \(batch)")
        }
    }

    /// In dB, the quieter a band the nearer it is to the noise of a single-precision transform, which is relative to the
    /// loudest bin. The README beside the vectors has the figures of another such transform; these are two to four times that.
    private func tolerance(at level: Double) -> Double {
        switch level {
        case (-60)...: 1e-4
        case (-80)...: 1e-3
        case (-110)...: 0.02
        default: 0.15
        }
    }

    @Test(arguments: cases)
    func `bands, decibels: within single precision`(_ one: Case) async throws {
        let bands = try await one.analysis().values("bands_db")
        for (batch, (levels, powers)) in zip(bands, one.bands.power).enumerated() {
            for (band, (level, power)) in zip(levels, powers).enumerated() {
                let expected = max(-120, 10 * log10(power))
                if abs(Double(level) - expected) > tolerance(at: expected) {
                    Issue.record("batch \(batch), band \(band): \(level) dB and not \(expected) dB")
                }
            }
        }
    }

    @Test(arguments: cases)
    func `header: the reference's band edges`(_ one: Case) async throws {
        let edges = try await one.analysis().feature("bands_db").edges
        #expect(edges.count == one.bands.edgesHz.count)
        for (edge, expected) in zip(edges, one.bands.edgesHz) { #expect(abs(edge - expected) <= 1e-8 * expected) }
    }

    // MARK: - Shape

    @Test(arguments: [0, 1])
    func `centroid: within 1e-4 of librosa's, null for silence`(input: Int) async throws {
        let (reference, analysis) = try await analysis(input)
        for (batch, (hertz, expected)) in zip(analysis.value("centroid_hz"), reference.centroidHz).enumerated() {
            if let expected {
                #expect(abs(Double(hertz) - expected) <= 1e-4 * expected, "batch \(batch)")
            } else {
                #expect(hertz.isNaN, "batch \(batch)")
            }
        }
    }

    @Test(arguments: [0, 1])
    func `roll-off: librosa's bin, null for silence`(input: Int) async throws {
        let (reference, analysis) = try await analysis(input)
        let binWidth = Double(reference.sampleRate) / 2048
        for (batch, (hertz, expected)) in zip(analysis.value("rolloff_hz"), reference.rolloffHz).enumerated() {
            // The requirement is one bin in one frame of 1000; with these inputs, no frame may differ.
            if let expected {
                #expect((Double(hertz) / binWidth).rounded() == (expected / binWidth).rounded(), "batch \(batch)")
                #expect(abs(Double(hertz) - expected) < 0.002, "batch \(batch)")
            } else {
                #expect(hertz.isNaN, "batch \(batch)")
            }
        }
    }

    @Test(arguments: [0, 1])
    func `flatness: within 1e-4 of librosa's, null for silence`(input: Int) async throws {
        let (reference, analysis) = try await analysis(input)
        for (batch, (flatness, expected)) in zip(analysis.value("flatness"), reference.flatness).enumerated() {
            if let expected {
                #expect(abs(Double(flatness) - expected) <= 1e-4, "batch \(batch)")
                // Tonal frames have a flatness of 1e-6: most of its digits must be correct, too.
                #expect(abs(Double(flatness) - expected) <= 3e-3 * expected, "batch \(batch)")
            } else {
                #expect(flatness.isNaN, "batch \(batch)")
            }
        }
    }

    @Test(arguments: [0, 1])
    func `flux: within 1e-4 of the reference`(input: Int) async throws {
        let (reference, analysis) = try await analysis(input)
        for (batch, (flux, expected)) in zip(analysis.value("flux"), reference.flux).enumerated() {
            #expect(abs(Double(flux) - expected) <= 1e-4 * expected, "batch \(batch)")
        }
    }

    @Test(arguments: [0, 1])
    func `MFCC: within 1e-4 of the frame's largest`(input: Int) async throws {
        let (reference, analysis) = try await analysis(input)
        for (batch, (coefficients, expected)) in zip(analysis.values("mfcc"), reference.mfcc).enumerated() {
            let largest = expected.map(abs).max()!
            let worst = zip(coefficients, expected).map { abs(Double($0) - $1) }.max()!
            #expect(worst <= 1e-4 * largest, "batch \(batch)")
        }
    }

    @Test func `magnitudes, any window and size: the reference's`() async throws {
        for reference in Self.inputs {
            let audio = try Audio(wav: reference.path)
            for vectors in reference.magnitudes {
                let settings = "bands=0,magnitudes=true,size=\(vectors.size),window=\(vectors.window)"
                let magnitudes = try await Analysis(of: audio, .spectrum, settings).values("magnitudes")
                for (batch, expected) in zip(vectors.batches, vectors.values) {
                    #expect(magnitudes[batch].count == expected.count)
                    let worst = zip(magnitudes[batch], expected).map { abs(Double($0) - $1) }.max()!
                    #expect(worst <= 1e-5 * expected.max()!, "\(settings), batch \(batch)")
                }
            }
        }
    }
}
