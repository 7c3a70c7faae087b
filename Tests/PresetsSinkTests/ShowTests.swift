import Hemiola
import HemiolaSignal
import Testing

@testable import PresetsSink

@Suite struct ShowTests {
    private func settings(
        _ names: [String]? = names(6), period: Double? = 15, order: PresetOrder.Kind = .sequential
    ) -> ShowSettings {
        ShowSettings(
            pacing: Pacing(period: period.map { .fixed($0) }, blend: 1, requestBlend: 1.7), order: order, names: names)
    }

    private func show(_ names: [String]? = names(6), period: Double? = 15) -> PresetShow {
        PresetShow(settings(names, period: period), seed: 0)
    }

    @Test func `a show begins with its first preset and goes on by itself`() {
        var (show, stage) = (show(), Stage())
        let events = show.run(&stage, until: 46)
        #expect(events.presetTimes == [0, 15, 30, 45])
        #expect(events.presets.map(\.name) == ["p0", "p1", "p2", "p3"])
        #expect(events.presets.map(\.reason) == [.start, .timer, .timer, .timer])
        #expect(events.presets.map(\.cut) == [.hard, .soft, .soft, .soft])
        #expect(events.presets.map(\.blend) == [0, 1, 1, 1])
    }

    @Test func `next, previous and random are obeyed at the batch's end`() {
        var (show, stage) = (show(), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.nextPreset, at: stage.time) == .done)
        var events = show.step(&stage)
        #expect(events.presetTimes == [stage.time])
        #expect(events.presets.map(\.withoutCountdown) == [PresetChange(name: "p1", cut: .soft, blend: 1.7, reason: .request)])
        #expect(show.obey(.previousPreset, at: stage.time) == .done)
        events = show.step(&stage)
        #expect(events.presets.map(\.name) == ["p0"])
        #expect(show.obey(.previousPreset, at: stage.time) == .refused("there is no preset before this one"))
        #expect(show.obey(.randomPreset, at: stage.time) == .done)
        #expect(show.step(&stage).presets.first.map { $0.name != "p0" } == true)
    }

    @Test func `every change tells how soon time brings the next`() {
        var (show, stage) = (show(), Stage())
        #expect(show.run(&stage, until: 40).presets.map { $0.nextIn?.rounded() } == [15, 15, 15])
        _ = show.obey(.nextPreset, at: stage.time)
        let asked = show.step(&stage).presets
        #expect(asked.count == 1 && abs((asked[0].nextIn ?? 0) - 15) < 1e-9)
        // Held, it stays until somebody wishes otherwise.
        _ = show.obey(.lockPreset(true), at: stage.time)
        _ = show.obey(.nextPreset, at: stage.time)
        let locked = show.step(&stage).presets
        #expect(locked.count == 1 && locked[0].nextIn == nil)
    }

    @Test func `a request begins the time anew`() {
        var (show, stage) = (show(), Stage())
        _ = show.run(&stage, until: 10)
        _ = show.obey(.nextPreset, at: stage.time)
        let events = show.run(&stage, until: 30)
        #expect(events.presets.map(\.reason) == [.request, .timer])
        #expect(events.presetTimes[1] - events.presetTimes[0] == 15)
    }

    @Test func `what was asked for does not change the times that are drawn`() {
        let random = ShowSettings(
            pacing: Pacing(period: .uniform(16, extra: 10), blend: 1, requestBlend: 1), order: .random, names: names(6))
        func intervals(_ control: Control?) -> [Double] {
            var (show, stage) = (PresetShow(random, seed: 9), Stage())
            _ = show.step(&stage)
            if let control { _ = show.obey(control, at: stage.time) }
            let times = show.run(&stage, until: 200).presetTimes
            return zip(times, times.dropFirst()).map { $1 - $0 }
        }
        #expect(intervals(.setSpeed(0.5)).first == intervals(nil).first)
        #expect(zip(intervals(.setSpeed(0.5)), intervals(nil)).allSatisfy { abs($0 - $1) < 1e-9 })
    }

    @Test func `a preset is loaded by name, whatever its case, and several are listed`() {
        var (show, stage) = (show(["Élan", "Nebula A", "Nebula B"]), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.loadPreset(name: "nebula b"), at: stage.time) == .done)
        #expect(show.step(&stage).presets.map(\.name) == ["Nebula B"])
        #expect(show.obey(.loadPreset(name: "nebula"), at: stage.time) == .refused("\"nebula\" could be \"Nebula A\", \"Nebula B\""))
        #expect(
            show.obey(.loadPreset(name: "Elam"), at: stage.time)
                == .refused("there is no preset \"Elam\"; did you mean \"Élan\"?"))
        #expect(show.step(&stage).isEmpty)
    }

    @Test func `a lock holds what is shown, and requests still work`() {
        var (show, stage) = (show(), Stage())
        _ = show.run(&stage, until: 10)
        #expect(show.obey(.lockPreset(true), at: stage.time) == .done)
        #expect(show.state(at: stage.time).isLocked && show.state(at: stage.time).nextIn == nil)
        #expect(show.run(&stage, until: 50).isEmpty)
        _ = show.obey(.nextPreset, at: stage.time)
        #expect(show.step(&stage).presets.map(\.name) == ["p1"])
        let unlocked = stage.time
        _ = show.obey(.lockPreset(false), at: unlocked)
        let events = show.run(&stage, until: 70)
        #expect(events.presetTimes.count == 1)
        #expect(abs(events.presetTimes[0] - unlocked - 15) < 1e-9)
    }

    @Test func `cycling can be turned off and on`() {
        var (show, stage) = (show(), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.toggleCycle, at: stage.time) == .done)
        #expect(!show.state(at: stage.time).isCycling)
        #expect(show.run(&stage, until: 40).isEmpty)
        _ = show.obey(.toggleCycle, at: stage.time)
        #expect(show.run(&stage, until: 56).presets.map(\.reason) == [.timer])
    }

    @Test func `in manual mode only requests change anything`() {
        var (show, stage) = (show(period: nil), Stage())
        #expect(show.run(&stage, until: 100).presets.map(\.reason) == [.start])
        #expect(show.obey(.toggleCycle, at: stage.time) == .refused("in manual mode presets never change by themselves"))
        #expect(show.obey(.nextPreset, at: stage.time) == .done)
        #expect(show.step(&stage).presets.map(\.name) == ["p1"])
    }

    @Test(arguments: [(0.5, 0.5), (0.02, 0.1), (7, 1), (0.33, 0.35), (0.32, 0.3), (-1, 0.1)])
    func `the speed that a page reports is clamped and stepped`(wish: Double, speed: Double) {
        var (show, stage) = (show(), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.speedChanged(wish), at: stage.time) == .done)
        #expect(show.step(&stage).speeds == [speed])
        #expect(show.state(at: stage.time).speed == speed)
    }

    @Test(arguments: [Double.nan, .infinity, 0.09, 1.01, -1, 7]) func `a requested speed out of range is refused`(speed: Double) {
        var (show, stage) = (show(), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.setSpeed(speed), at: 0) == .refused("a speed is a number from 0.1 to 1"))
        #expect(show.step(&stage).isEmpty)
    }

    @Test func `the state counts down`() {
        var (show, stage) = (show(), Stage())
        #expect(show.state(at: 0).preset == nil)
        _ = show.run(&stage, until: 10)
        let state = show.state(at: stage.time)
        #expect(state.preset == "p0" && state.isCycling && !state.isLocked && state.speed == 1)
        #expect(state.nextIn.map { abs($0 - (15 - stage.time)) < 1e-9 } == true)
    }

    // MARK: - The page

    @Test func `without a list nothing is cycled, and names are taken as they are`() {
        var (show, stage) = (show(nil), Stage())
        #expect(show.run(&stage, until: 100).isEmpty)
        #expect(show.state(at: stage.time).nextIn == nil)
        #expect(show.obey(.nextPreset, at: stage.time) == .refused("there is no list of presets"))
        #expect(show.obey(.loadPreset(name: "anything"), at: stage.time) == .done)
        #expect(show.step(&stage).presets.map(\.name) == ["anything"])
        #expect(show.run(&stage, until: 200).isEmpty)
    }

    @Test func `an empty list is no list`() {
        var (show, stage) = (show([]), Stage())
        #expect(show.run(&stage, until: 100).isEmpty)
    }

    @Test func `the page's own presets are the list where there is none`() {
        var (show, stage) = (show(nil), Stage())
        _ = show.run(&stage, until: 5)
        #expect(show.obey(.ready(presets: ["a", "b", "a"]), at: stage.time) == .done)
        let began = stage.time + Stage.standardBatch
        let events = show.run(&stage, until: 40)
        #expect(events.presets.map(\.name) == ["a", "b", "a"])
        #expect(events.presets.map(\.reason) == [.start, .timer, .timer])
        #expect(abs(events.presetTimes[0] - began) < 1e-9)
    }

    @Test func `of the user's list only what the page has is shown`() {
        var (show, stage) = (show(["a", "b", "c"]), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.presetNames(["c", "b", "x"]), at: stage.time) == .done)
        #expect(show.names == ["b", "c"])
        #expect(show.run(&stage, until: 31).presets.map(\.name) == ["b", "c"])
        guard case .refused = show.obey(.presetNames(["x", "y"]), at: stage.time) else {
            Issue.record("none of the page's presets is listed")
            return
        }
        #expect(show.run(&stage, until: 100).isEmpty)
    }

    @Test func `a list that shrinks while running`() {
        var (show, stage) = (show(nil), Stage())
        _ = show.obey(.ready(presets: names(20)), at: 0)
        _ = show.run(&stage, until: 100)
        _ = show.obey(.presetNames(["p3", "p4"]), at: stage.time)
        #expect(Set(show.run(&stage, until: 200).presets.map(\.name)) == ["p3", "p4"])
        _ = show.obey(.presetNames([]), at: stage.time)
        #expect(show.run(&stage, until: 300).isEmpty)
    }

    @Test func `the page's own change begins the time anew`() {
        var (show, stage) = (show(), Stage())
        _ = show.run(&stage, until: 10)
        #expect(show.obey(.presetChanged(name: "p4"), at: stage.time) == .done)
        let events = show.run(&stage, until: 30)
        #expect(events.presets.map(\.reason) == [.page, .timer])
        #expect(events.presets.map(\.name) == ["p4", "p5"])
        #expect(events.presetTimes[1] - events.presetTimes[0] == 15)
    }

    @Test func `the page's answer to our own load is no change`() {
        var (show, stage) = (show(), Stage())
        _ = show.step(&stage)
        _ = show.obey(.nextPreset, at: stage.time)
        _ = show.step(&stage)
        _ = show.obey(.nextPreset, at: stage.time)
        _ = show.step(&stage)
        for name in ["p1", "p2"] { #expect(show.obey(.presetChanged(name: name), at: stage.time) == .done) }
        #expect(show.step(&stage).isEmpty)
        #expect(show.state(at: stage.time).preset == "p2")
        // Much later it is a choice.
        _ = show.run(&stage, until: 10)
        _ = show.obey(.presetChanged(name: "p1"), at: stage.time)
        #expect(show.step(&stage).presets.map(\.reason) == [.page])
    }

    @Test func `a preset that is refused is skipped, and the next tried`() {
        var (show, stage) = (show(), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.presetRefused(name: "p0"), at: stage.time) == .done)
        #expect(
            show.step(&stage).presets.map(\.withoutCountdown)
                == [PresetChange(name: "p1", cut: .soft, blend: 1.7, reason: .refused)])
        #expect(show.obey(.presetRefused(name: "p1"), at: stage.time) == .done)
        #expect(show.step(&stage).presets.map(\.name) == ["p2"])
        let later = show.run(&stage, until: 200).presets
        #expect(later.count == 13)
        #expect(later.allSatisfy { !["p0", "p1"].contains($0.name) })
        // A new page is asked anew.
        _ = show.obey(.ready(presets: names(6)), at: stage.time)
        #expect(show.names == names(6))
    }

    @Test func `when all are refused it says so and stops`() {
        var (show, stage) = (show(names(2)), Stage())
        _ = show.step(&stage)
        #expect(show.obey(.presetRefused(name: "p0"), at: stage.time) == .done)
        _ = show.step(&stage)
        #expect(show.obey(.presetRefused(name: "p1"), at: stage.time) == .refused("there is no other preset to show instead of \"p1\""))
        #expect(show.run(&stage, until: 100).isEmpty)
    }

    // MARK: - Favourites and memory

    @Test func `favourites and skipped ones, whatever their case`() {
        var chosen = settings(["A", "B", "C", "Élan"])
        chosen.favourites = ["a", "elan", "c", "nowhere"]
        chosen.skipped = ["C"]
        #expect(PresetShow(chosen, seed: 0).names == ["A", "Élan"])
        // Loaded by name they all are.
        var show = PresetShow(chosen, seed: 0)
        #expect(show.obey(.loadPreset(name: "B"), at: 0) == .done)
        chosen.favourites = ["nowhere"]
        #expect(PresetShow(chosen, seed: 0).names == ["A", "B", "Élan"])
    }

    @Test func `a show goes on where the last one ended`() {
        var (show, stage) = (PresetShow(settings(), memory: ShowMemory(preset: "p3", speed: 0.4), seed: 0), Stage())
        let events = show.run(&stage, until: 16)
        #expect(events.presets.map(\.name) == ["p3", "p4"])
        #expect(events.speeds == [0.4])
        #expect(events.filter { $0.time == 0 }.count == 2)
    }

    @Test func `what is remembered and not there any more is passed over`() {
        var (show, stage) = (PresetShow(settings(), memory: ShowMemory(preset: "gone"), seed: 0), Stage())
        #expect(show.run(&stage, until: 1).presets.map(\.name) == ["p0"])
    }

    @Test func `a speed that was remembered wrongly is clamped`() {
        var (show, stage) = (PresetShow(settings(), memory: ShowMemory(speed: 90), seed: 0), Stage())
        #expect(show.step(&stage).speeds == [1])
    }

    @Test func `a new clock does not begin the show anew`() {
        var (show, stage) = (show(), Stage())
        _ = show.run(&stage, until: 20)
        show.rebase(by: stage.time)
        let old = stage.time
        stage = Stage()
        let events = show.run(&stage, until: 12)
        #expect(events.presets.map(\.name) == ["p2"])
        #expect(abs(events.presetTimes[0] - (30 - old)) < 1e-9)
    }

    @Test func `other controls are none of its business`() {
        var show = show()
        #expect(show.obey(.tap, at: 0) == nil)
        #expect(show.obey(.resetTempo, at: 0) == nil)
    }
}
