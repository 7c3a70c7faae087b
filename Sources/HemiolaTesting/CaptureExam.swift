public import Hemiola
public import HemiolaSignal

/// The exam that every capture sits: readers with room for one frame or for thousands, the end, the way back to the start.
///
///     try CaptureExam(.file, settings: "examples/music/minuet.flac").sit()
public struct CaptureExam {
    /// Room that the readers have, in frames.
    private static let rooms = [1, 7, 256, 1024, 4096]
    /// A call waits at most 100 ms; the rest is a busy machine's.
    private static let longestRead = Duration.seconds(1)

    private let plugin: CapturePlugin
    private let settings: String
    private let wish: FormatWish
    private let longest: Double

    /// An exam for a capture with these settings.
    ///
    /// - Parameters:
    ///   - plugin: Who sits it.
    ///   - settings: As in a SPEC after the colon: `music.flac`.
    ///   - wish: What the capture is asked for.
    ///   - longest: Seconds of audio after which the exam hears no further, where the source is long or endless.
    public init(_ plugin: CapturePlugin, settings: String = "", wish: FormatWish = FormatWish(), longest: Double = 2) {
        self.plugin = plugin
        self.settings = settings
        self.wish = wish
        self.longest = longest
    }

    /// Sits the exam.
    ///
    /// - Throws: Everything that the capture did wrong.
    public func sit() throws(ExamFailure) {
        var paper = ExamPaper()
        if let values = paper.settings(settings, of: plugin.about), let first = make(values, &paper) {
            let rooms = first.isLive ? [1024] : Self.rooms
            var reference: Tape?
            for room in rooms {
                guard let capture = make(values, &paper), let tape = record(capture, room: room, &paper) else { break }
                if let reference {
                    paper.require(
                        tape.isSame(as: reference), "A reader with room for \(room) frames hears something else than one with \(rooms[0]).")
                }
                reference = reference ?? tape
            }
            paper.require(reference != nil, "The exam could not open it.")
            rewind(values, &paper)
        }
        try paper.handIn(plugin.about.id)
    }

    private func make(_ values: SettingValues, _ paper: inout ExamPaper) -> (any Capture)? {
        do throws(ConfigurationError) {
            return try plugin.make(values)
        } catch {
            paper.fault("It cannot be made with the exam's settings: \(error).")
            return nil
        }
    }

    /// Opens, hears all or as much as is enough, closes.
    private func record(_ capture: any Capture, room: Int, _ paper: inout ExamPaper) -> Tape? {
        guard let source = open(capture, &paper) else { return nil }
        defer { capture.close() }
        let tape = hear(capture, source, room: room, &paper)
        if tape.hasEnded {
            for _ in 0..<3 {
                let (delivery, _) = read(capture, room * source.format.channelCount, &paper)
                paper.require(delivery == .end, "After the end it delivers something else than the end.")
            }
            if let duration = source.duration, !tape.isBroken {
                let heard = source.format.seconds(at: tape.frames)
                paper.require(
                    abs(heard - duration) <= 0.1 + duration * 0.01, "It states a length of \(duration) s and delivers \(heard) s.")
            }
        }
        return tape
    }

    private func open(_ capture: any Capture, _ paper: inout ExamPaper) -> StreamSource? {
        do throws(CaptureError) {
            let source = try capture.open(wish)
            paper.require(
                source.format.isSupported,
                "It opens with \(source.format.sampleRate) Hz and \(source.format.channelCount) channels, which Hemiola does not analyse.")
            paper.require(source.kind == plugin.about.id, "It calls its kind \"\(source.kind)\" instead of \"\(plugin.about.id)\".")
            paper.require(!source.name.isEmpty, "It opens a source without a name.")
            if let duration = source.duration {
                paper.require(duration.isFinite && duration >= 0, "It states a length of \(duration) s.")
            }
            return source
        } catch {
            paper.require(!error.message.isEmpty, "It cannot be opened and does not say why.")
            paper.fault("It cannot be opened: \(error).")
            return nil
        }
    }

