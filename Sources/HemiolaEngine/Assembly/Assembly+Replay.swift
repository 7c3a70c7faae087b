public import Hemiola

extension PluginRegistry {
    /// Builds a pipeline that sends the records of a recording to sinks, without analyzers. Opens nothing.
    ///
    /// Directors process the recorded rows and events, as in an analysis. If a director derives records by itself, the recorded ones of these
    /// types are replaced by its own, and it handles the recorded controls.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - configuration: The sinks, the selection and the pacing. `captures` is the audio of the recording's streams, in order; a stream
    ///     without audio is silent. Analyzers, batch size and seed have no effect.
    ///   - clock: The clock of its runs.
    /// - Throws: All problems of the configuration, also that the recording lacks what a sink needs.
    public func assemble(
        replaying recording: Recording, _ configuration: PipelineConfiguration, clock: any MonotonicClock = .system
    ) throws(Problem) -> Pipeline {
        var configuration = configuration
        configuration.analyzers = []
        configuration.batchFrames = recording.header.batching.batchFrames
        configuration.seed = nil
        configuration.jobCount = 1
        return try assemble(configuration, replaying: recording, clock: clock)
    }

    /// The part of a pipeline that replays a recording.
    func replay(
        of recording: Recording, audio: [Pipeline.Input], for sinkEntries: [(place: Place, entry: Pipeline.SinkEntry)],
        _ problems: inout [Problem]
    ) -> Pipeline.Replay {
        var needs: [RecordedNeed] = []
        var derived: Set<String> = []
        for (place, entry) in sinkEntries {
            // A director with fallback controls derives records from controls only.
            let derives = entry.hasDirector && entry.about.fallbackControls.isEmpty
            if derives { derived.formUnion(entry.about.records.map(\.name)) }
            let own = recordedNeeds(of: entry, readsFeatures: entry.hasDirector, &problems)
            problems += own.compactMap { $0.fault(in: recording.header) }.map { Problem($0, at: place) }
            needs += own
        }
        for (index, input) in audio.enumerated() where input.capture.read(\.isLive) == true {
            problems.append(Problem("the audio of a recording cannot be live; name its file", at: .capture(index)))
        }
        return Pipeline.Replay(recording: recording, audio: audio, needs: needs, derivedTypes: derived)
    }

    private func recordedNeeds(
        of entry: Pipeline.SinkEntry, readsFeatures: Bool, _ problems: inout [Problem]
    ) -> [RecordedNeed] {
        let names = ReservedNames(registry: self, catalog: catalog)
        return entry.needs.analyzers.compactMap { spec in
            guard let (plugin, values, _) = declared(spec, .analyzer(), names, &problems) else { return nil }
            let format = AnalysisFormat(StreamFormat(sampleRate: 48_000, channelCount: 2), batching: .standard, seed: 0)
            let outputs = readsFeatures ? try? plugin.make(values).prepare(format) : nil
            return RecordedNeed(
                sink: entry.name, analyzer: spec, settings: spec.settings.keys.sorted().map { ($0, values[$0] ?? .none) },
                features: outputs?.features.map(\.name) ?? [], events: entry.needs.events.filter(plugin.about.records.contains).map(\.name))
        }
    }
}
