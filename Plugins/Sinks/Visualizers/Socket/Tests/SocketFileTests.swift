import BridgeSupport
import Foundation
import Glibc
import Hemiola
import Synchronization
import TestSupport
import Testing

@testable import SocketSink

/// The socket's file and its permissions.
@Suite(.mayNotHang) struct SocketFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func open(_ spec: String, warn: @escaping @Sendable (String) -> Void = { _ in }) throws -> any Sink {
        let sink = try SocketSinkFixture.sink(spec)
        try sink.open(SinkContext(name: "socket", messages: SinkMessages(warn: warn)))
        return sink
    }

    private func error(_ spec: String) -> String {
        do {
            let sink = try open(spec)
            try sink.close()
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// Creates a socket on which no process listens.
    private func createStaleSocket(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
        close(descriptor)
    }

    @Test func `socket file: has mode 600, and is removed at the end`() throws {
        let sink = try open("socket:\(folder("s"))")
        #expect(mode(folder("s")) == 0o600)
        _ = try SocketClient(folder("s"))
        try sink.close()
        #expect(folder.names == [])
    }

    @Test func `group: socket file has mode 660; unknown group is refused`() throws {
        let sink = try open("socket:\(folder("s")),group=\(getegid())")
        #expect(mode(folder("s")) == 0o660)
        try sink.close()
        #expect(error("socket:\(folder("s")),group=no-such-group-here").contains("unknown group \"no-such-group-here\""))
        #expect(folder.names == [])
    }

    @Test func `stale socket: is replaced; socket in use: is refused`() throws {
        try createStaleSocket(folder("s"))
        let sink = try open("socket:\(folder("s"))")
        let client = try SocketClient(folder("s"))
        #expect(
            error("socket:\(folder("s"))")
                == "\(folder("s")): Address already in use: another process listens on it; stop it, or use another path: socket:PATH")
        try client.send(#"{"type":"tap"}"#)
        try sink.close()
        #expect(folder.names == [])
    }

    @Test func `regular file and symbolic link at the path: are refused and not changed`() throws {
        try folder.write("text", to: "s")
        #expect(error("socket:\(folder("s"))").contains("File exists and is not a socket"))
        #expect(try folder.text(of: "s") == "text")
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("s"))
        #expect(error("socket:\(folder("link"))").contains("is not a socket"))
    }

    @Test func `socket file replaced by another file: is not removed`() throws {
        let sink = try open("socket:\(folder("s"))")
        unlink(folder("s"))
        try folder.write("another", to: "s")
        try sink.close()
        #expect(folder.names == ["s"])
    }

    @Test func `socket removed from its path: write requests to be reopened, and a new socket accepts clients`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        try await fixture.play()
        unlink(fixture.path)
        // The batch is written, and with it the replies to controls; the next one requests the new socket.
        try await fixture.play()
        let error = await #expect(throws: Problem.self) { try await fixture.play() }
        #expect(error?.remedy == .reopen && error?.message == "\(fixture.path): the socket was removed")
        try await fixture.reopen()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        #expect(mode(fixture.path) == 0o600)
        #expect(
            fixture.warnings == ["\(fixture.path): the socket was removed; a new socket was created, and clients have to connect again"])
        try await fixture.close()
        #expect(fixture.names == [])
    }

    @Test func `another file at the path of the socket: connected clients remain served`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        unlink(fixture.path)
        try "another".write(toFile: fixture.path, atomically: false, encoding: .utf8)
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        try await fixture.close()
        #expect(fixture.names == ["s"])
    }

    @Test func `folder writable by all users: is refused unless it is sticky`() throws {
        chmod(folder.path, 0o777)
        #expect(error("socket:\(folder("s"))").contains("writable by all users"))
        chmod(folder.path, 0o1777)
        #expect(error("socket:\(folder("s"))") == "")
        #expect(error("socket:\(folder("none/s"))").contains("\(folder("none")): No such file or directory; create it"))
        try folder.write("", to: "file")
        #expect(error("socket:\(folder("file/s"))").contains("file"))
    }

    @Test(.enabled(if: geteuid() == 0, "requires root: changes the owner of files"))
    func `folder writable by another group: is refused unless it is sticky`() throws {
        for mode: mode_t in [0o770, 0o775, 0o720] {
            chown(folder.path, 0, 12_345)
            chmod(folder.path, mode)
            #expect(error("socket:\(folder("s"))").contains("\(folder.path): writable by a group"), "\(mode)")
        }
        for mode: mode_t in [0o750, 0o1770] {
            chmod(folder.path, mode)
            #expect(error("socket:\(folder("s"))") == "", "\(mode)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "requires root: changes the owner of files"))
    func `path through another user's folder or symbolic link: is refused`() throws {
        let manager = FileManager.default
        for name in ["own", "other", "other/deep"] {
            try manager.createDirectory(atPath: folder(name), withIntermediateDirectories: false)
            chmod(folder(name), 0o755)
        }
        chown(folder("other"), 12_345, 0)
        #expect(error("socket:\(folder("other/deep/s"))").contains("\(folder("other")): belongs to another user"))
        try manager.createSymbolicLink(atPath: folder("link"), withDestinationPath: "own")
        #expect(error("socket:\(folder("link/s"))") == "")
        #expect(error("socket:\(folder("own/../link/./s"))") == "")
        lchown(folder("link"), 12_345, 0)
        #expect(error("socket:\(folder("link/s"))").contains("\(folder("link")): symbolic link of another user"))
        try manager.createSymbolicLink(atPath: folder("via"), withDestinationPath: folder("other/deep"))
        #expect(error("socket:\(folder("via/s"))").contains("belongs to another user"))
        try manager.createSymbolicLink(atPath: folder("loop"), withDestinationPath: "loop")
        #expect(error("socket:\(folder("loop/s"))").contains("symbolic links"))
    }

    @Test func `path longer than 107 bytes and invalid settings: are refused when the sink is made`() throws {
        let path = folder(String(repeating: "x", count: 107 - folder.path.utf8.count))
        #expect(throws: Problem.self) { try SocketSinkFixture.sink("socket:\(path)") }
        #expect(error("socket:\(path.dropLast())") == "")
        #expect(throws: Problem.self) { try SocketSinkFixture.sink("socket:group=users") }
        #expect(throws: Problem.self) { try SocketSinkFixture.sink("socket:\(folder("s")),max_clients=1001") }
    }

    @Test func `client above max_clients: gets an error and is disconnected`() async throws {
        let fixture = try await SocketSinkFixture("max_clients=2")
        try await fixture.begin()
        let first = try fixture.client()
        try first.expectHello()
        let second = try fixture.client()
        try second.expectHello()
        let third = try fixture.client()
        #expect(try third.line().text.contains("client limit reached (2); raise max_clients"))
        #expect(try third.readLine() == nil)
        try second.send(#"{"type":"closeViz"}"#)
        #expect(try second.readLine() == nil)
        let fourth = try fixture.client()
        try fourth.expectHello()
        try await fixture.close()
    }

    @Test func `clients that connect and disconnect: free their slot`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        for round in 0..<500 {
            let client = try fixture.client()
            if round.isMultiple(of: 2) { try client.expectHello() }
            if round.isMultiple(of: 3) { try client.send(#"{"type":"subscribe","streams":[]}"#) }
            if round.isMultiple(of: 5) { client.finishSending() }
            if round.isMultiple(of: 50) { try await fixture.play() }
        }
        // With a limit of one, each client is accepted only after the previous one was removed.
        let single = try await SocketSinkFixture("max_clients=1")
        try await single.begin()
        for _ in 0..<200 {
            let client = try single.client()
            try client.expectHello()
            try client.send(#"{"type":"closeViz"}"#)
            #expect(try client.readLine() == nil)
        }
        try await single.close()
        try await fixture.close()
    }

    @Test(
        .enabled(if: geteuid() == 0, "requires root: changes the user"),
        .enabled(if: ["setpriv", "/usr/bin/perl"].allSatisfy { Tool.location(of: $0) != nil }, "setpriv or Perl is missing"))
    func `another user: is refused even if the file's mode is 666`() throws {
        chmod(folder.path, 0o755)
        let warnings = Warnings()
        let sink = try open("socket:\(folder("s"))") { warnings.add($0) }
        let script = "use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; print <$s>;"
        let asOtherUser = ["--reuid=65534", "--clear-groups", "/usr/bin/perl", "-e", script, folder("s")]
        let setpriv = try #require(Tool.location(of: "setpriv"))
        let refused = try ChildProcess.run(setpriv, asOtherUser)
        #expect(refused.status != 0 && refused.errors.contains("Permission denied"), "\(refused)")
        chmod(folder("s"), 0o666)
        let outcome = try ChildProcess.run(setpriv, asOtherUser)
        #expect(outcome.output.contains(#"{"type":"error","error":"permission denied: only user 0 may connect","count":1}"#), "\(outcome)")
        #expect(warnings.all == ["socket: refused a connection from user 65534; to accept other users, set group=NAME"])
        try sink.close()
    }

    @Test(
        .enabled(if: geteuid() == 0, "requires root: changes the user"),
        .enabled(if: ["setpriv", "/usr/bin/perl"].allSatisfy { Tool.location(of: $0) != nil }, "setpriv or Perl is missing"))
    func `member of the group: can control the run, but name no file`() async throws {
        let fixture = try await SocketSinkFixture("group=65534")
        try await fixture.begin()
        chmod(fixture.folder.path, 0o755)
        let script = """
            use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; print $s $ARGV[1];
            while (<$s>) { print; last if /"id":4/ }
            """
        let messages = [
            #"{"type":"subscribe","streams":[]}"#, #"{"type":"import","id":1,"name":"x","path":"/x"}"#,
            #"{"type":"tabs","id":2,"tabs":[]}"#,
            #"{"type":"windowReady","id":3}"#, #"{"type":"status","id":4}"#,
        ]
        let member = ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/perl", "-e", script, fixture.path]
        let setpriv = try #require(Tool.location(of: "setpriv"))
        let outcome = try ChildProcess.run(setpriv, member + [messages.joined(separator: "\n") + "\n"])
        let replies = outcome.output.split(separator: "\n").filter { $0.contains(#""type":"reply""#) }
        let reason = #""ok":false,"error":"imports and tabs are accepted only from user 0, who runs Hemiola; send it as this user"}"#
        #expect(
            replies
                == [
                    #"{"type":"reply","id":1,\#(reason)"#, #"{"type":"reply","id":2,\#(reason)"#,
                    #"{"type":"reply","id":3,"ok":true,"error":null}"#, #"{"type":"reply","id":4,"ok":true,"error":null}"#,
                ].map { Substring($0) }, "\(outcome)")
        try await fixture.close()
    }
}

/// The warnings of a sink.
private final class Warnings: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0.map { $0 } } }
}
