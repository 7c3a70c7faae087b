import Testing

@testable import HemiolaCommandLine

@Suite struct RepeatedMessagesTests {
    private func printed(_ texts: [String], _ messages: inout RepeatedMessages, at time: Double = 0) -> [String] {
        texts.flatMap { text in
            let (isNew, counts) = messages.add(text, at: time)
            return counts + (isNew ? [text] : [])
        }
    }

    @Test func `messages that differ in numbers only: the first, and their number at the end`() {
        var messages = RepeatedMessages(start: 0)
        let texts = (1...413).map { "os2l: 127.0.0.1:9996: available again; \($0) messages were lost in \(Double($0) / 4) s" }
        #expect(printed(texts, &messages) == [texts[0]])
        #expect(messages.takeCounts() == [texts[412] + " (412 more times)"])
        #expect(messages.takeCounts() == [])
    }

    @Test func `other words, addresses and names: other messages`() {
        var messages = RepeatedMessages(start: 0)
        let texts = [
            "osc: 10.0.0.1:9000: refused (1)", "osc: 10.0.0.2:9000: refused (1)", "speed: outside 0...1", "preset: outside 0...1",
            "song1.wav: late", "song2.wav: late",
        ]
        #expect(printed(texts + texts, &messages) == texts)
        #expect(messages.takeCounts() == texts.sorted().map { "\($0) (1 more time)" })
    }

    @Test func `messages about a state: each change is printed, the same state again is counted`() {
        var messages = RepeatedMessages(start: 0)
        let texts = ["1 peer", "no peers", "1 peer", "1 peer"]
        #expect(texts.map { messages.add($0, at: 0, stateOf: "link").isNew } == [true, true, true, false])
        #expect(messages.takeCounts() == ["1 peer (1 more time)"])
    }

    @Test func `long run: a count in every interval; what has not come again is new`() {
        var messages = RepeatedMessages(start: 100)
        #expect(printed(["gone 1", "gone 2", "other"], &messages, at: 100) == ["gone 1", "other"])
        let later = 100 + RepeatedMessages.interval
        #expect(printed(["gone 3", "other", "gone 4"], &messages, at: later) == ["gone 2 (1 more time)", "other"])
        #expect(printed(["gone 5"], &messages, at: 2 * later) == ["gone 4 (2 more times)"])
        // Nothing came within this interval but the message that ends it.
        #expect(printed(["gone 6"], &messages, at: 3 * later) == ["gone 5 (1 more time)"])
    }

    @Test func `endless kinds: a bounded number is printed, the others are counted`() {
        var messages = RepeatedMessages(start: 0)
        let texts = (0..<10_000).map { "garbage-\($0)" }
        #expect(printed(texts, &messages).count == RepeatedMessages.capacity)
        #expect(messages.takeCounts() == ["\(10_000 - RepeatedMessages.capacity) other messages were left out"])
    }
}
