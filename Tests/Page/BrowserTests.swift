import Foundation
import TestSupport
import Testing

/// Tests in a real browser, one after the other: browsers in parallel would delay each other on a machine with few cores.
@Suite(.serialized, .mayNotHang, .needs(Browser.tool)) struct BrowserTests {}

/// The folder of the checkout.
let repository = Repository.root.path

extension Trait where Self == ConditionTrait {
    /// Skips a test with a reason if a tool is missing, unless skipping is not allowed.
    static func needs(_ tool: Tool) -> Self {
        .enabled(if: tool.isExpected, Comment(rawValue: tool.reason))
    }
}

extension BrowserPage {
    /// Errors of the console and exceptions, except that there is no icon at the address where browsers look for one.
    var errors: [String] {
        messages.filter { !$0.hasPrefix("warning") && !$0.contains("/favicon.ico") }
    }
}

/// Waits until a condition is true.
///
/// - Parameter seconds: The time limit; generous, because a machine may be busy.
func wait(_ seconds: Double = 60, for what: String, until isSo: () throws -> Bool) throws {
    let end = ProcessInfo.processInfo.systemUptime + seconds * Sanitizer.slowness
    while try !isSo() {
        if ProcessInfo.processInfo.systemUptime > end { throw Browser.Failure(description: "timeout while waiting for \(what)") }
        usleep(20_000)
    }
}
