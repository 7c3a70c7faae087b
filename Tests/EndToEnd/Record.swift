import Foundation
import Testing

/// One line of output.
struct Record {
    var line: String
    var json: JSON

    /// - Throws: The line is not strict JSON, or not an object that begins with its type.
    init(_ line: String) throws {
        self.line = line
        json = try JSON(line)
        try #require(json.members.first?.key == "type", "\(line.prefix(80))")
    }

    /// All lines of an output, which must end with a line break.
    static func all(in text: String) throws -> [Record] {
        try #require(text.hasSuffix("\n"), "the output ends inside a line: \(text.suffix(80))")
        return try text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map { try Record(String($0)) }
    }

    var type: String { json["type"]?.string ?? "" }

    subscript(_ path: String) -> JSON? { json[path: path] }

    func int(_ path: String) -> Int? { json[path: path]?.int }
    func double(_ path: String) -> Double? { json[path: path]?.double }
    func string(_ path: String) -> String? { json[path: path]?.string }
}

extension [Record] {
    func of(_ type: String) -> [Record] { filter { $0.type == type } }
    var batches: [Record] { of("batch") }
    var types: [String] { map(\.type) }

    /// The lines that depend on the sound only: batches and events.
    var analysis: [String] { filter { !["header", "end"].contains($0.type) }.map(\.line) }

    /// Checks one stream: a header, consecutive batches, an end with their sum.
    func expectWholeStream(
        frames: Int, rate: Int, batchFrames: Int = 1024, reason: String = "end-of-input", location: SourceLocation = #_sourceLocation
    ) {
        #expect(types.first == "header" && types.last == "end", sourceLocation: location)
        #expect(of("header").count == 1 && of("end").count == 1, sourceLocation: location)
        #expect(first?.int("sample_rate") == rate, sourceLocation: location)
        #expect(first?.int("batch_frames") == batchFrames, sourceLocation: location)
        let count = (frames + batchFrames - 1) / batchFrames
        #expect(batches.count == count, sourceLocation: location)
        #expect(batches.map { $0.int("n") ?? -1 } == [Int](0..<count), sourceLocation: location)
        #expect(batches.map { $0.int("frame") ?? -1 } == (0..<count).map { $0 * batchFrames }, sourceLocation: location)
        for batch in batches {
            let time = Double(batch.int("frame") ?? -1) / Double(rate)
            guard abs((batch.double("t") ?? -1) - time) < 1e-6 else {
                Issue.record("t of \(batch.line.prefix(60)) is not \(time)", sourceLocation: location)
                return
            }
        }
        #expect(batches.dropLast().allSatisfy { $0["partial"] == nil }, sourceLocation: location)
        #expect((batches.last?["partial"] == .bool(true)) == (frames % batchFrames != 0), sourceLocation: location)
        #expect(last?.int("frames") == frames && last?.int("batches") == count, sourceLocation: location)
        #expect(abs((last?.double("t") ?? -1) - Double(frames) / Double(rate)) < 1e-6, sourceLocation: location)
        #expect(last?.string("reason") == reason, sourceLocation: location)
    }
}
