import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

@testable import HemiolaEngine

/// Runs for which the system has no further thread. Each has a process of its own: all threads of a process are denied at once.
@Suite(.mayNotHang) struct ThreadDenialTests {
    @Test func `sink without a thread: closed, an error that names it, nothing is analysed`() async {
        await #expect(processExitsWith: .success) {
            let (first, notices) = (CollectingSink(), Notices())
            let trial = Trial([silence(batches: 3)], sinks: [.collecting(first, as: "first")])
            let pipeline = try trial.pipeline()
            ThreadDenial.begin()
            let outcome = runHere(pipeline, notices)
            #expect(outcome.failedSinks == 1 && outcome.streams == 0)
            #expect(first.calls == [.open, .close])
            #expect(notices.count("sinkFailed") == 1 && notices.texts.contains { $0.contains("the sink first") }, "\(notices.texts)")
        }
    }

    @Test func `several jobs without threads: the inputs are analysed one by one, with one notice`() async {
        await #expect(processExitsWith: .success) {
            let notices = Notices()
            var trial = Trial([silence(batches: 3)], analyzers: [.witness()])
            trial.configuration.captures = (0..<5).map { PluginSpec("scripted", primary: .text("\($0)")) }
            trial.configuration.jobCount = 4
            let pipeline = try trial.pipeline()
            ThreadDenial.begin()
            let outcome = runHere(pipeline, notices)
            #expect(outcome.streams == 5 && outcome.failedInputs == 0 && outcome.failedSinks == 0)
            #expect(notices.warnings("1 of 4 jobs run") == 1, "\(notices.texts)")
        }
    }

    @Test func `control whose preparation has no thread: refused with the reason, and those behind it are ready`() async {
        await #expect(processExitsWith: .success) {
            let (inbox, replies) = (ControlInbox(capacity: 32), Log<ControlReply>())
            inbox.setPreparers([(0, QuickPreparer())])
            ThreadDenial.begin()
            for control in [Control(.loadPreset, .text("x")), Control(.tap), Control(.loadPreset, .text("y"))] {
                inbox.port(of: 0).submit(control, from: "a") { replies.append($0) }
            }
            #expect(inbox.drain().entries.map(\.control) == [Control(.tap)])
            #expect(replies.count == 2)
            for case .refused(let reason) in replies.items { #expect(reason.contains("ulimit -u"), "\(reason)") }
        }
    }
}

/// Runs a pipeline on the calling thread: the asynchronous method needs another one.
private func runHere(_ pipeline: Pipeline, _ notices: Notices) -> RunOutcome {
    pipeline.run { notices.append($0) }
}

private final class QuickPreparer: ControlPreparer {
    func isNeeded(for control: Control) -> Bool { control.type == .loadPreset }
    func prepare(_ control: Control, from origin: String) -> any Sendable { "" }
}
