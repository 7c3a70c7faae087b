internal import Glibc
public import Hemiola

extension AnalyzerPlugin {
    /// Bands, MFCC, centroid, rolloff, flatness and flux of the spectrum.
    public static let spectrum = AnalyzerPlugin(
        PluginDescription("spectrum", "Bands, MFCC, centroid, rolloff, flatness and flux of the spectrum.", version: 2),
        settings: SpectrumSettings.self
    ) { settings throws(Problem) in
        try SpectrumAnalyzer(settings)
    }
}

/// The settings of the spectrum analyzer.
struct SpectrumSettings: PluginSettings {
    var size: Int
    var window: WindowShape
    var bands: Int
    var scale: BandScale
    var minimum: Double
    var maximum: Double?
    var hasMagnitudes: Bool
    var mfcc: Int

    init(_ read: inout SettingReader) {
        size = read.integer("size", default: 2048, in: 64...65_536, unit: "frames", "Frames under the window; even.")
        window = read.choice("window", default: WindowShape.hann, "The window function, periodic.")
        bands = read.integer("bands", default: 64, in: 0...1024, "Bands; 0 leaves them out.")
        scale = read.choice("scale", default: BandScale.log, "How the bands are spaced.")
        minimum = read.hertz("min_hz", default: 20, in: 0...192_000, "Lower edge of the lowest band.")
        maximum = read.hertz("max_hz", in: 1...192_000, "Upper edge of the highest band; unset: 20 kHz, or Nyquist where that is lower.")
        hasMagnitudes = read.boolean("magnitudes", default: false, "Also the linear magnitudes, size/2+1 of them.")
        mfcc = read.integer("mfcc", default: 0, in: 0...128, "Mel-frequency cepstral coefficients, as librosa's.")
    }
}

/// Bands and features of the spectrum, once per batch.
///
/// The power spectrum is single-sided and normalised by N·Σw², so that its sum is the signal's mean square. When a batch has
/// several hops, their power spectra are averaged, and all features but the flux are computed from the mean; the flux is the sum
/// over the hops.
///
/// - Complexity: O(size · log size) per hop, shared with all analyzers that request the same spectrum; no allocation.
/// - Note: Centroid and rolloff (85 %) on magnitude and flatness on power are librosa's definitions. They are undefined for silence.
final class SpectrumAnalyzer: Analyzer {
    /// librosa's floor under each bin's |X|² in the flatness.
    private static let flatnessFloor: Float = 1e-10
    private static let rolloffShare: Float = 0.85

    private let settings: SpectrumSettings
    private var spectrum = SpectrumHandle(index: 0)
    private var hopsPerBatch = 1
    private var binCount = 0
    private var binWidth: Float = 0
    /// Factors from |X|² to the power and from |X| to the amplitude of a bin between DC and Nyquist.
    private var powerScale: Float = 0
    private var amplitudeScale: Float = 0
    private var bank = BandBank(between: [], size: 2, sampleRate: 1)
    private var cepstrum: Cepstrum?

    private var bands: FeatureHandle?
    private var centroid = FeatureHandle(offset: 0, count: 0)
    private var rolloff = FeatureHandle(offset: 0, count: 0)
    private var flatness = FeatureHandle(offset: 0, count: 0)
    private var flux = FeatureHandle(offset: 0, count: 0)
    private var magnitudes: FeatureHandle?
    private var mfcc: FeatureHandle?

    // Passed whole to the kernels; not indexed in loops here, which would check each access.
    private var previous: [Float] = []
    private var meanPower: [Float] = []
    private var meanMagnitude: [Float] = []
    private var folded: [Float] = []
    private var binNumbers: [Float] = []

    init(_ settings: SpectrumSettings) throws(Problem) {
        guard settings.size.isMultiple(of: 2) else {
            throw Problem("\(settings.size) is odd; take \(settings.size + 1)", at: "size")
        }
        if settings.scale == .log, settings.minimum <= 0 {
            throw Problem("a log scale has no 0 Hz; take 20, or scale=linear", at: "min_hz")
        }
        if let maximum = settings.maximum, maximum <= settings.minimum {
            throw Problem("\(maximum) is not above min_hz, \(settings.minimum); raise it", at: "max_hz")
        }
        self.settings = settings
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        let sampleRate = Double(stream.sampleRate)
        let nyquist = sampleRate / 2
        let top = settings.maximum ?? min(20_000, nyquist)
        guard top <= nyquist else {
            throw Problem(
                "spectrum: max_hz \(top) is above half the sample rate, \(nyquist) Hz; leave max_hz out, or lower it")
        }
        guard settings.minimum < top else {
            throw Problem("spectrum: min_hz \(settings.minimum) is not below max_hz, \(top) Hz; lower min_hz")
        }
        makeTables(sampleRate: sampleRate)
        hopsPerBatch = stream.batching.hopsPerBatch

        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(
            SpectrumRequest(size: settings.size, window: settings.window, parts: [.power, .magnitude]))
        // The last hop's window ends with the batch; the mean of several hops lies half-way between the first and the last.
        let center =
            (Double(stream.batching.batchFrames + stream.hopFrames) / 2 - Double(settings.size) / 2) / sampleRate
        let edges = settings.scale.edges(bands: settings.bands, from: settings.minimum, to: top)
        bank =
            settings.scale.isMel
            ? BandBank(triangles: edges, size: settings.size, sampleRate: sampleRate, isSingleSided: true)
            : BandBank(between: edges, size: settings.size, sampleRate: sampleRate)
        declare(&outputs, edges: edges, center: center, nyquist: nyquist)
        cepstrum = settings.mfcc > 0 ? Cepstrum(count: settings.mfcc, size: settings.size, sampleRate: sampleRate) : nil
        outputs.latencyFrames = Int64(settings.size / 2)
        return outputs
    }

