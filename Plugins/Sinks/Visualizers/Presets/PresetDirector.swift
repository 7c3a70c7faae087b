internal import Hemiola
internal import HemiolaVisualizer

/// The director of the sink `presets`: derives `preset` and `speed` events from feature rows and beats, on the analysis thread.
///
/// Every file starts a new schedule, so that its plan does not depend on the files before it. For pages, and in a live run when the
/// format changes, the schedule continues.
final class PresetDirector: PreparedDirector {
    /// The names of the analyzers that the director reads.
    static let beat = "beat"
    static let structure = "structure"

    private let settings: ScheduleSettings
    private let controlPreparer: PresetControlPreparer
    /// For the first stream.
    private let persisted: PersistedState
    private var schedule: PresetSchedule?
    private var isLive = false
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var batchSeconds = 1.0
    /// Stream time of the end of the last batch.
    private var end = 0.0

    private var level: SoundLevel?
    private var confidence: FeatureHandle?

    init(_ settings: ScheduleSettings, persisted: PersistedState = PersistedState()) {
        self.settings = settings
        controlPreparer = PresetControlPreparer(settings)
        self.persisted = persisted
    }

    func prepare(_ stream: StreamHeader) {
        if let schedule, schedule.hasPages || isLive && stream.isLive {
            self.schedule?.rebase(by: end)
        } else {
            let state = schedule == nil ? persisted : PersistedState()
            schedule = PresetSchedule(settings, preparer: controlPreparer, persisted: state, seed: stream.seed)
        }
        isLive = stream.isLive
        end = 0
        format = stream.format
        batchSeconds = stream.format.seconds(at: Int64(stream.batching.batchFrames))
        level = SoundLevel(of: stream)
        confidence = stream.layout.handle(Self.beat, "confidence")
    }

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        for index in 0..<events.count { schedule?.add(events.events[index]) }
        end = moment.end
        var features = BatchFeatures(start: moment.start, end: moment.end, duration: batchSeconds)
        if let level { features.level = Double(level.decibels(row)) }
        if let confidence { features.confidence = Double(row[confidence]) }
        schedule?.update(with: features, into: &events)
    }

    func directPause(into events: inout EventList) {
        schedule?.emitRequests(at: end, into: &events)
    }

    func handle(_ control: StampedControl) -> ControlReply {
        handle(control, nil)
    }

    var preparer: any ControlPreparer { controlPreparer }

    func handle(_ control: StampedControl, preparation: any Sendable) -> ControlReply {
        handle(control, preparation as? PresetControlPreparer.Preparation)
    }

    private func handle(_ control: StampedControl, _ preparation: PresetControlPreparer.Preparation?) -> ControlReply {
        let time = format.seconds(at: control.frame)
        return schedule?.handle(control.control, from: control.origin, at: time, preparation: preparation)
            ?? .refused("no stream has begun")
    }
}
