import CWebKit
import HemiolaSystem

/// Serves the files of the pages at addresses `hemiola-page://HOST/PATH`.
///
/// A web view gets the files of the page that it shows, and of no other.
final class PageScheme {
    /// The pages by the host of their addresses.
    private var sources: [String: PageSource] = [:]
    /// Called when a file cannot be served: the host, and the message.
    var onFault: ((PageSource, String) -> Void)?

    init(context: OpaquePointer) {
        let callback: WebKitURISchemeRequestCallback = { request, data in
            let scheme: PageScheme = owner(data)
            nonisolated(unsafe) let request = request!
            MainActor.assumeIsolated { scheme.serve(request) }
        }
        webkit_web_context_register_uri_scheme(context, PageSource.scheme, callback, data(self), nil)
        let security = webkit_web_context_get_security_manager(context)
        // Pages may use what browsers allow to pages of HTTPS only, such as AudioWorklet, and load modules.
        webkit_security_manager_register_uri_scheme_as_secure(security, PageSource.scheme)
        webkit_security_manager_register_uri_scheme_as_cors_enabled(security, PageSource.scheme)
    }

    /// Serves a page from now on.
    func add(_ source: PageSource) {
        sources[source.host] = source
    }

    private func serve(_ request: OpaquePointer) {
        let address = String(cString: webkit_uri_scheme_request_get_uri(request))
        let uri = g_uri_parse(address, G_URI_FLAGS_NONE, nil)
        defer { if let uri { g_uri_unref(uri) } }
        guard let uri, let host = g_uri_get_host(uri), let source = sources[String(cString: host)], isAllowed(request, source) else {
            return refuse(request, "not a page of this window")
        }
        let path = String(cString: g_uri_get_path(uri))
        do {
            switch try source.file(at: path) {
            case .bytes(let bytes):
                let memory = g_memory_input_stream_new_from_data(g_memdup2(bytes, gsize(bytes.count)), gssize(bytes.count), g_free)
                finish(request, stream: memory!, count: Int64(bytes.count), type: type(path, start: bytes.prefix(1024)))
            case .open(let file):
                let start = (try? file.descriptor.bytes(at: 0, count: 1024)) ?? []
                let stream = g_unix_input_stream_new(file.descriptor.number, 1)
                finish(request, stream: stream!, count: Int64(file.size), type: type(path, start: start[...]))
            }
        } catch {
            // Browsers request this file although no page names it.
            if path != "/favicon.ico" { onFault?(source, "\(path): \(error.message)") }
            refuse(request, error.message)
        }
    }

    /// Whether the view that requests a file shows the file's page.
    private func isAllowed(_ request: OpaquePointer, _ source: PageSource) -> Bool {
        guard let view = webkit_uri_scheme_request_get_web_view(request) else { return true }
        guard let page = PageView.views[view] else { return false }
        return page.source == source
    }

    private func finish(_ request: OpaquePointer, stream: UnsafeMutablePointer<GInputStream>, count: Int64, type: String) {
        let response = webkit_uri_scheme_response_new(stream, gint64(count))
        webkit_uri_scheme_response_set_content_type(response, type)
        webkit_uri_scheme_response_set_status(response, 200, nil)
        let headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE)
        soup_message_headers_append(headers, "Content-Type", type)
        soup_message_headers_append(headers, "X-Content-Type-Options", "nosniff")
        soup_message_headers_append(headers, "Cache-Control", "no-store")
        webkit_uri_scheme_response_set_http_headers(response, headers)
        webkit_uri_scheme_request_finish_with_response(request, response)
        g_object_unref(UnsafeMutableRawPointer(response))
        g_object_unref(stream)
    }

    private func refuse(_ request: OpaquePointer, _ message: String) {
        let error = g_error_new_literal(g_quark_from_string("hemiola-page"), 404, message)
        webkit_uri_scheme_request_finish_error(request, error)
        g_error_free(error)
    }

    /// The media type. An HTML file without a declared encoding is UTF-8.
    private func type(_ path: String, start: ArraySlice<UInt8>) -> String {
        let type = PageSource.mediaType(of: path)
        guard type == "text/html" else { return type }
        return String(decoding: start, as: UTF8.self).lowercased().contains("charset") ? type : "text/html; charset=utf-8"
    }
}
