internal import Hemiola

/// A file of records as JSON Lines.
final class RecordDocument: Document {
    private let file: OutputFile
    private let selection: Selection
    private let answersInputs: Bool
    private var encoder: RecordEncoder?

    /// The content of a newly opened file.
    init(_ file: OutputFile, _ context: SinkContext) {
        self.file = file
        (selection, answersInputs) = (context.records.selection, context.run.answersInputs)
    }

    func begin(_ stream: StreamHeader, at frame: Int64) {
        encoder = RecordEncoder(stream, selection: selection)
        encoder?.encodeHeader(into: &file.buffer)
    }

    func write(_ batch: borrowing Batch) {
        encoder?.encode(batch, into: &file.buffer)
    }

    /// Writes an event that is in no batch. Its field `emitted_t` is its own time.
    func write(_ event: Event) {
        encoder?.encode(event, batchEnd: event.time, into: &file.buffer)
    }

    func end(_ summary: StreamSummary) {
        // Results with a fingerprint are compared by a later run.
        encoder?.encodeEnd(summary, into: &file.buffer, countsLines: encoder?.header.fingerprint != nil)
        encoder = nil
    }

    /// A program that waits for `end` records waits for `failure` records too.
    func write(failure: InputEnd) -> Bool {
        if answersInputs, selection.contains("failure") || selection.contains("end") { file.buffer.append(failure: failure) }
        return false
    }
}

extension DocumentFile {
    /// The sink that writes the records of consecutive streams as JSON Lines.
    public static func records(at template: PathTemplate, _ options: FileOptions = FileOptions()) -> DocumentFile {
        DocumentFile(template, options) { files, context in RecordDocument(files[0], context) }
    }
}
