internal import HemiolaSignal
internal import HemiolaSystem

extension StreamHeader {
    /// The header of a record.
    init(_ record: JSONValue, _ catalog: RecordCatalog) throws(Problem) {
        let format = StreamFormat(
            sampleRate: try record.integer("sample_rate"), channelCount: try record.integer("channels"),
            channelMap: try record["channel_names"].flatMap { names throws(Problem) in try ChannelMap(names) })
        guard format.isSupported else {
            throw Problem("\(format.sampleRate) Hz and \(format.channelCount) channels are not supported")
        }
        let batchFrames = try record.integer("batch_frames")
        guard let batching = Batching(batchFrames: batchFrames) else {
            throw Problem("\"batch_frames\" is \(batchFrames), which is not a batch size")
        }
        var analyzers: [Analyzer] = []
        for analyzer in try record.declarations("analyzers") {
            analyzers.append(try Analyzer(analyzer))
            guard analyzers.reduce(0, { $0 + $1.outputs.width }) <= RecordDecoder.maximumWidth else {
                throw Problem("a batch has more than \(RecordDecoder.maximumWidth) values")
            }
        }
        guard Set(analyzers.map(\.name)).count == analyzers.count else { throw Problem("two analyzers have the same \"id\"") }
        self.init(
            source: try StreamSource(record.object("source"), format), file: try record.optionalText("file"),
            fileBytes: try [UInt8](base64: record, "file_base64"), isLive: false, batching: batching,
            seed: UInt64(try record.count("seed")),
            analyzers: analyzers, catalog: catalog)
        fingerprint = try record.optionalText("fingerprint")
    }
}

extension JSONValue {
    /// A list of objects with names, each of which is compared with all others.
    fileprivate func declarations(_ key: String) throws(Problem) -> [JSONValue] {
        let objects = try objects(key)
        guard objects.count <= RecordDecoder.maximumDeclarations else {
            throw Problem("\"\(key)\" has more than \(RecordDecoder.maximumDeclarations) elements")
        }
        return objects
    }
}

extension ChannelMap {
    fileprivate init?(_ names: JSONValue) throws(Problem) {
        guard let elements = names.elements else { throw Problem("\"channel_names\" is not a list") }
        let positions = elements.compactMap { name in ChannelPosition.allCases.first { $0.name == name.string } }
        guard positions.count == elements.count else { throw Problem("\"channel_names\" has an unknown name") }
        self.init(positions)
    }
}

extension StreamSource {
    fileprivate init(_ source: JSONValue, _ format: StreamFormat) throws(Problem) {
        self.init(
            format: format, kind: try source.text("kind"), name: try source.text("name"),
            nameBytes: try [UInt8](base64: source, "name_base64"), duration: try source.optionalTime("duration_s", format),
            start: try source.optionalTime("start_s", format), tags: try SoundTags(of: source))
        if let number = try source.optionalInteger("audio_track") {
            audioTrack = AudioTrack(number: number, count: try source.integer("audio_tracks"))
        }
    }
}

extension SoundTags {
    /// The tags of a source; none for a missing member.
    fileprivate init(of source: JSONValue) throws(Problem) {
        self.init()
        guard source["tags"] != nil else { return }
        let tags = try source.object("tags")
        func text(_ key: String) throws(Problem) -> String? { try tags.optionalText(key).flatMap { Self.text(of: $0.utf8) } }
        (title, artist, album) = (try text("title"), try text("artist"), try text("album"))
        (track, genre) = (try text("track"), try text("genre"))
        year = try tags.optionalInteger("year")
    }
}

extension StreamHeader.Analyzer {
    fileprivate init(_ analyzer: JSONValue) throws(Problem) {
        var outputs = AnalyzerOutputs()
        outputs.latencyFrames = Int64(try analyzer.integer("latency_frames"))
        outputs.isCausal = try analyzer.flag("causal")
        for output in try analyzer.declarations("outputs") {
            let feature = try Feature(output)
            let names = outputs.features.flatMap(\.recordKeys)
            guard feature.recordKeys.allSatisfy({ !names.contains($0) }) else {
                throw Problem("two outputs have the name \"\(feature.name)\"")
            }
            // Before the sum of the counts overflows.
            guard feature.count <= RecordDecoder.maximumWidth, outputs.width <= RecordDecoder.maximumWidth else {
                throw Problem("a batch has more than \(RecordDecoder.maximumWidth) values")
            }
            _ = outputs.add(feature)
        }
        for event in try analyzer.declarations("events") {
            let output = EventOutput(
                try event.text("name"), Unit(rawValue: try event.text("unit")), try event.text("description"))
            guard !outputs.events.contains(where: { $0.name == output.name }) else {
                throw Problem("two events have the name \"\(output.name)\"")
            }
            outputs.add(output)
        }
        var parameters: [(key: String, value: ParameterValue)] = []
        for member in try analyzer.members("parameters") {
            guard let value = ParameterValue(member.value) else { throw Problem("the parameter \"\(member.key)\" is an object") }
            parameters.append((member.key, value))
        }
        self.init(
            name: try analyzer.text("id"), id: try analyzer.text("plugin"), version: try analyzer.integer("version"),
            parameters: parameters,
            outputs: outputs)
    }
}

