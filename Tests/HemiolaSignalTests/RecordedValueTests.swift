import HemiolaRecords
import HemiolaSignal
import Testing

/// Values of recordings and of other programs, which can be any.
@Suite struct RecordedValueTests {
    private static let numbers = [-Double.infinity, -1e308, -1e18, -1.5, 0, 0.5, 255, 255.5, 2_147_483_648, 1e18, 1e308, .infinity, .nan]

    @Test(arguments: numbers) func `conversion of any number: within the type's range`(number: Double) {
        #expect(UInt8(clamping: number) == (number.isNaN ? 0 : UInt8(min(max(number, 0), 255))))
        #expect(Int32(clamping: number) == (number.isNaN ? 0 : Int32(min(max(number, -0x1p31), 0x1p31 - 1))))
        if number.magnitude < 1e15 { #expect(Int(clamping: Float(number)) == Int(number)) }
    }

    @Test(arguments: numbers) func `frame of any time: within 2⁵³, so that sums are possible`(seconds: Double) {
        let frame = StreamFormat(sampleRate: 384_000, channelCount: 1).frame(at: seconds)
        #expect(frame.magnitude <= 1 << 53 && (frame < 0) == (seconds < 0))
    }

    @Test func `limits of integers: their type's`() {
        #expect(Int(clamping: Double.infinity) == .max && Int(clamping: -Double.infinity) == .min)
        #expect(Int64(clamping: Float.greatestFiniteMagnitude) == .max && UInt64(clamping: -0.5) == 0)
    }

    @Test(arguments: [0.0, -1, 1e-300, 1e300, .nan, .infinity], [0, -1, .min, .max])
    func `beat of another program with an impossible tempo and place: both are unknown`(tempo: Double, position: Int) throws {
        let beat = try #require(Beat(Event(at: 0, .beat, .number(tempo), .integer(position), .number(1))))
        #expect(beat.beatsPerMinute.isNaN && beat.position == nil && beat.confidence == 1)
    }

    @Test func `lost frames and batches of another program: none below 0, and sums of them are possible`() throws {
        for count in [Int.min, -1] {
            #expect(Gap(Event(at: 0, .gap, .integer(count), .text("frozen")))?.frames == 0)
            let report = try #require(DropReport(Event(at: 0, .dropped, .text("x"), .none, .integer(count), .integer(count))))
            #expect(report.batches == 0 && report.events == 0)
        }
        #expect(Gap(Event(at: 0, .gap, .integer(.max), .text("frozen")))?.frames == 1 << 53)
        #expect(try #require(DropReport(Event(at: 0, .dropped, .text("x"), .none, .integer(.max)))).batches < 1 << 32)
    }

    @Test func `feature without values: has no place in the row`() {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("bands", .none, count: 0, "None."))
        var layout = FeatureLayout()
        layout.append(outputs, of: "x")
        #expect(layout.handle("x", "bands") == nil)
    }
}
