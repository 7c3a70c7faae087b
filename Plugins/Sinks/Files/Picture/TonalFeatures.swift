internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// What a picture shows of the analyzers of harmony, melody and form: chroma, fundamental frequency and labels.
struct TonalFeatures {
    /// A feature with the frames from a batch's first frame to the middle of its window.
    struct Place {
        var handle: FeatureHandle
        var center: Int64
    }

    private(set) var chroma: Place?
    private(set) var pitch: Place?

    /// The rows of labels by the record types that they show.
    static let rows: [String: PictureOptions.LabelRow] = [
        "musical_key": .key, "chord": .chords, "segment": .segments, "phrase": .phrases,
    ]

    init() {}

    /// Finds what a stream declares.
    ///
    /// - Parameters:
    ///   - options: Gets the rows of labels, and with `addsPanel` the panel of the chroma below the spectrogram.
    init(_ stream: StreamHeader, _ options: inout PictureOptions, addsPanel: Bool) {
        for analyzer in stream.analyzers {
            switch analyzer.id {
            case "chroma" where chroma == nil: chroma = Self.place(of: "bins", analyzer, stream)
            case "pitch" where pitch == nil: pitch = Self.place(of: "f0_hz", analyzer, stream)
            default: break
            }
            for event in analyzer.outputs.events {
                if let row = Self.rows[event.name], !options.labelRows.contains(row) { options.labelRows.append(row) }
            }
        }
        // The order does not depend on that of the analyzers.
        options.labelRows = PictureOptions.LabelRow.allCases.filter(options.labelRows.contains)
        if let count = chroma?.handle.count, !PictureRecorder.isChroma(bins: count) { chroma = nil }
        if addsPanel, chroma != nil, !options.panels.contains(.chroma) {
            let place = options.panels.firstIndex(of: .spectrogram).map { $0 + 1 } ?? 0
            options.panels.insert(.chroma, at: place)
        }
    }

    private static func place(of feature: String, _ analyzer: StreamHeader.Analyzer, _ stream: StreamHeader) -> Place? {
        guard let handle = stream.layout.handle(analyzer.name, feature),
            let declared = analyzer.outputs.features.first(where: { $0.name == feature })
        else { return nil }
        let middle = Double(stream.batching.batchFrames) / 2 / Double(stream.format.sampleRate)
        return Place(handle: handle, center: stream.format.frame(at: min(max(-60, declared.centerOffset ?? middle), 60)))
    }
}
