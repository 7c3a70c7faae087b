import CWebKit
import CWindow
import Glibc

/// Rebinds a pointer to an instance of a GObject class to another class of the same instance, as GTK's cast macros do.
nonisolated func cast<From, To>(_ pointer: UnsafeMutablePointer<From>, to type: To.Type = To.self) -> UnsafeMutablePointer<To> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: type)
}

/// The object that a C callback received as its data.
nonisolated func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type = Owner.self) -> Owner {
    Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
}

/// The pointer to an object for a C callback. The object must live as long as the callback can be called.
func data(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object).toOpaque()
}

/// A string that GLib allocated; releases it.
nonisolated func take(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}

/// The message of a GError; releases it.
nonisolated func take(_ error: UnsafeMutablePointer<GError>?) -> String {
    guard let error else { return "unknown error" }
    defer { g_error_free(error) }
    return String(cString: error.pointee.message)
}

/// Connects a signal to a C function whose last parameter is `object`.
func connect(_ instance: UnsafeMutableRawPointer, _ signal: String, to object: AnyObject, _ callback: UnsafeRawPointer) {
    _ = cwindow_connect(instance, signal, unsafeBitCast(callback, to: GCallback.self), data(object))
}

/// Disconnects the signals that `connect` has connected to `object`, which can be released afterwards although the instance lives on.
func disconnect(_ instance: UnsafeMutableRawPointer, from object: AnyObject) {
    g_signal_handlers_disconnect_matched(instance, G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, data(object))
}

/// Runs a closure once after a time, or repeatedly.
///
/// The closure returns whether it is called again.
final class Timer {
    private var source: guint = 0
    private let body: () -> Bool

    /// - Parameter seconds: At least 0.001.
    init(every seconds: Double, _ body: @escaping () -> Bool) {
        self.body = body
        let callback: GSourceFunc = { data in
            let timer: Timer = owner(data)
            return MainActor.assumeIsolated { timer.fire() ? 1 : 0 }
        }
        source = g_timeout_add(guint(max(1, seconds * 1000)), callback, data(self))
    }

    private func fire() -> Bool {
        if body() { return true }
        source = 0
        return false
    }

    /// Runs a closure when the main loop is idle.
    static func once(_ body: @escaping () -> Void) {
        let box = Box(body)
        let callback: GSourceFunc = { data in
            let box = Unmanaged<Box>.fromOpaque(data!).takeRetainedValue()
            MainActor.assumeIsolated { box.body() }
            return 0
        }
        g_idle_add(callback, Unmanaged.passRetained(box).toOpaque())
    }

    private final class Box {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Stops the timer. It must be stopped, or have fired its last time, before it is released.
    func stop() {
        if source != 0 { g_source_remove(source) }
        source = 0
    }
}

/// Seconds of the monotonic clock.
nonisolated func monotonicSeconds() -> Double {
    Double(g_get_monotonic_time()) / 1_000_000
}

/// Prints a message on standard error.
nonisolated func printMessage(_ text: String) {
    printLine("hemiola window: \(text)", to: 2)
}

/// Prints one line. Control characters and changes of the text direction are replaced, so that a page cannot control the terminal.
nonisolated func printLine(_ text: String, to descriptor: Int32) {
    var line = ""
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: line += " "
        default: line.unicodeScalars.append(scalar)
        }
    }
    line += "\n"
    line.withUTF8 { bytes in
        _ = write(descriptor, bytes.baseAddress, bytes.count)
    }
}

/// Counts events in a period and limits their number.
struct RateLimit {
    let count: Int
    let seconds: Double
    private var start = 0.0
    private var used = 0
    private(set) var suppressed = 0

    init(count: Int, seconds: Double) {
        self.count = count
        self.seconds = seconds
    }

    /// Whether one more event, or an amount, is within the limit.
    mutating func admit(_ amount: Int = 1) -> Bool {
        let now = monotonicSeconds()
        if now - start >= seconds {
            start = now
            used = 0
            suppressed = 0
        }
        used += amount
        if used <= count { return true }
        suppressed += 1
        return false
    }
}
