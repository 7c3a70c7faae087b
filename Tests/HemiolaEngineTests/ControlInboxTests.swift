import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import Synchronization
import TestSupport
import Testing

@testable import HemiolaEngine

/// Controls that wait for the next batch: their limits, the share of each client, and their preparation on another thread.
@Suite(.mayNotHang) struct ControlInboxTests {
    private let inbox = ControlInbox(capacity: 32)
    private let log = Log<String>()

    private func post(_ control: Control, from origin: String) {
        let log = log
        inbox.port(of: 0).submit(control, from: origin) { reply in
            if reply == .busy { log.append(origin) }
        }
    }

    private func counts(_ origins: [String]) -> [String: Int] {
        origins.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test func `more than 32 controls for a batch: 32 are accepted, the others are refused as busy at once`() {
        for _ in 0..<1000 { post(Control(.tap), from: "a") }
        #expect(log.count == 968)
        #expect(inbox.drain().entries.count == 32)
        #expect(inbox.isEmpty)
        post(Control(.tap), from: "a")
        #expect(inbox.drain().entries.count == 1)
        #expect(log.count == 968)
    }

    @Test func `several clients: equal shares of a batch, in any order of arrival`() {
        for _ in 0..<1000 { post(Control(.tap), from: "a") }
        for _ in 0..<3 { post(Control(.halveTempo), from: "b") }
        for _ in 0..<1000 { post(Control(.tap), from: "c") }
        post(Control(.lockTempo), from: "d")
        let taken = counts(inbox.drain().entries.map(\.origin))
        #expect(taken["b"] == 3 && taken["d"] == 1)
        #expect(taken["a"] == 14 && taken["c"] == 14, "\(taken)")
        // Every control has a reply or is accepted.
        #expect(counts(log.items) == ["a": 986, "c": 986])
    }

    @Test func `more than 32 clients: the first control of each of the first 32`() {
        for round in 0..<2 {
            for client in 0..<100 { post(Control(.tap), from: "\(round == 0 ? client : 99 - client)") }
        }
        #expect(inbox.drain().entries.map(\.origin) == (0..<32).map { "\($0)" })
        #expect(log.count == 168)
    }

    @Test func `lists of names: at most four in a batch`() {
        for _ in 0..<10 { post(Control(.presetNames, .texts(["x"])), from: "a") }
        post(Control(.tap), from: "a")
        #expect(inbox.drain().entries.map(\.control.name) == ["presetNames", "presetNames", "presetNames", "presetNames", "tap"])
        #expect(log.count == 6)
    }

    @Test func `two clients send many lists of names: the lists of others are accepted`() {
        for _ in 0..<100 {
            post(Control(.presetNames, .texts(["x"])), from: "a")
            post(Control(.ready, .texts(["x"])), from: "b")
        }
        for origin in ["c", "d", "e", "f", "g"] { post(Control(.ready, .texts(["y"])), from: origin) }
        post(Control(.ready, .texts(["y"])), from: "g")
        // One list of each client: none is refused.
        #expect(inbox.drain().entries.map(\.origin) == ["a", "b", "c", "d", "e", "f", "g"])
        #expect(counts(log.items) == ["a": 99, "b": 99, "g": 1])
    }

    // MARK: - Preparation

    @Test func `controls with preparation: prepared on another thread, in order for each client`() {
        let preparer = SlowPreparer()
        inbox.setPreparers([(3, preparer)])
        for number in 0..<5 {
            post(Control(.loadPreset, .text("\(number)")), from: "a")
            post(Control(.tap), from: "a")
        }
        post(Control(.tap), from: "b")
        // Nothing of client a is ready before its first name is looked up.
        #expect(inbox.drain().entries.map(\.origin) == ["b"])
        // The preparation of the last control begins when those before it are ready.
        post(Control(.loadPreset, .text("last")), from: "a")
        preparer.gate.open()
        #expect(preparer.names.wait(for: 6))
        let entries = inbox.drain().entries.prefix(10)
        #expect(entries.map(\.control.name) == (0..<10).map { $0 % 2 == 0 ? "loadPreset" : "tap" })
        #expect(entries.filter { $0.control != Control(.tap) }.map { $0.preparations[3] as? String } == (0..<5).map { "\($0)" })
        #expect(entries.filter { $0.control != Control(.tap) }.allSatisfy { Array($0.preparations.keys) == [3] })
        #expect(!preparer.threads.value.contains(currentThread()) && preparer.threads.value.count >= 1)
    }

    @Test func `client sends many names to prepare: another client waits for one of them at most`() {
        let preparer = SlowPreparer()
        inbox.setPreparers([(0, preparer)])
        for number in 0..<30 { post(Control(.loadPreset, .text("\(number)")), from: "a") }
        #expect(preparer.names.wait(for: 1))
        post(Control(.loadPreset, .text("mine")), from: "b")
        preparer.gate.open()
        #expect(preparer.names.wait(for: 31))
        #expect(preparer.names.items.firstIndex(of: "mine") == 1)
    }

    @Test func `control not prepared at the end of the run: refused`() {
        let preparer = SlowPreparer()
        let replies = Log<ControlReply>()
        inbox.setPreparers([(0, preparer)])
        for _ in 0..<3 {
            inbox.port(of: 0).submit(Control(.loadPreset, .text("x")), from: "a") { reply in replies.append(reply) }
        }
        #expect(preparer.names.wait(for: 1))
        inbox.close()
        preparer.gate.open()
        #expect(replies.wait(for: 3))
        #expect(replies.items.allSatisfy { $0 == .refused("the stream has ended") })
    }
}

/// Prepares one name at a time, after the test permits it.
private final class SlowPreparer: ControlPreparer {
    let gate = Gate()
    let names = Log<String>()
    let threads = Shared<Set<UInt>>([])

    func isNeeded(for control: Control) -> Bool {
        control.type == .loadPreset
    }

    func prepare(_ control: Control, from origin: String) -> any Sendable {
        guard let name = control["name"].string else { return "" }
        threads.value.insert(currentThread())
        names.append(name)
        gate.wait()
        return name
    }
}
