internal import HemiolaSignal
internal import HemiolaSystem

extension StreamHeader {
    /// The header of a record.
    init(_ record: JSONValue, _ catalog: RecordCatalog) throws(Problem) {
        let source = StreamSource(format: StreamFormat(sampleRate: 1, channelCount: 1), kind: "", name: "")
        var read = StreamHeader(source: source, isLive: false, batching: .standard, seed: 0, analyzers: [], catalog: catalog)
        (read.file, read.fileBytes) = try record.path()
        try RecordSchema.header.read(record, into: &read)
        self = read
        guard format.isSupported else {
            throw Problem("\(format.sampleRate) Hz and \(format.channelCount) channels are not supported")
        }
        // The range of a time depends on the sample rate.
        for key in ["duration_s", "start_s"] { _ = try record.object("source").optionalTime(key, format) }
        guard Set(analyzers.map(\.name)).count == analyzers.count else { throw Problem("two analyzers have the same \"id\"") }
        for analyzer in analyzers {
            layout.append(analyzer.outputs, of: analyzer.name)
            guard layout.width <= RecordDecoder.maximumWidth else { throw Problem.tooWide }
        }
    }
}

extension Problem {
    fileprivate static var tooWide: Problem { Problem("a batch has more than \(RecordDecoder.maximumWidth) values") }
}

extension StreamHeader.Analyzer {
    init(_ analyzer: JSONValue) throws(Problem) {
        self.init(name: "", id: "", version: 0, parameters: [], outputs: AnalyzerOutputs())
        try RecordSchema.analyzer.read(analyzer, into: &self)
    }
}

extension AnalyzerOutputs {
    mutating func add(features declarations: [JSONValue]) throws(Problem) {
        for declaration in declarations {
            var feature = Feature("", .none, "")
            try RecordSchema.output.read(declaration, into: &feature)
            guard feature.count >= 0, feature.isArray || feature.count == 1 else {
                throw Problem("\"count\" of \"\(feature.name)\" is \(feature.count)")
            }
            guard !feature.isArray || !feature.isCategory else { throw Problem("\"\(feature.name)\" is a list, which has no \"labels\"") }
            let names = features.flatMap(\.recordKeys)
            guard feature.recordKeys.allSatisfy({ !names.contains($0) }) else {
                throw Problem("two outputs have the name \"\(feature.name)\"")
            }
            // Before the sum of the counts overflows.
            guard feature.count <= RecordDecoder.maximumWidth, width <= RecordDecoder.maximumWidth else { throw Problem.tooWide }
            _ = add(feature)
        }
    }

    mutating func add(events declarations: [JSONValue]) throws(Problem) {
        for declaration in declarations {
            var event = EventOutput("", .none, "")
            try RecordSchema.event.read(declaration, into: &event)
            guard !events.contains(where: { $0.name == event.name }) else { throw Problem("two events have the name \"\(event.name)\"") }
            add(event)
        }
    }
}

extension JSONValue {
    /// A list of objects with names, each of which is compared with all others.
    func declarations(_ key: String) throws(Problem) -> [JSONValue] {
        let objects = try objects(key)
        guard objects.count <= RecordDecoder.maximumDeclarations else {
            throw Problem("\"\(key)\" has more than \(RecordDecoder.maximumDeclarations) elements")
        }
        return objects
    }

    func numbers(_ key: String) throws(Problem) -> [Double] {
        let elements = try list(key)
        let numbers = elements.compactMap(\.double)
        guard numbers.count == elements.count else { throw Problem("\"\(key)\" is not a list of numbers") }
        return numbers
    }

    /// The path of a record's input, and its bytes where they are not UTF-8.
    func path() throws(Problem) -> (file: String?, bytes: [UInt8]?) {
        var path = (file: String?.none, bytes: [UInt8]?.none)
        try RecordSchema.path.read(self, into: &path)
        return path
    }

    func tag(_ key: String) throws(Problem) -> String? {
        try SoundTags.text(of: text(key).utf8)
    }
}

extension [UInt8] {
    /// The bytes of a field in Base64 with padding.
    init(base64 object: JSONValue, _ key: String) throws(Problem) {
        guard let bytes = [UInt8](base64: try object.text(key)) else { throw Problem("\"\(key)\" is not Base64") }
        self = bytes
    }
}

extension StreamSummary.Section {
    init(_ analyzer: JSONValue.Member) throws(Problem) {
        guard let members = analyzer.value.members else { throw Problem("\"summaries.\(analyzer.key)\" is not an object") }
        self.init(analyzer: analyzer.key, values: [])
        for member in members {
            switch member.value {
            case .text(let text): values.append(SummaryValue(member.key, text: text))
            case .integer(let count): values.append(SummaryValue(member.key, count: Int64(count)))
            case .number(let number, _): values.append(SummaryValue(member.key, number, .writing(number, named: member.key)))
            case .null: values.append(SummaryValue(member.key, .nan, .none))
            default: throw Problem("\"summaries.\(analyzer.key).\(member.key)\" is neither a number nor a text")
            }
        }
    }
}
