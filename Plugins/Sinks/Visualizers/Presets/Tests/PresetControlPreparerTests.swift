import Hemiola
import HemiolaVisualizer
import Testing

@testable import PresetsSink

/// Preparations of controls that name presets, and the cost that remains on the analysis thread.
@Suite struct PresetControlPreparerTests {
    private static let many = (0..<10_000).map { "Author \($0 % 97) - The long name of preset \($0)" }

    private func settings(_ names: [String]?) -> ScheduleSettings {
        ScheduleSettings(timing: ChangeTiming(duration: .uniform(15), blend: 1, requestBlend: 1), order: .sequential, names: names)
    }

    private func director(_ names: [String]?) -> PresetDirector {
        let director = PresetDirector(settings(names))
        director.prepare(header(isLive: true))
        return director
    }

    private func header(isLive: Bool) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "test", name: "test"),
            isLive: isLive, batching: .standard, seed: 0, analyzers: [])
    }

    /// The events of a batch.
    private func events(_ director: PresetDirector) -> [Event] {
        var (row, events) = ([Float](), EventList())
        let moment = BatchMoment(number: 0, frame: 0, frameCount: 1024, format: StreamFormat(sampleRate: 44_100, channelCount: 2))
        director.direct(moment, FeatureRow(row.mutableSpan), into: &events)
        return events.events
    }

    /// Seconds on the analysis thread for a prepared control: the minimum of five measurements.
    private func seconds(_ control: Control, _ director: PresetDirector) -> Double {
        let preparation = director.preparer.prepare(control, from: "test")
        let stamped = StampedControl(control, at: 0, from: "test")
        let clock = ContinuousClock()
        return (0..<5).map { _ in
            let time = clock.measure {
                for _ in 0..<200 { _ = director.handle(stamped, preparation: preparation) }
            }
            return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
        }.min()! / 200
    }

    @Test func `cost on the analysis thread: independent of the length of names and lists`() {
        let long = String(repeating: "an unknown name ", count: 64)
        let (few, many) = (director(names(10)), director(Self.many))
        let (short, small) = (Control(.loadPreset, .text("p3")), Control(.presetNames, .texts(names(10))))
        let base = max(seconds(short, few), seconds(small, few))
        for control in [
            Control(.loadPreset, .text(long)), Control(.loadPreset, .text(Self.many[9_999])), Control(.presetNames, .texts(Self.many)),
            Control(.ready, .texts(Self.many)),
            Control(.presetRefused, .text(Self.many[5])),
        ] {
            let time = seconds(control, many)
            #expect(time < 20 * base + 1e-5, "\(control.name): \(time) s and not \(base) s")
        }
    }

    @Test func `a prepared control has the same effect as an unprepared one`() {
        let names = ["Élan", "Nebula A", "Nebula B"]
        let controls: [Control] = [
            Control(.loadPreset, .text("nebula b")), Control(.loadPreset, .text("nebula")), Control(.presetRefused, .text("Élan")),
            Control(.loadPreset, .text("elan")),
            Control(.presetNames, .texts(["Nebula A"])), Control(.loadPreset, .text("Nebula B")), Control(.presetNames, .texts(["x"])),
            Control(.ready, .texts(names)),
            Control(.loadPreset, .text("elan")), Control(.nextPreset),
        ]
        let (direct, prepared) = (director(names), director(names))
        for control in controls {
            let stamped = StampedControl(control, at: 0, from: "test")
            let preparer = prepared.preparer
            let reply =
                preparer.isNeeded(for: control)
                ? prepared.handle(stamped, preparation: preparer.prepare(control, from: "test")) : prepared.handle(stamped)
            #expect(reply == direct.handle(stamped), "\(control.name)")
            #expect(events(prepared) == events(direct), "\(control.name)")
        }
    }

    @Test func `a preparation made before a new schedule is repeated`() {
        let preparer = PresetControlPreparer(settings(names(3)))
        var old = PresetSchedule(settings(names(3)), preparer: preparer, seed: 0)
        _ = old.handle(Control(.presetNames, .texts(["p1"])), at: 0)
        let preparation = preparer.preparation(for: Control(.loadPreset, .text("p0")))
        #expect(preparation.error != nil)
        var new = PresetSchedule(settings(names(3)), preparer: preparer, seed: 0)
        #expect(new.handle(Control(.loadPreset, .text("p0")), at: 0, preparation: preparation) == .done)
    }

    @Test func `page that is ready before the schedule begins, and one after it: both are known`() {
        let preparer = PresetControlPreparer(settings(nil))
        let (first, second) = (Control(.ready, .texts(["a"])), Control(.ready, .texts(["x"])))
        let early = preparer.preparation(for: first, from: "web/1")
        var schedule = PresetSchedule(settings(nil), preparer: preparer, seed: 0)
        let late = preparer.preparation(for: second, from: "web/2")
        #expect(schedule.handle(first, from: "web/1", at: 0, preparation: early) == .done)
        #expect(schedule.handle(second, from: "web/2", at: 0, preparation: late) == .done)
        #expect(schedule.library.known.names.sorted() == ["a", "x"])
    }

    @Test func `next file: the schedule goes on for a page, and begins anew without one`() {
        let director = PresetDirector(settings(nil))
        for hasPage in [false, true] {
            director.prepare(header(isLive: false))
            if hasPage { _ = director.handle(StampedControl(Control(.ready, .texts(["a", "b"])), at: 0, from: "web/1")) }
            #expect(events(director).presets.map(\.name) == (hasPage ? ["a"] : []))
        }
        director.prepare(header(isLive: false))
        #expect(events(director).isEmpty)
        _ = director.handle(StampedControl(Control(.nextPreset), at: 0, from: "web/1"))
        #expect(events(director).presets.map(\.name) == ["b"])
        _ = director.handle(StampedControl(Control(.pageClosed), at: 0, from: "web/1"))
        director.prepare(header(isLive: false))
        _ = director.handle(StampedControl(Control(.ready, .texts(["a", "b"])), at: 0, from: "web/2"))
        #expect(events(director).presets.map(\.name) == ["a"])
    }

    @Test func `unknown name of 1 kB: quoted truncated and without a suggestion`() {
        let preparer = PresetControlPreparer(settings(Self.many))
        let long = String(repeating: "x", count: 1024)
        #expect(
            preparer.preparation(for: Control(.loadPreset, .text(long))).error
                == "there is no preset \"\(String(repeating: "x", count: 80))…\"")
        let near = preparer.preparation(for: Control(.loadPreset, .text("Author 5 - The lomg name of preset 5")))
        #expect(near.error?.contains("did you mean \"Author 5 - The long name of preset 5\"?") == true, "\(near)")
    }

    @Test func `refused names that are in no list are not stored`() {
        let preparer = PresetControlPreparer(settings(names(3)))
        for number in 0..<100 { _ = preparer.preparation(for: Control(.presetRefused, .text("unknown \(number)"))) }
        #expect(preparer.preparation(for: Control(.presetRefused, .text("p1"))).library.known.names == ["p0", "p2"])
    }
}
