internal import HemiolaSignal

extension StreamHeader {
    /// The header of a record.
    init(_ fields: RecordFields, _ catalog: RecordCatalog) throws(RecordFault) {
        let schema = try fields.integer("schema")
        guard schema == Self.schema else {
            throw RecordFault(
                "schema \(schema) is not supported: another version of Hemiola wrote it; this one reads schema \(Self.schema)")
        }
        let format = StreamFormat(
            sampleRate: try fields.integer("sample_rate"), channelCount: try fields.integer("channels"),
            channelMap: try fields["channel_names"].flatMap { names throws(RecordFault) in try ChannelMap(names) })
        guard format.isSupported else {
            throw RecordFault("\(format.sampleRate) Hz and \(format.channelCount) channels are not supported")
        }
        let batchFrames = try fields.integer("batch_frames")
        guard let batching = Batching(batchFrames: batchFrames) else {
            throw RecordFault("\"batch_frames\" is \(batchFrames), which is not a batch size")
        }
        guard let source = fields["source"], source.members != nil else { throw RecordFault("the record has no \"source\"") }
        var analyzers: [Analyzer] = []
        for analyzer in try fields.declarations("analyzers") {
            analyzers.append(try Analyzer(analyzer))
            guard analyzers.reduce(0, { $0 + $1.outputs.width }) <= RecordDecoder.maximumWidth else {
                throw RecordFault("a batch has more than \(RecordDecoder.maximumWidth) values")
            }
        }
        guard Set(analyzers.map(\.name)).count == analyzers.count else { throw RecordFault("two analyzers have the same \"id\"") }
        self.init(
            source: try StreamSource(RecordFields(source), format), file: try fields.optionalText("file"),
            fileBytes: try [UInt8](base64: fields, "file_base64"), isLive: false, batching: batching,
            seed: UInt64(try fields.count("seed")),
            analyzers: analyzers, catalog: catalog)
        fingerprint = try fields.optionalText("fingerprint")
    }
}

extension RecordFields {
    /// A list of objects with names, each of which is compared with all others.
    fileprivate func declarations(_ key: String) throws(RecordFault) -> [RecordFields] {
        let objects = try objects(key)
        guard objects.count <= RecordDecoder.maximumDeclarations else {
            throw RecordFault("\"\(key)\" has more than \(RecordDecoder.maximumDeclarations) elements")
        }
        return objects
    }
}

extension ChannelMap {
    fileprivate init?(_ names: JSONValue) throws(RecordFault) {
        guard let elements = names.elements else { throw RecordFault("\"channel_names\" is not a list") }
        let positions = elements.compactMap { name in ChannelPosition.allCases.first { $0.name == name.string } }
        guard positions.count == elements.count else { throw RecordFault("\"channel_names\" has an unknown name") }
        self.init(positions)
    }
}

extension StreamSource {
    fileprivate init(_ fields: RecordFields, _ format: StreamFormat) throws(RecordFault) {
        self.init(
            format: format, kind: try fields.text("kind"), name: try fields.text("name"),
            nameBytes: try [UInt8](base64: fields, "name_base64"), duration: try fields.optionalTime("duration_s", format),
            start: try fields.optionalTime("start_s", format), tags: try SoundTags(fields["tags"]))
    }
}

extension SoundTags {
    /// The tags of a header; none for a missing field.
    fileprivate init(_ value: JSONValue?) throws(RecordFault) {
        self.init()
        guard let value else { return }
        guard value.members != nil else { throw RecordFault("\"tags\" is not an object") }
        let fields = RecordFields(value)
        func text(_ key: String) throws(RecordFault) -> String? { try fields.optionalText(key).flatMap { Self.text(of: $0.utf8) } }
        (title, artist, album) = (try text("title"), try text("artist"), try text("album"))
        (track, genre) = (try text("track"), try text("genre"))
        year = fields["year"] == nil ? nil : try fields.integer("year")
    }
}

