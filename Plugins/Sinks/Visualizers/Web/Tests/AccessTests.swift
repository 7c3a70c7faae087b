import BridgeSupport
import Hemiola
import TestSupport
import Testing

@testable import WebSink

/// Who may read the page and connect to the WebSocket.
@Suite(.mayNotHang) struct AccessTests {
    @Test func `token in query, cookie or bearer: is accepted, and the query sets the cookie`() async throws {
        let fixture = try await WebSinkFixture()
        try #require(fixture.token.count == 32)
        let host = ["Host": fixture.host]
        let first = try fixture.connection().request("/?token=\(fixture.token)", headers: host)
        #expect(first.status == 200 && first.headers["content-type"] == "text/html; charset=utf-8")
        #expect(first.headers["set-cookie"] == "hemiola=\(fixture.token); HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000")
        let second = try fixture.get("/", ["Cookie": "a=b; hemiola=\(fixture.token); c=d"])
        #expect(second.status == 200 && second.headers["set-cookie"] == nil && second.body == first.body)
        #expect(try fixture.get("/metrics", ["Cookie": "", "Authorization": "Bearer \(fixture.token)"]).status == 200)
        try await fixture.close()
    }

    @Test(arguments: ["/", "/hemiola.js", "/hemiola/socket", "/metrics", "/none"])
    func `request without token, or with a wrong one: 403 with a sentence, and no content`(path: String) async throws {
        let fixture = try await WebSinkFixture()
        let wrong = String(fixture.token.dropLast()) + (fixture.token.hasSuffix("0") ? "1" : "0")
        let requests: [(String, [String: String])] = [
            (path, ["Cookie": ""]), ("\(path)?token=", ["Cookie": ""]), ("\(path)?token=\(wrong)", ["Cookie": "hemiola=\(wrong)"]),
            ("\(path)?token=\(fixture.token.dropLast())", ["Cookie": "hemiola=\(fixture.token)0"]),
            (path, ["Cookie": "", "Authorization": "Bearer \(wrong)"]), (path, ["Cookie": "", "Authorization": fixture.token]),
            ("\(path)?nottoken=\(fixture.token)", ["Cookie": "xhemiola=\(fixture.token)"]),
        ]
        for (target, fields) in requests {
            let response = try fixture.get(target, fields)
            #expect(response.status == 403 && response.text.contains("open the URL that hemiola has printed"), "\(target) \(fields)")
            #expect(response.headers["set-cookie"] == nil)
        }
        try await fixture.close()
    }

    @Test func `Host of another server: is refused, also with the token`() async throws {
        let fixture = try await WebSinkFixture()
        for host in ["localhost:\(fixture.port)", "LOCALHOST:\(fixture.port)", "[::1]:\(fixture.port)", fixture.host] {
            #expect(try fixture.get("/", ["Host": host]).status == 200, "\(host)")
        }
        for host in ["evil.example:\(fixture.port)", "evil.example", "127.0.0.1", "127.0.0.1:1", "192.168.1.2:\(fixture.port)"] {
            let response = try fixture.get("/?token=\(fixture.token)", ["Host": host])
            #expect(response.status == 421 && response.headers["set-cookie"] == nil, "\(host)")
        }
        #expect(try fixture.get("/", ["Host": ""]).status == 421)
        let socket = try WebSocketClient(
            port: fixture.port, headers: ["Host": "evil.example:\(fixture.port)", "Cookie": "hemiola=\(fixture.token)"])
        #expect(socket.response.status == 421)
        try await fixture.close()
    }

    @Test func `Origin of another server: is refused unless it is allowed`() async throws {
        let fixture = try await WebSinkFixture("origin=http://localhost:5173+https://show.example")
        let cookie = ["Cookie": "hemiola=\(fixture.token)"]
        for origin in ["http://\(fixture.host)", "http://localhost:5173", "https://SHOW.example"] {
            #expect(try fixture.get("/", ["Origin": origin]).status == 200, "\(origin)")
            let client = try WebSocketClient(port: fixture.port, headers: cookie.merging(["Origin": origin]) { $1 })
            #expect(client.response.status == 101, "\(origin)")
        }
        #expect(try fixture.get("/", ["Origin": "http://localhost:5173"]).headers["access-control-allow-origin"] == "http://localhost:5173")
        for origin in ["http://evil.example", "null", "https://\(fixture.host)", "http://127.0.0.1:1", "http://localhost:51730"] {
            let response = try fixture.get("/", ["Origin": origin])
            #expect(response.status == 403 && response.text.contains("origin"), "\(origin)")
            #expect(response.headers["access-control-allow-origin"] == nil)
            let client = try WebSocketClient(port: fixture.port, headers: cookie.merging(["Origin": origin]) { $1 })
            #expect(client.response.status == 403, "\(origin)")
        }
        try await fixture.close()
    }

