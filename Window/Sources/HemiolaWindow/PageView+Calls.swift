import CWebKit
import CWindow
import FoundationEssentials
import Glibc

// Calls to the page: functions, files and snapshots.

extension PageView {
    final class Completion {
        let body: (Result<String, PageSource.Fault>) -> Void
        init(_ body: @escaping (Result<String, PageSource.Fault>) -> Void) { self.body = body }
    }

    /// Calls a function of the page script's part for windows.
    func run(
        target: String, _ function: String, _ first: String, _ second: String,
        completion: @escaping (Result<String, PageSource.Fault>) -> Void
    ) {
        let body = "return window[Symbol.for('hemiola.window')]?.(target, name, first, second)"
        let names: [UnsafeMutablePointer<CChar>] = (["target", "name", "first", "second"] as [String]).map { strdup($0)! }
        let values: [UnsafeMutablePointer<CChar>] = ([target, function, first, second] as [String]).map { strdup($0)! }
        defer { for text in names + values { free(text) } }
        let callback: GAsyncReadyCallback = { object, result, data in
            let completion = Unmanaged<Completion>.fromOpaque(data!).takeRetainedValue()
            var error: UnsafeMutablePointer<GError>?
            let view: UnsafeMutablePointer<WebKitWebView> = cast(object!)
            let value = webkit_web_view_call_async_javascript_function_finish(view, result, &error)
            var answer: Result<String, PageSource.Fault>
            if let value {
                answer = .success(take(jsc_value_to_string(value)) ?? "")
                g_object_unref(UnsafeMutableRawPointer(value))
            } else {
                answer = .failure(PageSource.Fault(message: take(error)))
            }
            MainActor.assumeIsolated { completion.body(answer) }
        }
        names.map { UnsafePointer<CChar>?($0) }.withUnsafeBufferPointer { names in
            values.map { UnsafePointer<CChar>?($0) }.withUnsafeBufferPointer { values in
                cwindow_call(
                    view, body, names.baseAddress, values.baseAddress, names.count, nil, callback,
                    Unmanaged.passRetained(Completion(completion)).toOpaque())
            }
        }
    }

    /// Calls a function of the page as soon as the page is loaded and has it; one call at a time, in the order of the requests.
    ///
    /// - Parameters:
    ///   - values: The arguments, a JSON list.
    ///   - seconds: The time limit.
    ///   - completion: Gets the result as JSON, or the exception's text.
    func call(
        _ name: String, values: String, seconds: Double = 30, completion: @escaping (Result<String, PageSource.Fault>) -> Void
    ) {
        guard calls.count < 64 else { return completion(.failure(PageSource.Fault(message: "busy"))) }
        calls.append((name, values, seconds, completion))
        callNext()
    }

    func callNext() {
        guard !isCalling, !calls.isEmpty else { return }
        isCalling = true
        let call = calls.removeFirst()
        var isAnswered = false
        var timer: Timer?
        let finish: (Result<String, PageSource.Fault>) -> Void = { [self] result in
            guard !isAnswered else { return }
            isAnswered = true
            timer?.stop()
            timer = nil
            isCalling = false
            call.completion(result)
            callNext()
        }
        timer = Timer(every: call.seconds) {
            finish(.failure(PageSource.Fault(message: "\(call.name): no answer within \(call.seconds) s")))
            return false
        }
        run(target: "", "call", call.name, call.values, completion: finish)
    }

    /// Largest file that is passed to a page, in bytes.
    static let maximumImport: Int64 = 32 << 20

    /// Passes a file to the page's function importFile(name, base64).
    func importFile(_ path: String, completion: @escaping (Result<String, PageSource.Fault>) -> Void) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var size: Int64 = 0
        var real = [CChar](repeating: 0, count: 4097)
        let descriptor = cwindow_open_file(path, &real, real.count, &size)
        guard descriptor >= 0 else {
            return completion(.failure(PageSource.Fault(message: "\(name): \(String(cString: strerror(errno)))")))
        }
        defer { close(descriptor) }
        guard size <= Self.maximumImport else {
            return completion(.failure(PageSource.Fault(message: "\(name): larger than \(Self.maximumImport >> 20) MiB")))
        }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count)) }
            guard read > 0 else { return completion(.failure(PageSource.Fault(message: "\(name): cannot be read"))) }
            count += read
        }
        let values = try? JSONEncoder().encode([name, Self.base64(bytes)])
        call("importFile", values: String(decoding: values ?? Data(), as: UTF8.self), completion: completion)
    }

    // MARK: - Snapshot

    /// Writes the visible part of the page as a PNG file.
    func snapshot(to path: String, completion: @escaping (Result<String, PageSource.Fault>) -> Void) {
        let write: GAsyncReadyCallback = { object, result, data in
            let request = Unmanaged<SnapshotRequest>.fromOpaque(data!).takeRetainedValue()
            var error: UnsafeMutablePointer<GError>?
            guard let texture = webkit_web_view_get_snapshot_finish(cast(object!), result, &error) else {
                let message = take(error)
                return MainActor.assumeIsolated { request.completion(.failure(PageSource.Fault(message: message))) }
            }
            let isWritten = gdk_texture_save_to_png(texture, request.path) != 0
            g_object_unref(UnsafeMutableRawPointer(texture))
            MainActor.assumeIsolated {
                request.completion(
                    isWritten ? .success(request.path) : .failure(PageSource.Fault(message: "\(request.path): cannot be written")))
            }
        }
        webkit_web_view_get_snapshot(
            view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, nil, write,
            Unmanaged.passRetained(SnapshotRequest(path, completion)).toOpaque())
    }

    final class SnapshotRequest {
        nonisolated let path: String
        let completion: (Result<String, PageSource.Fault>) -> Void
        init(_ path: String, _ completion: @escaping (Result<String, PageSource.Fault>) -> Void) {
            self.path = path
            self.completion = completion
        }
    }
}
