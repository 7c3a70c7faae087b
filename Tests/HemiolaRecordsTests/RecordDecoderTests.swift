import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import HemiolaVisualizer
import Testing

/// Records that are decoded and encoded again.
@Suite struct RecordDecoderTests {

    private func lines(file: String? = nil) -> [String] { Fixture.allLines(file: file) }

    @Test func `failure records: decoded also before the first header`() throws {
        var decoder = RecordDecoder(catalog: Fixture.catalog)
        let records = try Fixture.failureLines.map { line throws(Problem) in try decoder.decode(Array(line.utf8)) }
        let ends = records.compactMap { record in if case .failure(let end) = record { end } else { nil } }
        #expect(ends.map(\.file) == ["b.wav", "c.wav"])
        #expect(ends.map(\.error) == ["b.wav: no such file", "c.wav: \"cut\""])
    }

    @Test(arguments: [nil, "a.wav"]) func `every line, decoded and encoded: the same bytes`(file: String?) throws {
        var decoder = RecordDecoder(catalog: Fixture.catalog)
        #expect(try Fixture.again(lines(file: file), &decoder) == lines(file: file))
        #expect(decoder.undeclared.isEmpty)
    }

    @Test func `records of types that are not declared: the same bytes, unread`() throws {
        var decoder = RecordDecoder(catalog: .standard)
        let unread = [
            #"{"type":"other", "t":1.50,"emitted_t":"x","a":{"b":[1e3,null,{}]},"a":1}"#,
            #"{"type":"control","t":1.0,"control":"dim","frame":"x"}"#,
        ]
        let expected = lines() + [lines()[0]] + unread
        let result = try Fixture.again(expected, &decoder)
        for (one, other) in zip(result, expected) { #expect(one == other) }
        #expect(result.count == expected.count)
        for type in ["clap", "preset", "setClap", "tap", "other", "dim"] { #expect(decoder.undeclared.contains(type)) }
    }

    @Test(arguments: [8000, 44_100, 48_000, 384_000])
    func `times of announced events: t, frame and due_in_s have the same text`(rate: Int) throws {
        var header = Fixture.header()
        header.source.format = StreamFormat(sampleRate: rate, channelCount: 2)
        let encoder = RecordEncoder(header)
        var generator = SplitMix64(seed: UInt64(rate))
        let expected = Fixture.lines { buffer in
            encoder.encodeHeader(into: &buffer)
            for index in 0..<2000 {
                let end = header.format.seconds(at: Int64(index) * 1024)
                let time = end + Double.random(in: -1...1, using: &generator)
                let beat = Beat(beatsPerMinute: .random(in: 30...300, using: &generator), position: 1, confidence: 0.5)
                encoder.encode(Event(at: time, beat), batchEnd: end, into: &buffer)
                encoder.encode(Event(at: time, PresetChange(name: "p", cut: .soft, blend: 1, reason: .beat)), batchEnd: end, into: &buffer)
                var clap = Fixture.claps[0]
                clap.time = time
                encoder.encode(clap, batchEnd: end, into: &buffer)
            }
        }
        var decoder = RecordDecoder(catalog: Fixture.catalog)
        let result = try Fixture.again(expected, &decoder)
        let different = zip(result, expected).filter { $0 != $1 }
        #expect(different.isEmpty && result.count == expected.count, "\(different.first.map { "\($0)" } ?? "")")
    }

    @Test func `rows: random values of every unit have the same text`() throws {
        var outputs = AnalyzerOutputs()
        for unit: Unit in [.decibels, .hertz, .seconds, .ratio] { _ = outputs.add(Feature("x\(unit.rawValue)", unit, count: 50, "X.")) }
        let header = StreamHeader(
            source: StreamSource(format: Fixture.format, kind: "file", name: "a"), isLive: false, batching: .standard, seed: 0,
            analyzers: [.init(name: "x", id: "x", version: 1, parameters: [], outputs: outputs)])
        var generator = SplitMix64(seed: 1)
        for scale: Float in [1e-6, 1, 1e3, 1e6, 1e12] {
            let row = (0..<200).map { _ in Float.random(in: -1...1, using: &generator) * scale }
            let expected = Fixture.lines { buffer in
                let encoder = RecordEncoder(header)
                encoder.encodeHeader(into: &buffer)
                encoder.encode(Fixture.block(header, row: row)[0], into: &buffer)
            }
            var decoder = RecordDecoder(catalog: .standard)
            #expect(try Fixture.again(expected, &decoder) == expected)
        }
    }

    @Test func `tags of a sound file: same text again, some missing or all`() throws {
        for year in [nil, 1998] {
            var header = Fixture.header()
            (header.source.tags.title, header.source.tags.track, header.source.tags.year) = ("A \"t\"", "3/9", year)
            for tags in [header.source.tags, SoundTags()] {
                header.source.tags = tags
                let expected = Fixture.lines { buffer in RecordEncoder(header).encodeHeader(into: &buffer) }
                #expect(expected[0].contains(#""tags":{"title":"A \"t\"","track":"3/9""#) == !tags.isEmpty)
                var decoder = RecordDecoder(catalog: Fixture.catalog)
                #expect(try Fixture.again(expected, &decoder) == expected)
            }
        }
    }

    @Test func `selection of features: the header has their layout`() throws {
        let lines = Fixture.lines { buffer in
            let encoder = RecordEncoder(
                Fixture.header(), selection: Selection(items: ["header", "levels.channel_rms_db", "end"]))
            encoder.encodeHeader(into: &buffer)
            encoder.encode(Fixture.block()[0], into: &buffer)
        }
        var decoder = RecordDecoder(catalog: Fixture.catalog)
        guard case .header(let header) = try decoder.decode(Array(lines[0].utf8)),
            case .batch(let batch) = try decoder.decode(Array(lines[1].utf8))
        else {
            Issue.record("not a header and a batch")
            return
        }
        #expect(header.layout.width == 2 && header.layout.handle("levels", "channel_rms_db") != nil)
        #expect(batch.row == [-3.01, -120])
    }

    // MARK: - Faults

    @Test(arguments: [
        ("", "invalid JSON at byte 1"), ("null", "not a JSON object"), ("[]", "not a JSON object"), ("{}", "missing \"type\""),
        (#"{"type":1}"#, "\"type\" is not a text"), (#"{"type":"batch","n":0,"frame":0}x"#, "invalid JSON at byte 33"),
        (#"{"type":"batch","frame":0}"#, "missing \"n\""), (#"{"type":"batch","n":-1,"frame":0}"#, "out of range"),
        (#"{"type":"batch","n":0,"frame":9007199254740993}"#, "out of range"),
        (#"{"type":"batch","n":0,"frame":0,"levels":{"rms_db":"x"}}"#, "\"levels.rms_db\" is not a number"),
        (#"{"type":"batch","n":0,"frame":0,"levels":{"channel_rms_db":[1.0]}}"#, "\"levels.channel_rms_db\" is not a list of 2 numbers"),
        (#"{"type":"beat"}"#, "missing \"t\""), (#"{"type":"beat","t":1e300}"#, "\"t\" is 1e+300, which is out of range"),
        (#"{"type":"beat","t":1e999}"#, "the number 1e999 is too large"),
        (#"{"type":"beat","t":1.0,"emitted_t":1e18}"#, "\"emitted_t\" is 1e+18, which is out of range"),
        (#"{"type":"beat","t":1.0,"bpm":"fast"}"#, "\"bpm\" has another type"),
        (#"{"type":"control","t":1.0,"frame":0,"control":"setSpeed","from":"x"}"#, "needs its \"speed\""),
        (#"{"type":"other","a":1}"#, "missing \"t\""), (#"{"type":"control","t":1.0,"frame":0,"from":"x"}"#, "missing \"control\""),
        (#"{"type":"end","frames":0,"batches":0,"non_finite":0,"dropped":{},"summaries":{},"reason":"x"}"#, "unknown \"reason\""),
        (#"{"type":"header","schema":1}"#, "schema 1 is not supported: another version of Hemiola wrote it; this one reads schema 2"),
        (#"{"type":"header","schema":3}"#, "schema 3 is not supported"), ("{\"type\":\"beat\",\"t\":1.0,\"a\":\"\u{1}\"}", "invalid JSON"),
        (#"{"type":"other","t":1.0,"a":"\ud800"}"#, "invalid JSON"), (#"{"type":"other","t":01}"#, "invalid JSON"),
        (#"{"type":"other","t":1.,"a":1}"#, "invalid JSON"), (#"{"type":"other","t":1.0,}"#, "invalid JSON"),
        ("{\"type\":\"x\",\"t\":" + String(repeating: "[", count: 40), "nested more than 32 deep"),
    ])
    func `broken line: fault that names the field`(line: String, message: String) throws {
        var decoder = RecordDecoder(catalog: Fixture.catalog)
        _ = try decoder.decode(Array(lines()[0].utf8))
        do {
            let record = try decoder.decode(Array(line.utf8))
            Issue.record("\(line) is \(record)")
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
        }
        // The decoder goes on.
        #expect(throws: Never.self) { try decoder.decode(Array(lines()[3].utf8)) }
    }

    @Test func `invalid UTF-8: fault`() {
        var decoder = RecordDecoder(catalog: .standard)
        #expect(throws: Problem.self) { try decoder.decode([0x7b, 0xff, 0x7d]) }
    }

    @Test func `record before a header: fault that says that a recording needs one`() {
        var decoder = RecordDecoder(catalog: .standard)
        #expect(throws: Problem.self) { try decoder.decode(Array(#"{"type":"beat","t":1.0}"#.utf8)) }
    }

    @Test(arguments: [
        (#""count":1"#, #""count":1000000000"#), (#""sample_rate":44100"#, #""sample_rate":1"#), (#""channels":2"#, #""channels":33"#),
        (#""batch_frames":1024"#, #""batch_frames":5"#), (#""id":"wide""#, #""id":"levels""#), (#""seed":7"#, #""seed":-7"#),
        (#""name":"rms_db""#, #""name":"channel_rms_db""#), (#""name":"beat""#, #""name":"peaks""#), (#""size":2048"#, #""size":{}"#),
        (#""causal":true"#, #""causal":1"#), (#""duration_s":"#, #""duration_s":1e300,"x":"#),
        (#""source":{"#, #""source":{"start_s":-1e18,"#),
        (#""events":["#, #""events":["# + String(repeating: "{},", count: 1025)),
    ])
    func `header with an impossible value: fault`(old: String, new: String) throws {
        let line = lines()[0].replacing(old, with: new)
        #expect(line != lines()[0])
        var decoder = RecordDecoder(catalog: Fixture.catalog)
        #expect(throws: Problem.self) { try decoder.decode(Array(line.utf8)) }
    }
}
