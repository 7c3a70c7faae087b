import Hemiola
import HemiolaSignal
import Testing

@testable import PresetsSink

/// What the library answers to controls that name presets, and what is left for the analysis thread.
@Suite struct LibraryTests {
    private static let many = (0..<10_000).map { "Author \($0 % 97) - The long name of preset \($0)" }

    private func settings(_ names: [String]?) -> ShowSettings {
        ShowSettings(pacing: Pacing(period: .fixed(15), blend: 1, requestBlend: 1), order: .sequential, names: names)
    }

    private func director(_ names: [String]?) -> PresetDirector {
        let director = PresetDirector(settings(names))
        director.prepare(
            StreamHeader(
                source: StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "test", name: "test"),
                isLive: true, batching: .standard, seed: 0, analyzers: []))
        return director
    }

    /// Seconds that the analysis thread takes for a control, prepared before; the fastest of several.
    private func seconds(_ control: Control, _ director: PresetDirector) -> Double {
        let preparation = director.preparer.prepare(control)
        let stamped = StampedControl(control, at: 0, from: "test")
        let clock = ContinuousClock()
        return (0..<5).map { _ in
            let time = clock.measure {
                for _ in 0..<200 { _ = director.handle(stamped, preparation: preparation) }
            }
            return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
        }.min()! / 200
    }

    @Test func `the analysis thread's cost of a control depends neither on the name nor on the list`() {
        let long = String(repeating: "an unknown name ", count: 64)
        let (few, many) = (director(names(10)), director(Self.many))
        let (short, small) = (Control.loadPreset(name: "p3"), Control.presetNames(names(10)))
        let base = max(seconds(short, few), seconds(small, few))
        for control in [
            Control.loadPreset(name: long), .loadPreset(name: Self.many[9_999]), .presetNames(Self.many), .ready(presets: Self.many),
            .presetRefused(name: Self.many[5]),
        ] {
            let time = seconds(control, many)
            #expect(time < 20 * base + 1e-5, "\(control.name): \(time) s and not \(base) s")
        }
    }

    @Test func `an answer is what the director would have found itself`() {
        let names = ["Élan", "Nebula A", "Nebula B"]
        let controls: [Control] = [
            .loadPreset(name: "nebula b"), .loadPreset(name: "nebula"), .presetRefused(name: "Élan"), .loadPreset(name: "elan"),
            .presetNames(["Nebula A"]), .loadPreset(name: "Nebula B"), .presetNames(["x"]), .ready(presets: names),
            .loadPreset(name: "elan"), .nextPreset,
        ]
        let (direct, prepared) = (director(names), director(names))
        for control in controls {
            let stamped = StampedControl(control, at: 0, from: "test")
            let preparer = prepared.preparer
            let answer =
                preparer.isNeeded(for: control)
                ? prepared.handle(stamped, preparation: preparer.prepare(control)) : prepared.obey(stamped)
            #expect(answer == direct.obey(stamped), "\(control.name)")
            #expect(prepared.state == direct.state)
        }
    }

    @Test func `an answer from before a new show is found again`() {
        let library = PresetLibrary(settings(names(3)))
        var old = PresetShow(settings(names(3)), library: library, seed: 0)
        _ = old.obey(.presetNames(["p1"]), at: 0)
        let answer = library.answer(to: .loadPreset(name: "p0"))
        #expect(answer.fault != nil)
        var new = PresetShow(settings(names(3)), library: library, seed: 0)
        #expect(new.obey(.loadPreset(name: "p0"), at: 0, answer: answer) == .done)
    }

    @Test func `a name of a kilobyte among ten thousand presets is answered, cut short and without a guess`() {
        let library = PresetLibrary(settings(Self.many))
        let long = String(repeating: "x", count: 1024)
        #expect(library.answer(to: .loadPreset(name: long)).fault == "there is no preset \"\(String(repeating: "x", count: 80))…\"")
        let near = library.answer(to: .loadPreset(name: "Author 5 - The lomg name of preset 5"))
        #expect(near.fault?.contains("did you mean \"Author 5 - The long name of preset 5\"?") == true, "\(near)")
    }

    @Test func `refusing names that are in no list keeps nothing`() {
        let library = PresetLibrary(settings(names(3)))
        for number in 0..<100 { _ = library.answer(to: .presetRefused(name: "unknown \(number)")) }
        #expect(library.answer(to: .presetRefused(name: "p1")).known.names == ["p0", "p2"])
    }
}
