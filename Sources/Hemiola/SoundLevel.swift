internal import Glibc
public import HemiolaRecords
public import HemiolaSignal

/// The level of the mono mix without its offset, for what lights and presets follow: a microphone or a sound card adds a constant to all
/// samples, which the level of the analyzer `levels` includes.
///
/// It is the power of the bands of the analyzer `spectrum` above the two bins that an offset reaches, and never above `levels.rms_db`; without
/// bands in dBFS, it is `levels.rms_db`.
public struct SoundLevel: Sendable {
    /// The first band of `spectrum.bands_db` that an offset does not reach.
    public let firstBand: Int
    private let bands: FeatureHandle?
    private let level: FeatureHandle?

    /// The level of a stream.
    public init(of stream: StreamHeader) {
        level = stream.layout.handle("levels", "rms_db")
        let column = stream.layout.sections.first { $0.analyzer == "spectrum" }?.features.first { $0.feature.name == "bands_db" }
        let size = stream.analyzers.first { $0.name == "spectrum" }?.parameters.first { $0.key == "size" }?.value.integer ?? 2048
        let lowest = 2 * Double(stream.format.sampleRate) / Double(max(1, size))
        let edges = column?.feature.edges ?? []
        let first = edges.firstIndex { $0 >= lowest } ?? 0
        firstBand = first
        // Mel bands hold power per hertz, which is no part of a level.
        let isUsable = first < column?.handle.count ?? 0 && !edges.isEmpty && column?.feature.unit == .decibels
        bands = isUsable ? column?.handle : nil
    }

    /// The level in dBFS; NaN where the stream has none.
    public func decibels(_ row: Span<Float>) -> Float {
        let level = level.map { row[$0.offset] } ?? .nan
        guard let bands else { return level }
        var power: Float = 0
        for index in firstBand..<bands.count { power += Self.power(row[bands.offset + index]) }
        return Self.decibels(power, atMost: level)
    }

    /// The level in dBFS; NaN where the stream has none.
    public func decibels(_ row: borrowing FeatureRow) -> Float {
        let level = level.map { row[$0] } ?? .nan
        guard let bands else { return level }
        var power: Float = 0
        for index in firstBand..<bands.count { power += Self.power(row[bands, index]) }
        return Self.decibels(power, atMost: level)
    }

    private static func power(_ decibels: Float) -> Float { decibels.isFinite ? exp2(decibels * 0.332_192_81) : 0 }

    private static func decibels(_ power: Float, atMost limit: Float) -> Float {
        let decibels = power > 1e-12 ? 10 * log10(power) : -120
        return limit.isFinite ? min(decibels, limit) : limit
    }
}