extension StreamHeader.Analyzer {
    fileprivate init(_ fields: RecordFields) throws(RecordFault) {
        var outputs = AnalyzerOutputs()
        outputs.latencyFrames = Int64(try fields.integer("latency_frames"))
        outputs.isCausal = try fields.flag("causal")
        for output in try fields.declarations("outputs") {
            let feature = try Feature(output)
            guard !outputs.features.contains(where: { $0.name == feature.name }) else {
                throw RecordFault("two outputs have the name \"\(feature.name)\"")
            }
            // Before the sum of the counts overflows.
            guard feature.count <= RecordDecoder.maximumWidth, outputs.width <= RecordDecoder.maximumWidth else {
                throw RecordFault("a batch has more than \(RecordDecoder.maximumWidth) values")
            }
            _ = outputs.add(feature)
        }
        for event in try fields.declarations("events") {
            let output = EventOutput(
                try event.text("name"), Unit(rawValue: try event.text("unit")), try event.text("description"))
            guard !outputs.events.contains(where: { $0.name == output.name }) else {
                throw RecordFault("two events have the name \"\(output.name)\"")
            }
            outputs.add(output)
        }
        var parameters: [(key: String, value: ParameterValue)] = []
        for member in try fields.members("parameters") {
            guard let value = ParameterValue(member.value) else { throw RecordFault("the parameter \"\(member.key)\" is an object") }
            parameters.append((member.key, value))
        }
        self.init(
            name: try fields.text("id"), id: try fields.text("plugin"), version: try fields.integer("version"), parameters: parameters,
            outputs: outputs)
    }
}

extension Feature {
    fileprivate init(_ fields: RecordFields) throws(RecordFault) {
        let (name, unit, summary) = (try fields.text("name"), Unit(rawValue: try fields.text("unit")), try fields.text("description"))
        let (count, isList) = (try fields.integer("count"), try fields.flag("list"))
        guard count >= 0, isList || count == 1 else { throw RecordFault("\"count\" of \"\(name)\" is \(count)") }
        var edges: [Double] = []
        if fields["edges_hz"] != nil {
            for edge in try fields.list("edges_hz") {
                guard let edge = edge.double else { throw RecordFault("\"edges_hz\" of \"\(name)\" has an element that is not a number") }
                edges.append(edge)
            }
        }
        let offset = try fields.optionalNumber("center_offset_s")
        self =
            isList
            ? Feature(name, unit, count: count, edges: edges, centerOffset: offset, summary)
            : Feature(name, unit, centerOffset: offset, summary)
        self.edges = edges
        minimum = try fields.optionalNumber("minimum")
        maximum = try fields.optionalNumber("maximum")
    }
}

extension ParameterValue {
    /// The value of a JSON text; nil for an object.
    init?(_ value: JSONValue) {
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
    fileprivate init?(base64 fields: RecordFields, _ key: String) throws(RecordFault) {
        guard let text = try fields.optionalText(key) else { return nil }
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
            default: throw RecordFault("\"\(key)\" is not Base64")
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
    init(_ fields: RecordFields, _ header: StreamHeader) throws(RecordFault) {
        guard let reason = Reason(rawValue: try fields.text("reason")) else { throw RecordFault("unknown \"reason\"") }
        var dropped: [(sink: String, batches: Int64)] = []
        for member in try fields.members("dropped") {
            guard let batches = member.value.integer else { throw RecordFault("\"dropped.\(member.key)\" is not a whole number") }
            dropped.append((member.key, Int64(batches)))
        }
        var sections: [Section] = []
        for analyzer in try fields.members("summaries") {
            guard let members = analyzer.value.members else { throw RecordFault("\"summaries.\(analyzer.key)\" is not an object") }
            var values: [SummaryValue] = []
            for member in members {
                switch member.value {
                case .integer(let count): values.append(SummaryValue(member.key, count: Int64(count)))
                case .number(let number, _): values.append(SummaryValue(member.key, number, .writing([number], named: member.key)))
                case .null: values.append(SummaryValue(member.key, .nan, .none))
                default: throw RecordFault("\"summaries.\(analyzer.key).\(member.key)\" is not a number")
                }
            }
            sections.append(Section(analyzer: analyzer.key, values: values))
        }
        self.init(
            frames: try fields.count("frames"), batches: try fields.count("batches"), nonFinite: try fields.count("non_finite"),
            dropped: dropped, sections: sections, reason: reason, error: try fields.optionalText("error"))
    }
}
