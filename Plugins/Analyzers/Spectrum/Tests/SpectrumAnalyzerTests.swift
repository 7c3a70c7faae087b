import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import References
import SpectrumAnalyzer
import TestSupport
import Testing

private func power(_ level: Float) -> Double { pow(10, Double(level) / 10) }

/// Plus or minus `amplitude` at random: under any window its mean square is that of the amplitude.
private func randomSigns(amplitude: Double, frames: Int) -> Audio {
    var generator = SplitMix64(seed: 11)
    return Audio(frames: frames) { _, _ in Bool.random(using: &generator) ? amplitude : -amplitude }
}

@Suite struct `SpectrumAnalyzer, known signals` {
    @Test(arguments: ["log", "linear"], WindowShape.allCases.map(\.rawValue))
    func `full-scale sine inside a band: −3.01 dB`(scale: String, window: String) async throws {
        // Bin 300, 6460 Hz: in both scales nine bins from the next edge, beyond the reach of every window's main lobe.
        let hertz = 300 * 44_100 / 2048.0
        let sine = Audio.sine(hertz, frames: 8192)
        let analysis = try await Analysis(of: sine, .spectrum, "bands=32,scale=\(scale),window=\(window)")
        let edges = analysis.feature("bands_db").edges
        let band = try #require(edges.firstIndex { $0 > hertz }) - 1
        #expect(abs(analysis.values("bands_db")[6][band] - -3.0103) < 0.001)
    }

    @Test(arguments: [64, 100, 512, 2048, 4096, 16_384], WindowShape.allCases.map(\.rawValue))
    func `bands over the whole spectrum: their sum is the mean square`(size: Int, window: String) async throws {
        let audio = randomSigns(amplitude: 0.5, frames: 20 * 1024)
        for scale in ["scale=linear,min_hz=0", "scale=log,min_hz=1"] {
            let analysis = try await Analysis(of: audio, .spectrum, "\(scale),max_hz=22050,size=\(size),window=\(window)")
            let sum = analysis.values("bands_db").last!.reduce(0) { $0 + power($1) }
            // A log scale excludes frequencies below 1 Hz.
            #expect(abs(sum / 0.25 - 1) < (scale.hasPrefix("scale=linear") ? 1e-5 : 0.02), "\(scale)")
        }
    }