    private func hear(_ capture: any Capture, _ source: StreamSource, room: Int, _ paper: inout ExamPaper) -> Tape {
        var tape = Tape()
        var format = source.format
        var idle = 0
        // A live source may be silent for as long as it likes, the exam may not.
        while source.format.seconds(at: tape.frames) < longest && idle < 30 {
            let (delivery, samples) = read(capture, room * format.channelCount, &paper)
            guard let delivery else {
                tape.isBroken = true
                return tape
            }
            switch delivery {
            case .frames(let count):
                guard count >= 1, count <= room else {
                    paper.fault("It says that it delivered \(count) frames where there is room for \(room).")
                    return tape
                }
                let delivered = samples[..<(count * format.channelCount)]
                paper.require(
                    !delivered.contains { $0.bitPattern == Self.untouched.bitPattern },
                    "It says that it delivered \(count) frames and has not written them all.")
                tape.samples += delivered
                tape.frames += Int64(count)
                idle = 0
            case .gap(let gap):
                paper.require(gap.frames >= 0, "It tells a gap of \(gap.frames) frames.")
                tape.frames += gap.frames
                tape.isBroken = true
                tape.marks.append(delivery)
            case .source(let new):
                paper.require(new.format.isSupported, "It goes on in a format that Hemiola does not analyse.")
                paper.require(new.kind == plugin.about.id, "It calls its kind \"\(new.kind)\" instead of \"\(plugin.about.id)\".")
                format = new.format
                tape.isBroken = true
                tape.marks.append(delivery)
            case .format(let new):
                paper.require(new.isSupported, "It goes on in a format that Hemiola does not analyse.")
                format = new
                tape.isBroken = true
                tape.marks.append(delivery)
            case .device:
                tape.marks.append(delivery)
            case .idle:
                idle += 1
            case .end:
                tape.hasEnded = true
                return tape
            }
        }
        return tape
    }

    /// A NaN that no source delivers by chance.
    private static let untouched = Float(bitPattern: 0x7FD5_1A3B)

    /// - Returns: What it delivered, nil when it failed; and the reader's buffer.
    private func read(_ capture: any Capture, _ count: Int, _ paper: inout ExamPaper) -> (Delivery?, [Float]) {
        var samples = [Float](repeating: Self.untouched, count: count)
        let start = ContinuousClock.now
        var delivery: Delivery?
        do throws(CaptureError) {
            var span = samples.mutableSpan
            delivery = try capture.read(into: &span)
        } catch {
            paper.fault("It fails while it is read: \(error).")
        }
        paper.require(ContinuousClock.now - start < Self.longestRead, "A read waits for longer than 100 ms.")
        return (delivery, samples)
    }

    /// From the middle and from the end back to the start: the same must come again.
    private func rewind(_ values: SettingValues, _ paper: inout ExamPaper) {
        guard let capture = make(values, &paper) as? any RewindableCapture, let source = open(capture, &paper) else { return }
        defer { capture.close() }
        do throws(CaptureError) {
            _ = read(capture, 100 * source.format.channelCount, &paper)
            try capture.rewind()
            let first = hear(capture, source, room: 1000, &paper)
            try capture.rewind()
            let second = hear(capture, source, room: 1000, &paper)
            paper.require(first.isSame(as: second), "After rewind() it delivers something else than before.")
        } catch {
            paper.fault("It can start over, and fails to: \(error).")
        }
    }

    /// What was heard.
    private struct Tape {
        var samples: [Float] = []
        /// Frames delivered and lost.
        var frames: Int64 = 0
        /// Gaps, formats and devices, in order.
        var marks: [Delivery] = []
        var hasEnded = false
        /// Whether its length says nothing about the length of the source.
        var isBroken = false

        /// Equal to the last bit, as far as both go: one may have stopped a little later.
        func isSame(as other: Tape) -> Bool {
            let count = min(samples.count, other.samples.count)
            let isWhole = hasEnded && other.hasEnded
            return hasEnded == other.hasEnded && (!isWhole || samples.count == other.samples.count && marks == other.marks)
                && samples[..<count].map(\.bitPattern) == other.samples[..<count].map(\.bitPattern)
        }
    }
}