extension Feature {
    fileprivate init(_ feature: JSONValue) throws(Problem) {
        let (name, unit, summary) = (try feature.text("name"), Unit(rawValue: try feature.text("unit")), try feature.text("description"))
        let (count, isList) = (try feature.integer("count"), try feature.flag("list"))
        guard count >= 0, isList || count == 1 else { throw Problem("\"count\" of \"\(name)\" is \(count)") }
        var edges: [Double] = []
        if feature["edges_hz"] != nil {
            for edge in try feature.list("edges_hz") {
                guard let edge = edge.double else { throw Problem("\"edges_hz\" of \"\(name)\" has an element that is not a number") }
                edges.append(edge)
            }
        }
        let offset = try feature.optionalNumber("center_offset_s")
        self =
            isList
            ? Feature(name, unit, count: count, edges: edges, centerOffset: offset, summary)
            : Feature(name, unit, centerOffset: offset, summary)
        self.edges = edges
        if feature["labels"] != nil {
            labels = try feature.texts("labels")
            guard !isArray else { throw Problem("\"\(name)\" is a list, which has no \"labels\"") }
        }
        minimum = try feature.optionalNumber("minimum")
        maximum = try feature.optionalNumber("maximum")
    }
}

extension ParameterValue {
    /// The value of a JSON text; nil for an object.
    package init?(_ value: JSONValue) {
        switch value {
        case .null: self = .none
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .number(let number, _): self = .number(number)
        case .text(let text): self = .text(text)
        case .list(let elements):
            let items = elements.compactMap(ParameterValue.init)
            guard items.count == elements.count else { return nil }
            self = .list(items)
        case .object: return nil
        }
    }
}

extension [UInt8] {
    /// The bytes of a field in Base64 with padding; nil for a missing field.
    fileprivate init?(base64 object: JSONValue, _ key: String) throws(Problem) {
        guard let text = try object.optionalText(key) else { return nil }
        self = []
        var (bits, count) = (0, 0)
        for byte in text.utf8 where byte != UInt8(ascii: "=") {
            let value: Int
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = Int(byte) - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = Int(byte) - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = Int(byte) + 4
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: throw Problem("\"\(key)\" is not Base64")
            }
            (bits, count) = (bits << 6 & 0xffff | value, count + 6)
            if count >= 8 {
                count -= 8
                append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
    }
}

extension StreamSummary {
    /// The summary of an `end` record.
    init(_ record: JSONValue) throws(Problem) {
        guard let reason = Reason(rawValue: try record.text("reason")) else { throw Problem("unknown \"reason\"") }
        var dropped: [(sink: String, batches: Int64)] = []
        for member in try record.members("dropped") {
            guard let batches = member.value.integer else { throw Problem("\"dropped.\(member.key)\" is not a whole number") }
            dropped.append((member.key, Int64(batches)))
        }
        var sections: [Section] = []
        for analyzer in try record.members("summaries") {
            guard let members = analyzer.value.members else { throw Problem("\"summaries.\(analyzer.key)\" is not an object") }
            var values: [SummaryValue] = []
            for member in members {
                switch member.value {
                case .text(let text): values.append(SummaryValue(member.key, text: text))
                case .integer(let count): values.append(SummaryValue(member.key, count: Int64(count)))
                case .number(let number, _): values.append(SummaryValue(member.key, number, .writing(number, named: member.key)))
                case .null: values.append(SummaryValue(member.key, .nan, .none))
                default: throw Problem("\"summaries.\(analyzer.key).\(member.key)\" is neither a number nor a text")
                }
            }
            sections.append(Section(analyzer: analyzer.key, values: values))
        }
        self.init(
            frames: try record.count("frames"), batches: try record.count("batches"), nonFinite: try record.count("non_finite"),
            dropped: dropped, sections: sections, reason: reason, error: try record.optionalText("error"))
    }
}
