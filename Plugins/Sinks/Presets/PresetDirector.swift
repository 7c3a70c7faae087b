internal import Hemiola
internal import HemiolaSignal

/// Directs a show on the analysis thread: from rows and beats to `preset` and `speed` events.
///
/// Every file is a show of its own, so that its plan does not depend on what was heard before. A live show goes on when the
/// format changes.
final class PresetDirector: PreparedDirector {
    /// The analyzers that it hears, by the names under which the sink asks for them.
    static let milkDrop = "milkdrop"
    static let beat = "beat"
    static let levels = "levels"

    private let settings: ShowSettings
    private let library: PresetLibrary
    /// Asked for once, when the first stream begins.
    private let memory: (StreamHeader) -> ShowMemory
    private var show: PresetShow?
    private var isLive = false
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var batchSeconds = 1.0
    /// Up to which the stream was heard.
    private var end = 0.0

    private var bass: FeatureHandle?
    private var mid: FeatureHandle?
    private var treb: FeatureHandle?
    private var volume: FeatureHandle?
    private var level: FeatureHandle?
    private var confidence: FeatureHandle?

    init(_ settings: ShowSettings, memory: @escaping (StreamHeader) -> ShowMemory = { _ in ShowMemory() }) {
        self.settings = settings
        library = PresetLibrary(settings)
        self.memory = memory
    }

    func prepare(_ stream: StreamHeader) {
        if show != nil, isLive, stream.isLive {
            show?.rebase(by: end)
        } else {
            show = PresetShow(settings, library: library, memory: show == nil ? memory(stream) : ShowMemory(), seed: stream.seed)
        }
        isLive = stream.isLive
        end = 0
        format = stream.format
        batchSeconds = stream.format.seconds(at: Int64(stream.batching.batchFrames))
        let layout = stream.layout
        bass = layout.handle(Self.milkDrop, "bass")
        mid = layout.handle(Self.milkDrop, "mid")
        treb = layout.handle(Self.milkDrop, "treb")
        volume = layout.handle(Self.milkDrop, "vol")
        level = layout.handle(Self.levels, "rms_db")
        confidence = layout.handle(Self.beat, "confidence")
    }

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        for index in 0..<events.count {
            if case .beat(let beat) = events.events[index].payload { show?.hear(beat, at: events.events[index].time) }
        }
        end = moment.end
        var heard = ShowMoment(start: moment.start, end: moment.end, duration: batchSeconds)
        if let bass, let mid, let treb {
            heard.bass = Double(row[bass])
            heard.mid = Double(row[mid])
            heard.treb = Double(row[treb])
        }
        if let volume { heard.volume = Double(row[volume]) }
        if let level { heard.level = Double(row[level]) }
        if let confidence { heard.confidence = Double(row[confidence]) }
        show?.direct(heard, into: &events)
    }

    func obey(_ control: StampedControl) -> ControlReply? {
        show?.obey(control.control, at: format.seconds(at: control.frame))
    }

    var preparer: any ControlPreparer { library }

    func handle(_ control: StampedControl, preparation: any Sendable) -> ControlReply? {
        show?.obey(
            control.control, at: format.seconds(at: control.frame), answer: preparation as? PresetLibrary.Answer)
    }

    /// How the show stands; nil: it has not begun.
    var state: ShowState? { show?.state(at: end) }
}
