/// Repeats an action every 20 ms until a condition is met, at most 30 s: for programs that say nothing by themselves, and have to be asked.
public func repeatUntil(_ condition: () throws -> Bool, doing action: () async throws -> Void = {}) async throws -> Bool {
    for _ in 0..<1500 {
        if try condition() { return true }
        try await action()
        try await Task.sleep(for: .milliseconds(20))
    }
    return false
}
