import Hemiola
import HemiolaVisualizer
import Testing

@testable import PresetsSink

@Suite struct PresetScheduleTests {
    private func settings(
        _ names: [String]? = names(6), order: PresetOrder.Kind = .sequential, cycles: Bool = true
    ) -> ScheduleSettings {
        ScheduleSettings(
            timing: ChangeTiming(duration: .uniform(15), blend: 1, requestBlend: 1.7), order: order, cycles: cycles, names: names)
    }

    private func schedule(_ names: [String]? = names(6)) -> PresetSchedule {
        PresetSchedule(settings(names), seed: 0)
    }

    @Test func `timer: the first preset at 0, then one every 15 s`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        let events = schedule.run(&batches, until: 46)
        #expect(events.presetTimes == [0, 15, 30, 45])
        #expect(events.presets.map(\.name) == ["p0", "p1", "p2", "p3"])
        #expect(events.presets.map(\.reason) == [.start, .timer, .timer, .timer])
        #expect(events.presets.map(\.cut) == [.hard, .soft, .soft, .soft])
        #expect(events.presets.map(\.blend) == [0, 1, 1, 1])
    }

    @Test func `next, previous and random take effect at the end of the batch`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.nextPreset), at: batches.time) == .done)
        var events = schedule.step(&batches)
        #expect(events.presetTimes == [batches.time])
        #expect(events.presets.map(\.withoutCountdown) == [PresetChange(name: "p1", cut: .soft, blend: 1.7, reason: .request)])
        #expect(schedule.handle(Control(.previousPreset), at: batches.time) == .done)
        events = schedule.step(&batches)
        #expect(events.presets.map(\.name) == ["p0"])
        #expect(schedule.handle(Control(.previousPreset), at: batches.time) == .refused("there is no preset before this one"))
        #expect(schedule.handle(Control(.randomPreset), at: batches.time) == .done)
        #expect(schedule.step(&batches).presets.first.map { $0.name != "p0" } == true)
    }

    @Test func `every change carries the time until the timer changes the preset`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        #expect(schedule.run(&batches, until: 40).presets.map { $0.nextIn?.rounded() } == [15, 15, 15])
        _ = schedule.handle(Control(.nextPreset), at: batches.time)
        let requested = schedule.step(&batches).presets
        #expect(requested.count == 1 && abs((requested[0].nextIn ?? 0) - 15) < 1e-9)
        // While locked, no timer change is scheduled.
        _ = schedule.handle(Control(.lockPreset, .boolean(true)), at: batches.time)
        _ = schedule.handle(Control(.nextPreset), at: batches.time)
        let locked = schedule.step(&batches).presets
        #expect(locked.count == 1 && locked[0].nextIn == nil)
    }

    @Test func `a request restarts the timer`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.run(&batches, until: 10)
        _ = schedule.handle(Control(.nextPreset), at: batches.time)
        let events = schedule.run(&batches, until: 30)
        #expect(events.presets.map(\.reason) == [.request, .timer])
        #expect(events.presetTimes[1] - events.presetTimes[0] == 15)
    }

    @Test func `controls do not change the random durations`() {
        let random = ScheduleSettings(
            timing: ChangeTiming(duration: .uniform(16, extra: 10), blend: 1, requestBlend: 1), order: .random, names: names(6))
        func intervals(_ control: Control?) -> [Double] {
            var (schedule, batches) = (PresetSchedule(random, seed: 9), BatchSequence())
            _ = schedule.step(&batches)
            if let control { _ = schedule.handle(control, at: batches.time) }
            let times = schedule.run(&batches, until: 200).presetTimes
            return zip(times, times.dropFirst()).map { $1 - $0 }
        }
        #expect(intervals(Control(.setSpeed, .number(0.5))).first == intervals(nil).first)
        #expect(zip(intervals(Control(.setSpeed, .number(0.5))), intervals(nil)).allSatisfy { abs($0 - $1) < 1e-9 })
    }

    @Test func `loadPreset: by name regardless of case; an ambiguous name lists the matches`() {
        var (schedule, batches) = (schedule(["Élan", "Nebula A", "Nebula B"]), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.loadPreset, .text("nebula b")), at: batches.time) == .done)
        #expect(schedule.step(&batches).presets.map(\.name) == ["Nebula B"])
        #expect(
            schedule.handle(Control(.loadPreset, .text("nebula")), at: batches.time)
                == .refused("\"nebula\" could be \"Nebula A\", \"Nebula B\""))
        #expect(
            schedule.handle(Control(.loadPreset, .text("Elam")), at: batches.time)
                == .refused("there is no preset \"Elam\"; did you mean \"Élan\"?"))
        #expect(schedule.step(&batches).isEmpty)
    }

    @Test func `lockPreset: no automatic change, and requests still work`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.run(&batches, until: 10)
        #expect(schedule.handle(Control(.lockPreset, .boolean(true)), at: batches.time) == .done)
        #expect(schedule.run(&batches, until: 50).isEmpty)
        _ = schedule.handle(Control(.nextPreset), at: batches.time)
        #expect(schedule.step(&batches).presets.map(\.name) == ["p1"])
        let unlocked = batches.time
        _ = schedule.handle(Control(.lockPreset, .boolean(false)), at: unlocked)
        let events = schedule.run(&batches, until: 70)
        #expect(events.presetTimes.count == 1)
        #expect(abs(events.presetTimes[0] - unlocked - 15) < 1e-9)
    }

    @Test func `toggleCycle turns automatic changes off and on`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.toggleCycle), at: batches.time) == .switched(false))
        #expect(schedule.run(&batches, until: 40).isEmpty)
        #expect(schedule.handle(Control(.toggleCycle), at: batches.time) == .switched(true))
        #expect(schedule.run(&batches, until: 56).presets.map(\.reason) == [.timer])
    }

    @Test func `mode manual: only requests change the preset, until one starts the timer`() {
        var (schedule, batches) = (PresetSchedule(settings(cycles: false), seed: 0), BatchSequence())
        let first = schedule.run(&batches, until: 100).presets
        #expect(first.map(\.reason) == [.start] && first[0].nextIn == nil)
        #expect(schedule.handle(Control(.nextPreset), at: batches.time) == .done)
        #expect(schedule.step(&batches).presets.map(\.name) == ["p1"])
        #expect(schedule.handle(Control(.toggleCycle), at: batches.time) == .switched(true))
        #expect(schedule.run(&batches, until: batches.time + 16).presets.map(\.reason) == [.timer])
    }

    @Test(arguments: [nil, "c"])
    func `mode manual without a list: the first preset is the persisted one, or that of the page`(preset: String?) {
        let state = PersistedState(preset: preset, speed: 0.5)
        var (schedule, batches) = (PresetSchedule(settings(nil, cycles: false), persisted: state, seed: 0), BatchSequence())
        #expect(schedule.run(&batches, until: 5).isEmpty)
        _ = schedule.handle(Control(.ready, .texts(["a", "b", "c"])), from: "web/1", at: batches.time)
        let events = schedule.step(&batches)
        #expect(events.presets.map(\.name) == (preset.map { [$0] } ?? []) && events.speeds == [0.5])
        _ = schedule.handle(Control(.presetHandler, .text(preset ?? "b")), from: "web/1", at: batches.time)
        #expect(schedule.step(&batches).presets.map(\.reason) == (preset == nil ? [.page] : []))
    }

    @Test(arguments: [(0.5, 0.5), (0.02, 0.1), (7, 1), (0.33, 0.35), (0.32, 0.3), (-1, 0.1)])
    func `page's speed: clamped and rounded to steps`(reported: Double, speed: Double) {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.speedHandler, .number(reported)), at: batches.time) == .done)
        #expect(schedule.step(&batches).speeds == [speed])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func `setSpeed to what is not finite: refused`(speed: Double) {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.setSpeed, .number(speed)), at: 0) == .refused("the speed is not finite"))
        #expect(schedule.step(&batches).isEmpty)
    }

    // MARK: - The page

    @Test func `no list: no automatic change, and any name is accepted`() {
        var (schedule, batches) = (schedule(nil), BatchSequence())
        #expect(schedule.run(&batches, until: 100).isEmpty)
        #expect(schedule.handle(Control(.nextPreset), at: batches.time) == .refused("there is no list of presets"))
        #expect(schedule.handle(Control(.loadPreset, .text("anything")), at: batches.time) == .done)
        let loaded = schedule.step(&batches).presets
        #expect(loaded.map(\.name) == ["anything"] && loaded.allSatisfy { $0.nextIn == nil })
        #expect(schedule.run(&batches, until: 200).isEmpty)
    }

    @Test func `empty list: no automatic change`() {
        var (schedule, batches) = (schedule([]), BatchSequence())
        #expect(schedule.run(&batches, until: 100).isEmpty)
    }

    @Test func `no user list: the page's list is used`() {
        var (schedule, batches) = (schedule(nil), BatchSequence())
        _ = schedule.run(&batches, until: 5)
        #expect(schedule.handle(Control(.ready, .texts(["a", "b", "a"])), at: batches.time) == .done)
        let start = batches.time + BatchSequence.standardLength
        let events = schedule.run(&batches, until: 40)
        #expect(events.presets.map(\.name) == ["a", "b", "a"])
        #expect(events.presets.map(\.reason) == [.start, .timer, .timer])
        #expect(abs(events.presetTimes[0] - start) < 1e-9)
    }

    @Test func `user list and page list: only presets of both are used`() {
        var (schedule, batches) = (schedule(["a", "b", "c"]), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.presetNames, .texts(["c", "b", "x"])), at: batches.time) == .done)
        #expect(schedule.library.known.names == ["b", "c"])
        // The page does not have "a", which is shown.
        #expect(schedule.run(&batches, until: 31).presets.map(\.name) == ["b", "c", "b"])
        guard case .refused = schedule.handle(Control(.presetNames, .texts(["x", "y"])), at: batches.time) else {
            Issue.record("presets that are not in the user's list are not refused")
            return
        }
        #expect(schedule.run(&batches, until: 100).isEmpty)
    }

    @Test func `page's list shrinks: only its presets follow`() {
        var (schedule, batches) = (schedule(nil), BatchSequence())
        _ = schedule.handle(Control(.ready, .texts(names(20))), at: 0)
        _ = schedule.run(&batches, until: 100)
        _ = schedule.handle(Control(.presetNames, .texts(["p3", "p4"])), at: batches.time)
        #expect(Set(schedule.run(&batches, until: 200).presets.map(\.name)) == ["p3", "p4"])
        _ = schedule.handle(Control(.presetNames, .texts([])), at: batches.time)
        #expect(schedule.run(&batches, until: 300).isEmpty)
    }

    @Test func `page changes the preset itself: the timer restarts`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.run(&batches, until: 10)
        #expect(schedule.handle(Control(.presetHandler, .text("p4")), at: batches.time) == .done)
        let events = schedule.run(&batches, until: 30)
        #expect(events.presets.map(\.reason) == [.page, .timer])
        #expect(events.presets.map(\.name) == ["p4", "p5"])
        #expect(events.presetTimes[1] - events.presetTimes[0] == 15)
    }

    @Test func `page confirms a load: no change event`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.step(&batches)
        _ = schedule.handle(Control(.nextPreset), at: batches.time)
        _ = schedule.step(&batches)
        _ = schedule.handle(Control(.nextPreset), at: batches.time)
        _ = schedule.step(&batches)
        for name in ["p1", "p2"] { #expect(schedule.handle(Control(.presetHandler, .text(name)), at: batches.time) == .done) }
        #expect(schedule.step(&batches).isEmpty)
        // After 3 s a report is no longer a confirmation.
        _ = schedule.run(&batches, until: 10)
        _ = schedule.handle(Control(.presetHandler, .text("p1")), at: batches.time)
        #expect(schedule.step(&batches).presets.map(\.reason) == [.page])
    }

    @Test func `page refuses a preset: it is skipped and the next one loaded`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.presetRefused, .text("p0")), at: batches.time) == .done)
        #expect(
            schedule.step(&batches).presets.map(\.withoutCountdown)
                == [PresetChange(name: "p1", cut: .soft, blend: 1.7, reason: .refused)])
        #expect(schedule.handle(Control(.presetRefused, .text("p1")), at: batches.time) == .done)
        #expect(schedule.step(&batches).presets.map(\.name) == ["p2"])
        let later = schedule.run(&batches, until: 200).presets
        #expect(later.count == 13)
        #expect(later.allSatisfy { !["p0", "p1"].contains($0.name) })
        // A new page may have the presets that an earlier page refused.
        _ = schedule.handle(Control(.ready, .texts(names(6))), at: batches.time)
        #expect(schedule.library.known.names == names(6))
    }

    @Test func `page refuses all presets: the control is refused and changes stop`() {
        var (schedule, batches) = (schedule(names(2)), BatchSequence())
        _ = schedule.step(&batches)
        #expect(schedule.handle(Control(.presetRefused, .text("p0")), at: batches.time) == .done)
        _ = schedule.step(&batches)
        #expect(
            schedule.handle(Control(.presetRefused, .text("p1")), at: batches.time)
                == .refused("there is no other preset to show instead of \"p1\""))
        #expect(schedule.run(&batches, until: 100).isEmpty)
    }

    // MARK: - Several pages

    private func pages(_ lists: [String]...) -> (PresetSchedule, BatchSequence) {
        var (schedule, batches) = (PresetSchedule(settings(nil), seed: 0), BatchSequence())
        for (index, list) in lists.enumerated() {
            #expect(schedule.handle(Control(.ready, .texts(list)), from: "web/\(index + 1)", at: 0) == .done)
        }
        _ = schedule.step(&batches)
        return (schedule, batches)
    }

    @Test func `pages with different presets: each gets presets that it has, at the times of the schedule`() {
        var (schedule, batches) = pages(["a", "b", "c"], ["x", "y"])
        let events = schedule.run(&batches, until: 200)
        #expect(events.presets.count == 13)
        for change in events.presets {
            let own = events.filter { $0.time == events.first { PresetChange($0) == change }!.time }.pagePresets
            let hasFirst = ["a", "b", "c"].contains(change.name)
            #expect(own.map(\.page) == [hasFirst ? "web/2" : "web/1"])
            #expect(own.allSatisfy { (hasFirst ? ["x", "y"] : ["a", "b", "c"]).contains($0.name) && $0.reason == .timer })
        }
    }

    @Test func `page refuses a preset: the other page keeps it`() {
        var (schedule, batches) = pages(["a", "b", "c"], ["a", "b", "c"])
        _ = schedule.handle(Control(.presetRefused, .text("a")), from: "web/2", at: batches.time)
        let events = schedule.step(&batches)
        #expect(events.presets.isEmpty)
        #expect(events.pagePresets == [PagePresetChange(page: "web/2", name: "b", blend: 1.7, reason: .refused)])
        // The other page refuses it too: both show the same again.
        _ = schedule.handle(Control(.presetRefused, .text("a")), from: "web/1", at: batches.time)
        #expect(schedule.step(&batches).pagePresets.map(\.name) == ["b"])
        #expect(schedule.library.known.names == ["b", "c"])
        #expect(schedule.run(&batches, until: 100).pagePresets.isEmpty)
    }

    @Test func `page that connects without the current preset: gets one that it has`() {
        var (schedule, batches) = pages(["a", "b"])
        _ = schedule.handle(Control(.ready, .texts(["x", "a"])), from: "web/2", at: batches.time)
        #expect(schedule.step(&batches).isEmpty)
        _ = schedule.handle(Control(.ready, .texts(["x", "y"])), from: "web/3", at: batches.time)
        #expect(schedule.step(&batches).pagePresets == [PagePresetChange(page: "web/3", name: "x", blend: 1.7, reason: .start)])
    }

    @Test func `requests: by name only pages with the preset change, others move within their own presets`() {
        var (schedule, batches) = pages(["a", "b"], ["x", "y"])
        #expect(schedule.handle(Control(.loadPreset, .text("y")), from: "socket/1", at: batches.time) == .done)
        var events = schedule.step(&batches)
        #expect(events.presets.map(\.name) == ["y"] && events.pagePresets.isEmpty)
        #expect(schedule.handle(Control(.nextPreset), from: "socket/1", at: batches.time) == .done)
        events = schedule.step(&batches)
        #expect(events.presets.count == 1 && events.pagePresets.count == 1)
        // A page changes by itself: pages without this preset keep theirs.
        _ = schedule.run(&batches, until: batches.time + 4)
        _ = schedule.handle(Control(.presetHandler, .text("b")), from: "web/1", at: batches.time)
        events = schedule.step(&batches)
        #expect(events.presets.allSatisfy { $0.name == "b" && $0.reason == .page } && events.pagePresets.isEmpty)
    }

    @Test func `page that confirms its own preset: changes nothing`() throws {
        var (schedule, batches) = pages(["a", "b"], ["x", "y"])
        let own = try #require(schedule.run(&batches, until: 16).pagePresets.first)
        _ = schedule.run(&batches, until: 20)
        #expect(schedule.handle(Control(.presetHandler, .text(own.name)), from: own.page, at: batches.time) == .done)
        #expect(schedule.step(&batches).isEmpty)
    }

    @Test func `page whose user goes back at once to the preset that the cycler has loaded: followed`() throws {
        var (schedule, batches) = pages(["a", "b"], ["a", "b"])
        let loaded = try #require(schedule.run(&batches, until: 16).presets.last).name
        let other = loaded == "a" ? "b" : "a"
        for name in [other, loaded, other] {
            #expect(schedule.handle(Control(.presetHandler, .text(name)), from: "web/1", at: batches.time) == .done)
            #expect(schedule.step(&batches).presets.map(\.name) == [name])
        }
        // The other page only confirms them, late.
        for name in [loaded, other] { _ = schedule.handle(Control(.presetHandler, .text(name)), from: "web/2", at: batches.time) }
        #expect(schedule.step(&batches).isEmpty)
    }

    @Test func `page disconnects: its presets are no longer chosen; those of the last page remain`() {
        var (schedule, batches) = pages(["a", "b"], ["x", "y"])
        _ = schedule.handle(Control(.pageClosed), from: "web/1", at: batches.time)
        #expect(schedule.library.known.names == ["x", "y"])
        _ = schedule.handle(Control(.pageClosed), from: "web/2", at: batches.time)
        #expect(schedule.library.known.names == ["x", "y"])
        #expect(schedule.run(&batches, until: 100).presets.allSatisfy { ["x", "y"].contains($0.name) })
        _ = schedule.handle(Control(.ready, .texts(["q"])), from: "web/3", at: batches.time)
        #expect(schedule.library.known.names == ["q"])
    }

    @Test func `thousand pages: the oldest are forgotten`() {
        let preparer = PresetControlPreparer(settings(nil))
        var last = preparer.preparation(for: Control(.ready, .texts(["a"])), from: "web/0")
        for number in 1..<1000 { last = preparer.preparation(for: Control(.ready, .texts(["p\(number)"])), from: "web/\(number)") }
        #expect(last.library.connectedPages.count == 64 && last.library.known.names.count == 64)
    }

    @Test func `pages with long lists: the oldest are forgotten, and the newest is kept whatever its length`() {
        let preparer = PresetControlPreparer(settings(nil))
        func names(_ page: Int, _ length: Int) -> Control {
            Control(.ready, .texts((0..<9000).map { "\(page) \($0) " + String(repeating: "x", count: length) }))
        }
        var last = preparer.preparation(for: names(0, 60), from: "web/0")
        for page in 1..<20 { last = preparer.preparation(for: names(page, 60), from: "web/\(page)") }
        #expect((2...8).contains(last.library.connectedPages.count) && last.library.connectedPages.last?.origin == "web/19")
        last = preparer.preparation(for: names(20, 1000), from: "web/20")
        #expect(last.library.connectedPages.map(\.origin) == ["web/20"] && last.library.known.names.count == 9000)
    }

    // MARK: - Favourites and persisted state

    @Test(arguments: [(64 << 10, true), (64 << 10 + 1, false)]) func `favourites of more than 128 KiB: refused`(length: Int, isDone: Bool) {
        var schedule = PresetSchedule(settings(), seed: 0)
        let names = ["a", "b"].map { String(repeating: $0, count: length) }
        #expect(schedule.handle(Control(.setFavourites, .texts(names)), at: 0).isDone == isDone)
    }

    @Test func `persisted preset and speed are the first ones`() {
        var (schedule, batches) = (
            PresetSchedule(settings(), persisted: PersistedState(preset: "p3", speed: 0.4), seed: 0), BatchSequence()
        )
        let events = schedule.run(&batches, until: 16)
        #expect(events.presets.map(\.name) == ["p3", "p4"])
        #expect(events.speeds == [0.4])
        #expect(events.filter { $0.time == 0 }.count == 2)
    }

    @Test func `persisted preset not in the list: the first of the list is used`() {
        var (schedule, batches) = (PresetSchedule(settings(), persisted: PersistedState(preset: "gone"), seed: 0), BatchSequence())
        #expect(schedule.run(&batches, until: 1).presets.map(\.name) == ["p0"])
    }

    @Test func `persisted speed out of range: clamped`() {
        var (schedule, batches) = (PresetSchedule(settings(), persisted: PersistedState(speed: 90), seed: 0), BatchSequence())
        #expect(schedule.step(&batches).speeds == [1])
    }

    @Test func `rebase: the schedule continues on the new clock`() {
        var (schedule, batches) = (schedule(), BatchSequence())
        _ = schedule.run(&batches, until: 20)
        schedule.rebase(by: batches.time)
        let old = batches.time
        batches = BatchSequence()
        let events = schedule.run(&batches, until: 12)
        #expect(events.presets.map(\.name) == ["p2"])
        #expect(abs(events.presetTimes[0] - (30 - old)) < 1e-9)
    }

    @Test func `control of another plugin: refused`() {
        var schedule = schedule()
        let control = Control(ControlType("setDepth", "Sets the depth of a reverb."))
        #expect(schedule.handle(control, at: 0) == .unknown(control))
    }
}
