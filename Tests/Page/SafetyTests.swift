import Foundation
import Glibc
import TestSupport
import Testing

extension BrowserTests {
    /// What other sites, other users and invalid addresses cannot do.
    @Suite struct SafetyTests {
        @Test func `page of another origin: neither socket nor content, also with the cookie and the token`() throws {
            let program = try WebProgram()
            let server = try BrowserFileServer(texts: ["/": "<!doctype html><meta charset=utf-8><title>Other</title>"])
            let browser = try Browser()
            // The browser gets the cookie.
            let page = try browser.open(program.url, size: (320, 180))
            try page.wait(for: "window.hemiola?.connected")
            let other = try browser.open(server.origin + "/")
            for address in ["/hemiola/socket", "/hemiola/socket?token=\(program.token)"] {
                let state = try other.evaluate(
                    """
                    new Promise(done => {
                        const socket = new WebSocket('ws://127.0.0.1:\(program.port)\(address)', ['hemiola.v1', 'hemiola.token.\(program.token)']);
                        socket.onopen = () => done('open');
                        socket.onclose = () => done('closed');
                    })
                    """, as: String.self)
                #expect(state == "closed", "\(address)")
            }
            let content = try other.evaluate(
                "fetch('\(program.url)').then(response => response.text()).catch(error => 'refused: ' + error.message)", as: String.self)
            #expect(content.hasPrefix("refused"), "\(content.prefix(200))")
            // A cookie of 127.0.0.1 belongs to no script.
            #expect(try page.evaluate("document.cookie") == "")
        }

        @Test func `wrong or no token: refused with one sentence; the cookie of the first visit suffices`() throws {
            let program = try WebProgram()
            let browser = try Browser()
            let page = try browser.open(program.origin + "/", size: (320, 180), waits: false)
            for address in ["/", "/?token=0123456789abcdef0123456789abcdef", "/hemiola.js", "/metrics", "/app/app.js"] {
                let response = try HTTPResponse(
                    to: "GET \(address) HTTP/1.1\r\nHost: 127.0.0.1:\(program.port)\r\n\r\n", port: program.port)
                #expect(response.status == 403, "\(address)")
                #expect(response.body.count < 500 && !response.body.contains(program.token))
            }
            #expect(try page.evaluate("typeof window.hemiola") == "undefined")
            try page.load(program.url)
            try page.load(program.origin + "/")
            try page.wait(for: "window.hemiola?.connected")
            #expect(try page.evaluate("fetch('/metrics').then(response => response.status)") == 200)
        }

        @Test(arguments: [
            "/../../../../etc/passwd", "/js/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
        ])
        func `path outside of the page's folder: not found`(path: String) throws {
            let folder = try TemporaryFolder()
            try folder.write("<!doctype html><title>Own</title>", to: "index.html")
            for web in ["port=0", "port=0,page=\(folder.path)"] {
                let program = try WebProgram(web: web)
                let request =
                    "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(program.port)\r\nAuthorization: Bearer \(program.token)\r\n"
                    + "Cookie: hemiola=\(program.token)\r\n\r\n"
                let response = try HTTPResponse(to: request, port: program.port)
                #expect([400, 403, 404].contains(response.status), "\(response)")
                #expect(!response.body.contains("root:"))
            }
        }

        @Test func `our page: its policy allows no script of another origin and no inline script`() throws {
            let program = try WebProgram()
            let page = try Browser().open(program.url, size: (320, 180))
            try page.wait(for: "window.hemiola?.connected")
            #expect(page.errors == [], "the page itself violates no policy")
            try page.run(
                """
                window.violations = [];
                document.addEventListener('securitypolicyviolation', event => violations.push(event.effectiveDirective));
                const script = document.createElement('script');
                script.textContent = 'window.injected = true';
                document.head.append(script);
                const image = new Image();
                image.src = 'http://127.0.0.1:9/x.png';
                """)
            try page.wait(for: "violations.includes('script-src-elem') && violations.includes('img-src')")
            #expect(try page.evaluate("typeof window.injected") == "undefined")
        }
    }
}

/// The response to one HTTP request, which is sent unchanged: a browser would normalize its path.
private struct HTTPResponse {
    var status: Int
    var body: String

    init(to request: String, port: Int) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 else { throw Browser.Failure(description: "no connection to port \(port): \(String(cString: strerror(errno)))") }
        // The server closes the connection after the response.
        let text = request.replacingOccurrences(of: "\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
        _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
        let response = String(decoding: bytes, as: UTF8.self)
        status = Int(response.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
        body = response.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
    }
}
