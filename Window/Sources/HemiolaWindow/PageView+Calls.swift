import CWebKit
import HemiolaSystem

// Calls to the page script, and snapshots.

extension PageView {
    /// Calls a function of the page script's part for windows, in the document whose connections the page has.
    ///
    /// - Parameter completion: Called when the function has returned, or the call has failed.
    func run(_ function: String, _ first: String, _ second: String, completion: @escaping () -> Void) {
        let values = g_variant_dict_new(nil)
        for (name, text) in [("target", document), ("name", function), ("first", first), ("second", second)] {
            g_variant_dict_insert_value(values, name, g_variant_new_string(text))
        }
        // The view copies the arguments, and does not take the floating reference.
        let arguments = g_variant_ref_sink(g_variant_dict_end(values))
        g_variant_dict_unref(values)
        let body = "return window[Symbol.for('hemiola.window')]?.(target, name, first, second)"
        webkit_web_view_call_async_javascript_function(
            view, body, -1, arguments, nil, nil, nil, finished,
            whenFinished { view, result in
                // Without a place for the error: a document that has been left cannot be called, which is no fault.
                let value = webkit_web_view_call_async_javascript_function_finish(cast(view), result, nil)
                if let value { g_object_unref(UnsafeMutableRawPointer(value)) }
                completion()
            })
        g_variant_unref(arguments)
    }

    // MARK: - Snapshot

    /// Writes the visible part of the page as a PNG file.
    func snapshot(to path: String, completion: @escaping (Result<String, Problem>) -> Void) {
        webkit_web_view_get_snapshot(
            view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, nil, finished,
            whenFinished { view, result in
                var error: UnsafeMutablePointer<GError>?
                guard let texture = webkit_web_view_get_snapshot_finish(cast(view), result, &error) else {
                    return completion(.failure(Problem(take(error))))
                }
                let isWritten = gdk_texture_save_to_png(texture, path) != 0
                g_object_unref(UnsafeMutableRawPointer(texture))
                completion(isWritten ? .success(path) : .failure(Problem("\(path): cannot be written")))
            })
    }
}