    private func makeTables(sampleRate: Double) {
        let size = Double(settings.size)
        let values = settings.window.values(size: settings.size)
        let sum = values.reduce(0) { $0 + Double($1) }
        let energy = values.reduce(0) { $0 + Double($1) * Double($1) }
        binCount = settings.size / 2 + 1
        binWidth = Float(sampleRate / size)
        powerScale = Float(2 / (size * energy))
        amplitudeScale = Float(2 / sum)
        previous = Array(repeating: 0, count: binCount)
        meanPower = Array(repeating: 0, count: binCount)
        meanMagnitude = Array(repeating: 0, count: binCount)
        folded = Array(repeating: 0, count: binCount)
        binNumbers = (0..<binCount).map(Float.init)
    }

    private func declare(_ outputs: inout AnalyzerOutputs, edges: [Double], center: Double, nyquist: Double) {
        let isMel = settings.scale.isMel
        bands =
            settings.bands > 0
            ? outputs.add(
                Feature(
                    "bands_db", isMel ? .decibelsPerHertz : .decibels, count: settings.bands, minimum: -120, scale: .powerDecibels,
                    edges: edges, centerOffset: center,
                    isMel ? "Power per hertz in each band, a triangle of unit area." : "Power in each band."))
            : nil
        centroid = outputs.add(
            Feature("centroid_hz", .hertz, in: 0...nyquist, centerOffset: center, "Centre of gravity of the magnitudes."))
        rolloff = outputs.add(
            Feature("rolloff_hz", .hertz, in: 0...nyquist, centerOffset: center, "Frequency below which 85 % of the magnitude lies."))
        flatness = outputs.add(
            Feature("flatness", .ratio, in: 0...1, centerOffset: center, "Geometric over arithmetic mean of the power: 1 is noise."))
        flux = outputs.add(
            Feature(
                "flux", .amplitude, minimum: 0, aggregation: .sum, centerOffset: center,
                "How much each bin's magnitude grew since the last hop, summed."))
        magnitudes =
            settings.hasMagnitudes
            ? outputs.add(
                Feature(
                    "magnitudes", .amplitude, count: binCount, minimum: 0, centerOffset: center,
                    "Linear magnitude of each bin: a full-scale sine on a bin reads 1."))
            : nil
        mfcc =
            settings.mfcc > 0
            ? outputs.add(
                Feature(
                    "mfcc", .none, count: settings.mfcc, centerOffset: center,
                    "Mel-frequency cepstral coefficients of 128 bands, as librosa's."))
            : nil
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let spectra = hop.spectra(spectrum)
        let magnitude = spectra.magnitude(0)
        // Each bin but DC and Nyquist stands for two bins of the two-sided spectrum: the amplitude of these two is half as large.
        let edges = max(0, magnitude[0] - previous[0]) + max(0, magnitude[binCount - 1] - previous[binCount - 1])
        var old = previous.mutableSpan
        row[flux] = (magnitude.rectifiedDifference(from: &old) - edges / 2) * amplitudeScale
        if hopsPerBatch == 1 {
            describe(spectra.power(0), magnitude, into: &row)
            return
        }
        var sum = meanPower.mutableSpan
        sum.accumulate(spectra.power(0), isFirst: hop.indexInBatch == 0)
        // Local copies, so that each array is accessed once.
        let sums = meanPower
        var mean = folded.mutableSpan
        var root = meanMagnitude.mutableSpan
        sums.span.mean(of: hop.indexInBatch + 1, into: &mean, roots: &root)
        let power = folded
        let roots = meanMagnitude
        describe(power.span, roots.span, into: &row)
    }

    func skip(_ gap: Gap) {
        for index in previous.indices { previous[index] = 0 }
        for index in meanPower.indices { meanPower[index] = 0 }
    }

    private func describe(_ power: Span<Float>, _ magnitude: Span<Float>, into row: inout FeatureRow) {
        if let bands {
            var levels = row[all: bands]
            bank.sum(power, times: powerScale, into: &levels)
        }
        let total = magnitude.sum(0..<binCount)
        // Below the smallest normal number quotients are meaningless; digital silence is 0.
        if total >= .leastNormalMagnitude {
            let numbers = binNumbers
            row[centroid] = magnitude.dot(numbers.span, over: 0..<binCount) / total * binWidth
            row[rolloff] = Float(magnitude.firstIndex(reaching: total * Self.rolloffShare)) * binWidth
            let (sum, logSum) = power.sumAndLogSum(floor: Self.flatnessFloor)
            row[flatness] = min(1, exp2(logSum / Float(binCount)) * Float(binCount) / sum)
        }
        if let magnitudes {
            var values = row[all: magnitudes]
            values.scale(magnitude, by: amplitudeScale)
            values[0] *= 0.5
            values[binCount - 1] *= 0.5
        }
        if let mfcc, cepstrum != nil {
            var values = row[all: mfcc]
            cepstrum!.transform(power, into: &values)
        }
    }
}
