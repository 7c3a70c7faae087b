internal import Hemiola

extension Assembly {
    /// The part of a pipeline that replays a recording.
    mutating func replay(of recording: Recording, audio: [Pipeline.Input]) -> Pipeline.Replay {
        var needs: [RecordedNeed] = []
        var derived: Set<String> = []
        for entry in sinks {
            // A director with fallback controls derives records from controls only.
            let derives = entry.hasDirector && entry.about.fallbackControls.isEmpty
            if derives { derived.formUnion(entry.about.records.map(\.name)) }
            let own = recordedNeeds(of: entry)
            problems += own.compactMap { $0.fault(in: recording.header) }.map { Problem($0, at: entry.place) }
            needs += own
        }
        for (index, input) in audio.enumerated() where input.capture.read(\.isLive) == true {
            fail("the audio of a recording cannot be live; name its file", at: .capture(index))
        }
        return Pipeline.Replay(recording: recording, audio: audio, needs: needs, derivedTypes: derived)
    }

    /// What a sink needs of a recording: the features too, if it has a director.
    private mutating func recordedNeeds(of entry: Pipeline.SinkEntry) -> [RecordedNeed] {
        entry.needs.analyzers.compactMap { spec in
            guard let (plugin, values, _) = declared(spec, .analyzer()) else { return nil }
            let format = AnalysisFormat(Self.format, batching: .standard, seed: 0)
            let outputs = entry.hasDirector ? try? plugin.make(values).prepare(format) : nil
            return RecordedNeed(
                sink: entry.name, analyzer: spec, settings: spec.settings.keys.sorted().map { ($0, values[$0] ?? .none) },
                features: outputs?.features.map(\.name) ?? [], events: entry.needs.events.filter(plugin.about.records.contains).map(\.name))
        }
    }
}