    @Test func `cookie in a request of another server's page: is not accepted, except for a link`() async throws {
        let fixture = try await WebSinkFixture()
        for site in ["same-site", "cross-site"] {
            #expect(try fixture.get("/hemiola.js", ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"]).status == 403)
            #expect(try fixture.get("/", ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"]).status == 200)
            #expect(try fixture.get("/hemiola.js?token=\(fixture.token)", ["Sec-Fetch-Site": site]).status == 200)
        }
        #expect(try fixture.get("/hemiola.js", ["Sec-Fetch-Site": "same-origin"]).status == 200)
        try await fixture.close()
    }

    @Test func `cookie without Sec-Fetch-Site: is accepted from the own page and for a document only`() async throws {
        let fixture = try await WebSinkFixture()
        let plain = ["Sec-Fetch-Site": ""]
        let others = ["", "http://127.0.0.1:1/", "http://\(fixture.host).evil.example/", "http://evil.example/http://\(fixture.host)/"]
        for path in ["/hemiola.js", "/metrics", "/app/app.js", "/presets/", "/"] {
            for referrer in others {
                let headers = plain.merging(["Referer": referrer, "Accept": "*/*"]) { $1 }
                #expect(try fixture.get(path, headers).status == 403, "\(path) \(referrer)")
            }
            #expect(try fixture.get(path, plain.merging(["Referer": "http://\(fixture.host)/?token=x"]) { $1 }).status != 403, "\(path)")
        }
        // A bookmark, and a link on another page.
        let document = ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"]
        for referrer in others {
            #expect(try fixture.get("/", plain.merging(document) { $1 }.merging(["Referer": referrer]) { $1 }).status == 200)
        }
        #expect(try fixture.get("/hemiola.js?token=\(fixture.token)", plain).status == 200)
        try await fixture.close()
    }

    @Test func `WebSocket: takes the token from query, cookie, bearer or subprotocol, and selects hemiola.v1`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let token = fixture.token
        let accepted: [(String, [String: String], String?)] = [
            ("/hemiola/socket?token=\(token)", [:], nil), ("/hemiola/socket", ["Cookie": "hemiola=\(token)"], nil),
            ("/hemiola/socket", ["Authorization": "bearer \(token)"], nil),
            ("/hemiola/socket", ["Sec-WebSocket-Protocol": "hemiola.v1, hemiola.token.\(token)"], "hemiola.v1"),
            ("/hemiola/socket?token=\(token)", ["Sec-WebSocket-Protocol": "other,hemiola.v1"], "hemiola.v1"),
        ]
        for (target, headers, selected) in accepted {
            let client = try WebSocketClient(port: fixture.port, target: target, headers: headers)
            #expect(client.response.status == 101, "\(target) \(headers)")
            #expect(client.response.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(client.response.headers["sec-websocket-protocol"] == selected)
            #expect(try client.line().type == "hello")
        }
        let refused: [(String, [String: String], Int)] = [
            ("/hemiola/socket", [:], 403), ("/hemiola/socket", ["Sec-WebSocket-Protocol": "hemiola.v1, hemiola.token.\(token)0"], 403),
            ("/hemiola/socket?token=\(token)", ["Sec-WebSocket-Version": "8"], 426), ("/?token=\(token)", [:], 200),
            ("/metrics", ["Sec-WebSocket-Protocol": "hemiola.token.\(token)"], 403),
            ("/hemiola/socket?token=\(token)", ["Upgrade": ""], 426), ("/hemiola/other?token=\(token)", [:], 404),
        ]
        for (target, headers, status) in refused {
            let client = try WebSocketClient(port: fixture.port, target: target, headers: headers)
            #expect(client.response.status == status, "\(target) \(headers)")
        }
        try await fixture.close()
    }
}
