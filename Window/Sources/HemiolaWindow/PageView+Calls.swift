import CWebKit
import CWindow
import Glibc
import HemiolaSystem

// Calls to the page script, and snapshots.

extension PageView {
    final class Completion {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Calls a function of the page script's part for windows, in the document whose connections the page has.
    ///
    /// - Parameter completion: Called when the function has returned, or the call has failed.
    func run(_ function: String, _ first: String, _ second: String, completion: @escaping () -> Void) {
        let body = "return window[Symbol.for('hemiola.window')]?.(target, name, first, second)"
        let names: [UnsafeMutablePointer<CChar>] = (["target", "name", "first", "second"] as [String]).map { strdup($0)! }
        let values: [UnsafeMutablePointer<CChar>] = ([document, function, first, second] as [String]).map { strdup($0)! }
        defer { for text in names + values { free(text) } }
        let callback: GAsyncReadyCallback = { object, result, data in
            let completion = Unmanaged<Completion>.fromOpaque(data!).takeRetainedValue()
            let view: UnsafeMutablePointer<WebKitWebView> = cast(object!)
            // Without a place for the error: a document that has been left cannot be called, which is no fault.
            if let value = webkit_web_view_call_async_javascript_function_finish(view, result, nil) {
                g_object_unref(UnsafeMutableRawPointer(value))
            }
            MainActor.assumeIsolated { completion.body() }
        }
        names.map { UnsafePointer<CChar>?($0) }.withUnsafeBufferPointer { names in
            values.map { UnsafePointer<CChar>?($0) }.withUnsafeBufferPointer { values in
                cwindow_call(
                    view, body, names.baseAddress, values.baseAddress, names.count, nil, callback,
                    Unmanaged.passRetained(Completion(completion)).toOpaque())
            }
        }
    }

    // MARK: - Snapshot

    /// Writes the visible part of the page as a PNG file.
    func snapshot(to path: String, completion: @escaping (Result<String, Problem>) -> Void) {
        let write: GAsyncReadyCallback = { object, result, data in
            let request = Unmanaged<SnapshotRequest>.fromOpaque(data!).takeRetainedValue()
            var error: UnsafeMutablePointer<GError>?
            guard let texture = webkit_web_view_get_snapshot_finish(cast(object!), result, &error) else {
                let message = take(error)
                return MainActor.assumeIsolated { request.completion(.failure(Problem(message))) }
            }
            let isWritten = gdk_texture_save_to_png(texture, request.path) != 0
            g_object_unref(UnsafeMutableRawPointer(texture))
            MainActor.assumeIsolated {
                request.completion(
                    isWritten ? .success(request.path) : .failure(Problem("\(request.path): cannot be written")))
            }
        }
        webkit_web_view_get_snapshot(
            view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, nil, write,
            Unmanaged.passRetained(SnapshotRequest(path, completion)).toOpaque())
    }

    final class SnapshotRequest {
        nonisolated let path: String
        let completion: (Result<String, Problem>) -> Void
        init(_ path: String, _ completion: @escaping (Result<String, Problem>) -> Void) {
            self.path = path
            self.completion = completion
        }
    }
}
