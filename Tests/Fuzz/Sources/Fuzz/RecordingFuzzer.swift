import Hemiola
import HemiolaPlugins

@testable import HemiolaEngine
@testable import HemiolaFiles
@testable import HemiolaRecords

extension Fuzzer {
    /// Any bytes as a recording: an error names a line, batches are in order, and what is decoded has the same text when it is written and
    /// decoded again.
    func tryRecording(_ bytes: [UInt8]) {
        let catalog = PluginRegistry.standard.catalog
        OutputSinks.replay(InputFile.path(holding: bytes)) { OrderedSink() }

        var decoder = RecordDecoder(catalog: catalog)
        var encoder: RecordEncoder?
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let record = try? decoder.decode(Array(line)) else { continue }
            // A failed input has no stream.
            if case .failure(let end) = record {
                require(end.error != nil, "a failure without an error")
                continue
            }
            if case .header(let header) = record { encoder = RecordEncoder(header) }
            guard let encoder else { fatalError("a record before a header") }
            let once = written(record, encoder)
            if once.isEmpty { continue }
            var second = decoder
            guard let again = try? second.decode(once.dropLast()) else {
                fatalError("what was written is refused: \(String(decoding: once, as: UTF8.self))")
            }
            let twice = written(again, encoder)
            require(once == twice, "\(String(decoding: once, as: UTF8.self)) is \(String(decoding: twice, as: UTF8.self))")
        }
    }

    private func written(_ record: RecordDecoder.Record, _ encoder: RecordEncoder) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 4096)
        switch record {
        case .header(let header): RecordEncoder(header).encodeHeader(into: &buffer)
        case .batch(let batch):
            let storage = BatchStorage(capacity: 1, width: encoder.header.layout.width, samplesPerBatch: 0, channelCount: 1)
            _ = storage.openRow.update(fromContentsOf: batch.row)
            storage.complete(
                BatchStorage.Info(number: batch.number, frame: batch.frame, frameCount: 1, isPartial: batch.isPartial), events: [])
            encoder.encode(BatchBlock(storage)[0], into: &buffer)
        case .event(let event, let emitted):
            let format = encoder.header.format
            encoder.encode(event, batchEnd: format.seconds(at: format.frame(at: emitted ?? event.time)), into: &buffer)
        case .end(let summary): encoder.encodeEnd(summary, into: &buffer)
        case .failure: break
        }
        return buffer.withUnsafeBytes { Array($0) }
    }
}

/// Requires that the batches of a stream are in order.
private final class OrderedSink: Sink {
    private var frame: Int64 = 0

    func open(_ context: SinkContext) throws(Problem) {}

    func begin(_ stream: StreamHeader) throws(Problem) {
        frame = 0
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for index in 0..<batches.count {
            let batch = batches[index]
            require(batch.frame >= frame && batch.frameCount >= 0, "batches overlap")
            frame = batch.endFrame
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        require(summary.frames >= 0, "negative frames")
    }

    func close() throws(Problem) {}
}
