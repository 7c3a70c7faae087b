import Hemiola
import HemiolaVisualizer
import Testing

@Suite struct SelectionTests {
    private let catalog = RecordCatalog(records: [.preset, .speed, .key])

    @Test func `selection of everything: all records and features`() {
        #expect(Selection.all.isAll)
        for type in catalog.recordTypes { #expect(Selection.all.contains(type)) }
        #expect(Selection.all.contains("levels", "rms_db"))
        #expect(Selection.all.featurePaths.isEmpty)
    }

    @Test func `only record types: whole batches or none`() {
        let beats = Selection(items: ["beat", "header"])
        #expect(beats.contains("beat") && beats.contains("header") && !beats.contains("batch") && !beats.contains("end"))
        #expect(!beats.isAll)
        let batches = Selection(items: ["batch"])
        #expect(batches.contains("batch") && batches.contains("levels", "rms_db"))
    }

    @Test func `analyzer or feature: batches with only these values`() {
        let some = Selection(items: ["levels", "spectrum.flux"])
        #expect(some.contains("batch") && !some.contains("beat"))
        #expect(some.contains("levels", "rms_db") && some.contains("levels", "peak_db"))
        #expect(some.contains("spectrum", "flux") && !some.contains("spectrum", "bands_db"))
        #expect(some.featurePaths.map(\.text) == ["levels", "spectrum.flux"])
        #expect(some.featurePaths.map(\.feature) == [nil, "flux"])
    }

    @Test func `beat: the record; beat.bpm: the feature; batch.beat: the analyzer`() {
        #expect(!Selection(items: ["beat"]).contains("batch"))
        #expect(Selection(items: ["beat.bpm"]).contains("beat", "bpm") && !Selection(items: ["beat.bpm"]).contains("beat"))
        #expect(Selection(items: ["batch.beat"]).contains("beat", "phase") && !Selection(items: ["batch.beat"]).contains("beat"))
    }

    @Test func `batch and a feature: whole batches`() {
        #expect(Selection(items: ["batch", "levels.rms_db"]).contains("spectrum", "flux"))
    }

    @Test func `every type of event: its record type can be selected`() {
        let format = StreamFormat(sampleRate: 8_000, channelCount: 1)
        let records: [any EventRecord] = [
            Onset(strength: 1), Beat(beatsPerMinute: 1, position: nil, confidence: 1), AnalyzerEvent(output: "x"),
            PresetChange(name: "x", cut: .soft, blend: 0, reason: .start), SpeedChange(1), KeyStroke(key: "a", note: nil, phase: .up),
            DeviceEvent(name: "x", summary: "x", state: .lost, format: format), Gap(frames: 1, reason: .frozen),
            Polarity.opposite, DropReport(sink: "x", batches: 1),
        ]
        let tap = Event(at: 0, StampedControl(Control(ControlType("tap", "A tap.")), at: 0, from: "x"))
        let types = (records.map { $0.event(at: 0) } + [tap]).map(\.type.name)
        #expect(types.allSatisfy { Selection(items: [$0], catalog: catalog).contains($0) })
        #expect(types.allSatisfy { !Selection(items: ["header"], catalog: catalog).contains($0) })
        #expect(
            Set(types) == Set(catalog.recordTypes).subtracting(["header", "batch", "end", "failure"]) && Set(types).count == types.count)
    }

    @Test func `a record type is an item only in a program that declares it: elsewhere it is an analyzer`() {
        let speed = Selection(items: ["speed"], catalog: catalog)
        #expect(speed.contains("speed") && !speed.contains("batch") && speed.featurePaths.isEmpty)
        let other = Selection(items: ["speed"])
        #expect(!other.contains("speed") && other.contains("batch") && other.featurePaths.map(\.text) == ["speed"])
    }
}

@Suite struct BatchingTests {
    @Test(arguments: [(256, 256, 1), (1000, 1000, 1), (1024, 1024, 1), (1280, 640, 2), (2048, 1024, 2), (2304, 768, 3), (8192, 1024, 8)])
    func `batch size: divided into the largest equal hops up to 1024 frames`(batch: Int, hop: Int, count: Int) throws {
        let batching = try #require(Batching(batchFrames: batch))
        #expect(batching.hopFrames == hop && batching.hopsPerBatch == count)
    }

    @Test(arguments: [Int.min, 0, 255, 1025, 1279, 4095, 8193, .max])
    func `invalid batch size: nil`(batch: Int) {
        #expect(Batching(batchFrames: batch) == nil)
    }

    @Test func `every valid batch size: hops of at least 256 frames`() {
        for size in Batching.frameCounts {
            guard let batching = Batching(batchFrames: size) else { continue }
            #expect(batching.hopFrames >= 256 && batching.hopFrames * batching.hopsPerBatch == size)
        }
    }

    @Test(arguments: [8_000, 44_100, 192_000])
    func `frames to seconds and back: equal`(rate: Int) {
        let format = StreamFormat(sampleRate: rate, channelCount: 1)
        for frame in [Int64(0), 1, 1023, 123_456_789] { #expect(format.frame(at: format.seconds(at: frame)) == frame) }
    }
}
