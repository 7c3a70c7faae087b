import CWebKit
import HemiolaSystem

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

// MARK: - Closures that GLib calls

/// A closure, and the C functions that call and release it.
private final class Callback<Input, Output> {
    let body: (Input) -> Output
    init(_ body: @escaping (Input) -> Output) { self.body = body }

    /// The pointer that owns the closure until `release` is called with it.
    static func retained(_ body: @escaping (Input) -> Output) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(Callback(body)).toOpaque()
    }
}

private nonisolated let release: GDestroyNotify = { Unmanaged<AnyObject>.fromOpaque($0!).release() }

/// The values of a signal, without the object that emits it.
struct SignalValues {
    fileprivate let values: UnsafePointer<GValue>

    func integer(_ index: Int) -> Int32 { g_value_get_int(values + index + 1) }
    func unsigned(_ index: Int) -> UInt32 { g_value_get_uint(values + index + 1) }
    func enumeration(_ index: Int) -> UInt32 { UInt32(g_value_get_enum(values + index + 1)) }
    func flags(_ index: Int) -> UInt32 { g_value_get_flags(values + index + 1) }
    func number(_ index: Int) -> Double { g_value_get_double(values + index + 1) }
    func text(_ index: Int) -> String { String(cString: g_value_get_string(values + index + 1)) }
    /// A GObject or boxed value, which the signal owns.
    func pointer(_ index: Int) -> UnsafeMutableRawPointer { g_value_peek_pointer(values + index + 1) }
}

/// Calls a closure at each signal of an object, until one of the two objects ends.
///
/// - Parameter owner: The object that handles the signal; not kept alive.
func connect<Owner: AnyObject>(
    _ instance: UnsafeMutableRawPointer, _ signal: String, _ owner: Owner, _ body: @escaping (Owner, SignalValues) -> Void
) {
    handle(instance, signal, owner) { owner, values in
        body(owner, values)
        return false
    }
}

/// The same for a signal that asks whether it is handled.
func handle<Owner: AnyObject>(
    _ instance: UnsafeMutableRawPointer, _ signal: String, _ owner: Owner, _ body: @escaping (Owner, SignalValues) -> Bool
) {
    let callback = Callback<SignalValues, Bool>.retained { [weak owner] values in owner.map { body($0, values) } ?? false }
    let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), callback)
    g_closure_add_finalize_notifier(closure, callback) { data, _ in release(data) }
    g_closure_set_marshal(closure) { closure, result, _, values, _, _ in
        let callback: Callback<SignalValues, Bool> = HemiolaWindow.owner(closure!.pointee.data)
        nonisolated(unsafe) let values = values!
        let isHandled = MainActor.assumeIsolated { callback.body(SignalValues(values: values)) }
        // 5 << 2 is G_TYPE_BOOLEAN. Other results stay as they are: none, or NULL.
        if let result, g_type_check_value_holds(result, 5 << 2) != 0 { g_value_set_boolean(result, isHandled ? 1 : 0) }
    }
    g_signal_connect_closure(instance, signal, closure, 0)
}

/// Calls a closure when a descriptor is ready, until it returns false. Returns the source, which can be removed.
func watch(_ file: FileDescriptor, _ condition: GIOCondition, _ body: @escaping () -> Bool) -> guint {
    let callback: GUnixFDSourceFunc = { _, _, data in
        let callback: Callback<Void, Bool> = owner(data)
        return MainActor.assumeIsolated { callback.body(()) ? 1 : 0 }
    }
    return g_unix_fd_add_full(0, file.number, condition, callback, Callback<Void, Bool>.retained(body), release)
}

/// An object and the result of its asynchronous function.
typealias AsyncResult = (object: UnsafeMutablePointer<GObject>, result: OpaquePointer)

/// The callback of an asynchronous function whose data is made by `whenFinished`.
nonisolated let finished: GAsyncReadyCallback = { object, result, data in
    let callback = Unmanaged<Callback<AsyncResult, Void>>.fromOpaque(data!).takeRetainedValue()
    nonisolated(unsafe) let (object, result) = (object!, result!)
    MainActor.assumeIsolated { callback.body((object, result)) }
}

/// The data for `finished`: calls a closure once.
func whenFinished(_ body: @escaping (UnsafeMutablePointer<GObject>, OpaquePointer) -> Void) -> UnsafeMutableRawPointer {
    Callback<AsyncResult, Void>.retained { body($0.object, $0.result) }
}

/// Runs a closure once after a time, or repeatedly.
///
/// The closure returns whether it is called again.
final class Timer {
    private var source: guint = 0

    /// - Parameter seconds: At least 0.001.
    init(every seconds: Double, _ body: @escaping () -> Bool) {
        let callback = Callback<Void, Bool>.retained { [weak self] in
            if body() { return true }
            self?.source = 0
            return false
        }
        source = g_timeout_add_full(0, guint(max(1, seconds * 1000)), Self.call, callback, release)
    }

    private nonisolated static let call: GSourceFunc = { data in
        let callback: Callback<Void, Bool> = owner(data)
        return MainActor.assumeIsolated { callback.body(()) ? 1 : 0 }
    }

    /// Runs a closure when the main loop is idle.
    static func once(_ body: @escaping () -> Void) {
        let callback = Callback<Void, Bool>.retained {
            body()
            return false
        }
        g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, call, callback, release)
    }

    /// Stops the timer.
    func stop() {
        if source != 0 { g_source_remove(source) }
        source = 0
    }
}

// MARK: - Messages

/// Prints a message on standard error.
nonisolated func printMessage(_ text: String) {
    printLine("hemiola window: \(text)", to: 2)
}

/// Prints one line, so that a page cannot control the terminal.
nonisolated func printLine(_ text: String, to descriptor: Int32) {
    var line = text.onOneLine + "\n"
    line.withUTF8 { _ = try? FileDescriptor(descriptor).write(UnsafeRawBufferPointer($0)) }
}
