internal import Hemiola
internal import HemiolaOutput

extension SinkError {
    init(_ error: OutputError) {
        self.init(error.message, remedy: error.isReaderGone ? .finish : .giveUp)
    }
}