    @Test func `bands narrower than a bin: none is empty`() async throws {
        let analysis = try await Analysis(of: randomSigns(amplitude: 0.5, frames: 4096), .spectrum, "bands=1024,max_hz=200")
        for level in analysis.values("bands_db").last! { #expect(level > -90 && level < -10) }
    }

    @Test(arguments: [1, 100, 511, 1000])
    func `sine at a bin: magnitude equals amplitude`(bin: Int) async throws {
        let sine = Audio.sine(Double(bin) * 44_100 / 2048, amplitude: 0.5, frames: 4096)
        let magnitudes = try await Analysis(of: sine, .spectrum, "magnitudes=true").values("magnitudes")[3]
        #expect(magnitudes.count == 1025)
        #expect(abs(magnitudes[bin] - 0.5) < 1e-5)
        #expect(magnitudes.firstIndex(of: magnitudes.max()!) == bin)
    }

    @Test func `constant and Nyquist frequency: magnitude equals amplitude`() async throws {
        let constant = try await Analysis(of: Audio(frames: 4096) { _, _ in 0.5 }, .spectrum, "magnitudes=true")
        #expect(abs(constant.values("magnitudes")[3][0] - 0.5) < 1e-5)
        let highest = try await Analysis(
            of: Audio(frames: 4096) { frame, _ in frame.isMultiple(of: 2) ? 0.5 : -0.5 }, .spectrum, "magnitudes=true")
        #expect(abs(highest.values("magnitudes")[3][1024] - 0.5) < 1e-5)
    }

    @Test func `sine: centroid at its frequency, flatness near 0; noise: flatness near 1`() async throws {
        let sine = try await Analysis(of: .sine(256 * 44_100 / 2048, frames: 8192), .spectrum)
        #expect(abs(sine.value("centroid_hz")[6] - 5512.5) < 1)
        #expect(abs(sine.value("rolloff_hz")[6] - 5512.5) < 22)
        #expect(sine.value("flatness")[6] < 1e-6)
        let noise = try await Analysis(of: .noise(frames: 8192, seed: 12), .spectrum)
        #expect(abs(noise.value("centroid_hz")[6] - 11_025) < 700)
        #expect(noise.value("flatness")[6] > 0.5)
    }

    @Test func `silence: centroid, roll-off and flatness null, flux 0`() async throws {
        let analysis = try await Analysis(of: .silence(frames: 4096), .spectrum, "bands=4,magnitudes=true,mfcc=3")
        for batch in analysis.batches.indices {
            #expect(analysis.values("bands_db")[batch] == [-120, -120, -120, -120])
            #expect(analysis.value("centroid_hz")[batch].isNaN)
            #expect(analysis.value("rolloff_hz")[batch].isNaN)
            #expect(analysis.value("flatness")[batch].isNaN)
            #expect(analysis.value("flux")[batch] == 0)
            #expect(analysis.values("magnitudes")[batch].allSatisfy { $0 == 0 })
            // 128 bands of −100 dB.
            let mfcc = analysis.values("mfcc")[batch]
            #expect(abs(mfcc[0] - -1131.371) < 0.01 && abs(mfcc[1]) < 0.001 && abs(mfcc[2]) < 0.001)
        }
    }

    @Test func `steady sine: flux at the start only`() async throws {
        let flux = try await Analysis(of: .sine(256 * 44_100 / 2048, frames: 8192), .spectrum).value("flux")
        #expect(flux[0] > 1)
        for value in flux[2...] { #expect(value < 1e-3) }
    }

    @Test func `stereo with opposite channels: silence`() async throws {
        let audio = Audio(frames: 4096, channelCount: 2) { frame, channel in sin(Double(frame)) * (channel == 0 ? 0.5 : -0.5) }
        #expect(try await Analysis(of: audio, .spectrum).value("centroid_hz").allSatisfy { $0.isNaN })
    }
}

@Suite struct `SpectrumAnalyzer, several hops per batch` {
    private static let settings = "bands=24,magnitudes=true"
    private static let audio = Audio.noise(amplitude: 0.3, frames: 3 * 4096 + 1500, seed: 21)
        .followed(by: .sine(440, amplitude: 0.8, frames: 2 * 4096))

    /// Batches of one hop each, to be compared with batches of several.
    private func compare(batchFrames: Int, hopFrames: Int) async throws {
        let whole = try await Analysis(of: Self.audio, .spectrum, Self.settings, batchFrames: batchFrames)
        let single = try await Analysis(of: Self.audio, .spectrum, Self.settings, batchFrames: hopFrames)
        let hops = batchFrames / hopFrames
        #expect(whole.batches.count == (single.batches.count + hops - 1) / hops)
        for batch in whole.batches.indices {
            // The last batch has only the hops that are there.
            let range = batch * hops..<min(single.batches.count, (batch + 1) * hops)
            for band in 0..<24 {
                let mean = range.reduce(0) { $0 + power(single.values("bands_db")[$1][band]) } / Double(range.count)
                #expect(abs(power(whole.values("bands_db")[batch][band]) - mean) <= 1e-5 * mean + 1e-12)
            }
            for bin in stride(from: 0, to: 1025, by: 41) {
                let mean = range.reduce(0) { $0 + pow(Double(single.values("magnitudes")[$1][bin]), 2) } / Double(range.count)
                #expect(abs(Double(whole.values("magnitudes")[batch][bin]) - mean.squareRoot()) <= 1e-5 * mean.squareRoot())
            }
            let flux = range.reduce(0) { $0 + Double(single.value("flux")[$1]) }
            #expect(abs(Double(whole.value("flux")[batch]) - flux) <= 1e-5 * flux)
            // Of the mean spectrum, not the mean of its shapes.
            let magnitudes = whole.values("magnitudes")[batch].enumerated().map { bin, value in
                Double(value) * (bin == 0 || bin == 1024 ? 2 : 1)
            }
            let centroid = magnitudes.enumerated().reduce(0) { $0 + Double($1.offset) * $1.element } / magnitudes.reduce(0, +)
            #expect(abs(Double(whole.value("centroid_hz")[batch]) - centroid * 44_100 / 2048) <= 1e-4 * centroid * 44_100 / 2048)
        }
    }

    @Test func `4096 frames: mean of four power spectra, sum of four fluxes`() async throws {
        try await compare(batchFrames: 4096, hopFrames: 1024)
    }

    @Test func `1280 frames: two hops of 640`() async throws {
        try await compare(batchFrames: 1280, hopFrames: 640)
    }

    @Test func `256 frames: every fourth batch ends where one of 1024 ends`() async throws {
        let short = try await Analysis(of: Self.audio, .spectrum, Self.settings, batchFrames: 256)
        let long = try await Analysis(of: Self.audio, .spectrum, Self.settings)
        for batch in 0..<Self.audio.frameCount / 1024 {
            #expect(short.values("bands_db")[4 * batch + 3] == long.values("bands_db")[batch])
            #expect(short.value("centroid_hz")[4 * batch + 3] == long.value("centroid_hz")[batch])
        }
    }

    @Test(arguments: [(1024, 2048, 0), (1024, 512, 768), (1024, 4096, -1024), (256, 2048, -768), (4096, 2048, 1536), (1280, 2048, -64)])
    func `header: center_offset_s is the middle of the windows`(batchFrames: Int, size: Int, center: Int) throws {
        let analyzer = try AnalyzerPlugin.spectrum.analyzer("size=\(size),magnitudes=true,mfcc=2")
        let batching = try #require(Batching(batchFrames: batchFrames))
        let outputs = try analyzer.prepare(AnalysisFormat(StreamFormat(sampleRate: 48_000, channelCount: 1), batching: batching))
        for feature in outputs.features {
            #expect(abs(try #require(feature.centerOffset) - Double(center) / 48_000) < 1e-12, "\(feature.name)")
        }
        #expect(outputs.latencyFrames == Int64(size / 2))
        #expect(outputs.isCausal)
    }

    @Test(arguments: [1024, 4096])
    func `after a gap: the analysis starts again`(batchFrames: Int) async throws {
        let first = Audio.noise(amplitude: 0.5, frames: 6000, seed: 31)
        let second = Audio.noise(amplitude: 0.5, frames: 9000, seed: 32)
        let broken = try await Analysis(
            of: [.samples(first.samples), .gap(Gap(frames: 777, reason: .overrun)), .samples(second.samples)], first.format,
            .spectrum, batchFrames: batchFrames)
        let (one, other) = (
            try await Analysis(of: first, .spectrum, batchFrames: batchFrames),
            try await Analysis(of: second, .spectrum, batchFrames: batchFrames)
        )
        #expect(broken.batches.map(\.row) == one.batches.map(\.row) + other.batches.map(\.row))
    }
}

@Suite struct `SpectrumAnalyzer, settings` {
    private func outputs(_ settings: String, sampleRate: Int = 44_100) throws -> AnalyzerOutputs {
        try AnalyzerPlugin.spectrum.analyzer(settings)
            .prepare(AnalysisFormat(StreamFormat(sampleRate: sampleRate, channelCount: 2)))
    }

    @Test(arguments: [
        ("size=2047", "size: 2047 is odd; take 2048"),
        ("size=32", "size: 32 is outside 64...65536 frames"),
        ("size=131072", "size: 131072 is outside 64...65536 frames"),
        ("size=large", "size: \"large\" is not a whole number within 64...65536 frames"),
        ("min_hz=0", "min_hz: a log scale has no 0 Hz; take 20, or scale=linear"),
        ("min_hz=500,max_hz=400", "max_hz: 400.0 is not above min_hz, 500.0; raise it"),
        ("scale=mel,min_hz=-1", "min_hz: -1 is outside 0...192000 Hz"),
        ("bands=2000", "bands: 2000 is outside 0...1024"),
        ("mfcc=129", "mfcc: 129 is outside 0...128"),
        ("window=han", "window: \"han\" is not one of hann, hamming, blackman-harris, rectangular; did you mean hann?"),
        ("band=8", "band: spectrum has no such setting; did you mean bands?"),
    ])
    func `invalid settings: refused with the reason`(settings: String, message: String) throws {
        let error = #expect(throws: Problem.self) { try AnalyzerPlugin.spectrum.analyzer(settings) }
        #expect(error?.all.map(\.description).contains(message) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        ("max_hz=20000", "spectrum: max_hz 20000.0 is above half the sample rate, 4000.0 Hz; leave max_hz out, or lower it"),
        ("min_hz=5000", "spectrum: min_hz 5000.0 is not below max_hz, 4000.0 Hz; lower min_hz"),
    ])
    func `edges above half the sample rate: refused in prepare`(settings: String, message: String) throws {
        let error = #expect(throws: Problem.self) { try outputs(settings, sampleRate: 8000) }
        #expect(error?.message == message)
    }

    @Test func `8 kHz with default settings: bands up to 4 kHz`() async throws {
        let analysis = try await Analysis(of: .sine(1000, frames: 8192, sampleRate: 8000), .spectrum)
        #expect(analysis.feature("bands_db").edges.first == 20)
        #expect(analysis.feature("bands_db").edges.last == 4000)
        #expect(abs(analysis.value("centroid_hz")[6] - 1000) < 1)
    }

    @Test(arguments: [(8_000, 4_000.0), (32_000, 16_000), (40_000, 20_000), (44_100, 20_000), (384_000, 20_000)])
    func `max_hz unset: 20 kHz or half the sample rate`(sampleRate: Int, top: Double) throws {
        let outputs = try outputs("", sampleRate: sampleRate)
        #expect(outputs.features[0].edges.last == top)
        #expect(outputs.features.first { $0.name == "centroid_hz" }?.maximum == Double(sampleRate) / 2)
    }

    @Test func `max_hz at half the sample rate: accepted`() throws {
        #expect(try outputs("max_hz=22050").features[0].edges.last == 22_050)
    }

    @Test(arguments: ["log", "linear", "mel-slaney", "mel-htk"], [1, 2, 64, 1024])
    func `edges: ascending from min_hz to max_hz, bands + 1 of them, bands + 2 for mel`(scale: String, bands: Int) throws {
        let edges = try outputs("scale=\(scale),bands=\(bands),min_hz=50,max_hz=15000").features[0].edges
        #expect(edges.count == bands + (scale.hasPrefix("mel") ? 2 : 1))
        #expect(edges.first == 50)
        #expect(edges.last == 15_000)
        #expect(zip(edges, edges.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `unit of the bands: dBFS, and dBFS per hertz for mel bands, whose power is that of a density`() async throws {
        #expect(try ["log", "linear"].allSatisfy { try outputs("scale=\($0)").features[0].unit == .decibels })
        #expect(try ["mel-slaney", "mel-htk"].allSatisfy { try outputs("scale=\($0)").features[0].unit == .decibelsPerHertz })
        // White noise has the same density in every band.
        let levels = try await Analysis(of: .noise(amplitude: 0.5, frames: 44_100), .spectrum, "scale=mel-htk,bands=8").values("bands_db")
        let density = 10 * log10(0.25 / 3 / 22_050)
        for band in 2..<8 {
            let power = levels.dropFirst(2).map { pow(10, Double($0[band]) / 10) }
            #expect(abs(10 * log10(power.reduce(0, +) / Double(power.count)) - density) < 1)
        }
    }

    @Test func `bands=0: no bands, the other features stay`() async throws {
        let analysis = try await Analysis(of: .noise(frames: 4096), .spectrum, "bands=0")
        #expect(try outputs("bands=0").features.map(\.name) == ["centroid_hz", "rolloff_hz", "flatness", "flux"])
        #expect(analysis.batches[0].row.count == 4)
        #expect(analysis.batches.allSatisfy { $0.row.allSatisfy(\.isFinite) })
    }

    @Test(arguments: [(64, 33), (2048, 1025), (100, 51), (65_536, 32_769)])
    func `magnitudes: size/2+1 values`(size: Int, count: Int) throws {
        let outputs = try outputs("size=\(size),magnitudes=true")
        #expect(outputs.features.first { $0.name == "magnitudes" }?.count == count)
    }

    @Test(arguments: [1, 13, 40, 128])
    func `mfcc: the requested number of coefficients for any number of bands`(count: Int) async throws {
        let audio = Audio.noise(frames: 4096)
        let some = try await Analysis(of: audio, .spectrum, "bands=0,mfcc=\(count)").values("mfcc")
        let all = try await Analysis(of: audio, .spectrum, "scale=mel-htk,mfcc=128").values("mfcc")
        #expect(some == all.map { Array($0.prefix(count)) })
    }

    @Test func `default settings: no magnitudes, no MFCC`() throws {
        #expect(try outputs("").features.map(\.name) == ["bands_db", "centroid_hz", "rolloff_hz", "flatness", "flux"])
    }
}

@Suite struct `SpectrumAnalyzer, plugin` {
    @Test func `conformance tests with all features: passed`() throws {
        try AnalyzerConformanceSuite(.spectrum, settings: "size=1000,scale=mel-slaney,magnitudes=true,mfcc=13").run()
    }
}
