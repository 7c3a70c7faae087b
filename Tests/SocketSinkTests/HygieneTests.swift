import Foundation
import Hemiola
import Synchronization
import TestSupport
import Testing

@testable import SocketSink

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The socket in the file system, and who may use it.
@Suite(.mayNotHang) struct HygieneTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func open(_ spec: String, warn: @escaping @Sendable (String) -> Void = { _ in }) async throws -> any Sink {
        let sink = try Stage.sink(spec)
        try await sink.open(SinkContext(name: "socket", warn: warn))
        return sink
    }

    private func fault(_ spec: String) async -> String {
        do {
            let sink = try await open(spec)
            try await sink.close()
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// Leaves a socket behind that nobody listens at.
    private func leaveStale(_ path: String) throws {
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

    @Test func `folder of the owner of the root folder is trusted, where a user namespace gives root another number`() {
        #expect(SocketFolder.isTrusted(65_534, by: 1000, rootFolderOwner: 65_534))
        #expect(!SocketFolder.isTrusted(65_534, by: 1000, rootFolderOwner: 0))
        #expect(SocketFolder.isTrusted(1000, by: 1000, rootFolderOwner: 0) && SocketFolder.isTrusted(0, by: 1000, rootFolderOwner: 0))
        #expect(!SocketFolder.isTrusted(1001, by: 1000, rootFolderOwner: 0))
    }

    @Test func `the socket is its user's alone, and gone at the end`() async throws {
        let sink = try await open("socket:\(folder("s"))")
        #expect(mode(folder("s")) == 0o600)
        _ = try SocketClient(folder("s"))
        try await sink.close()
        #expect(folder.names == [])
    }

    @Test func `a group may be let in`() async throws {
        let sink = try await open("socket:\(folder("s")),group=\(getegid())")
        #expect(mode(folder("s")) == 0o660)
        try await sink.close()
        #expect(await fault("socket:\(folder("s")),group=no-such-group-here").contains("there is no group \"no-such-group-here\""))
        #expect(folder.names == [])
    }

    @Test func `a stale socket is replaced, a living one is not`() async throws {
        try leaveStale(folder("s"))
        let sink = try await open("socket:\(folder("s"))")
        let client = try SocketClient(folder("s"))
        #expect(
            await fault("socket:\(folder("s"))")
                == "somebody listens at \(folder("s")) already; end that, or take another path: socket:PATH")
        try client.send(#"{"type":"tap"}"#)
        try await sink.close()
        #expect(folder.names == [])
    }

    @Test func `what is no socket is left as it is`() async throws {
        try folder.write("precious", to: "s")
        #expect(await fault("socket:\(folder("s"))").contains("is no socket; it is left as it is"))
        #expect(try folder.text(of: "s") == "precious")
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("s"))
        #expect(await fault("socket:\(folder("link"))").contains("is no socket"))
    }

    @Test func `another's socket in its place is not removed`() async throws {
        let sink = try await open("socket:\(folder("s"))")
        unlink(folder("s"))
        try folder.write("another", to: "s")
        try await sink.close()
        #expect(folder.names == ["s"])
    }

    @Test func `a folder that others can write to is refused`() async throws {
        chmod(folder.path, 0o777)
        #expect(await fault("socket:\(folder("s"))").contains("everybody may write to"))
        chmod(folder.path, 0o1777)
        #expect(await fault("socket:\(folder("s"))") == "")
        #expect(await fault("socket:\(folder("none/s"))").contains("there is no folder \(folder("none")) for a socket; make it"))
        try folder.write("", to: "file")
        #expect(await fault("socket:\(folder("file/s"))").contains("file"))
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func `a folder that a foreign group can write to is refused`() async throws {
        for mode: mode_t in [0o770, 0o775, 0o720] {
            chown(folder.path, 0, 12_345)
            chmod(folder.path, mode)
            #expect(await fault("socket:\(folder("s"))").contains("a group may write to \(folder.path)"), "\(mode)")
        }
        for mode: mode_t in [0o750, 0o1770] {
            chmod(folder.path, mode)
            #expect(await fault("socket:\(folder("s"))") == "", "\(mode)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func `a path through the folder or link of another user is refused`() async throws {
        let manager = FileManager.default
        for name in ["own", "foreign", "foreign/deep"] {
            try manager.createDirectory(atPath: folder(name), withIntermediateDirectories: false)
            chmod(folder(name), 0o755)
        }
        chown(folder("foreign"), 12_345, 0)
        #expect(await fault("socket:\(folder("foreign/deep/s"))").contains("\(folder("foreign")) belongs to another user"))
        try manager.createSymbolicLink(atPath: folder("link"), withDestinationPath: "own")
        #expect(await fault("socket:\(folder("link/s"))") == "")
        #expect(await fault("socket:\(folder("own/../link/./s"))") == "")
        lchown(folder("link"), 12_345, 0)
        #expect(await fault("socket:\(folder("link/s"))").contains("\(folder("link")) is a symbolic link of another user"))
        try manager.createSymbolicLink(atPath: folder("way"), withDestinationPath: folder("foreign/deep"))
        #expect(await fault("socket:\(folder("way/s"))").contains("belongs to another user"))
        try manager.createSymbolicLink(atPath: folder("loop"), withDestinationPath: "loop")
        #expect(await fault("socket:\(folder("loop/s"))").contains("symbolic links"))
    }

    @Test func `a path that no address has room for is refused before anything is touched`() async throws {
        let path = folder(String(repeating: "x", count: 107 - folder.path.utf8.count))
        #expect(throws: ConfigurationError.self) { try Stage.sink("socket:\(path)") }
        #expect(await fault("socket:\(path.dropLast())") == "")
        #expect(throws: ConfigurationError.self) { try Stage.sink("socket:group=users") }
        #expect(throws: ConfigurationError.self) { try Stage.sink("socket:\(folder("s")),max_clients=1001") }
    }

    @Test func `one client too many is told so`() async throws {
        let stage = try await Stage("max_clients=2")
        try await stage.begin()
        let first = try stage.client()
        try first.expectGreeting()
        let second = try stage.client()
        try second.expectGreeting()
        let third = try stage.client()
        #expect(try third.line().text.contains("client limit reached (2); raise max_clients"))
        #expect(try third.readLine() == nil)
        try second.send(#"{"type":"closeViz"}"#)
        #expect(try second.readLine() == nil)
        let fourth = try stage.client()
        try fourth.expectGreeting()
        try await stage.close()
    }

    @Test func `clients that come and go leave nothing behind`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        for round in 0..<500 {
            let client = try stage.client()
            if round.isMultiple(of: 2) { try client.expectGreeting() }
            if round.isMultiple(of: 3) { try client.send(#"{"type":"subscribe","streams":[]}"#) }
            if round.isMultiple(of: 5) { client.finishSending() }
            if round.isMultiple(of: 50) { try await stage.play() }
        }
        // Where there is room for one, each comes only when the one before has left nothing behind.
        let room = try await Stage("max_clients=1")
        try await room.begin()
        for _ in 0..<200 {
            let client = try room.client()
            try client.expectGreeting()
            try client.send(#"{"type":"closeViz"}"#)
            #expect(try client.readLine() == nil)
        }
        try await room.close()
        try await stage.close()
    }

    @Test(
        .enabled(if: geteuid() == 0, "only the superuser can be another user"),
        .enabled(if: ["setpriv", "/usr/bin/perl"].allSatisfy { Tool.location(of: $0) != nil }, "there is no setpriv, or no Perl"))
    func `another user is turned away, even where the file would let it in`() async throws {
        chmod(folder.path, 0o755)
        let warnings = Warnings()
        let sink = try await open("socket:\(folder("s"))") { warnings.add($0) }
        let script = "use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; print <$s>;"
        let asNobody = ["--reuid=65534", "--clear-groups", "/usr/bin/perl", "-e", script, folder("s")]
        let setpriv = try #require(Tool.location(of: "setpriv"))
        let refused = try ChildProcess.run(setpriv, asNobody)
        #expect(refused.status != 0 && refused.errors.contains("Permission denied"), "\(refused)")
        chmod(folder("s"), 0o666)
        let outcome = try ChildProcess.run(setpriv, asNobody)
        #expect(outcome.output.contains(#"{"type":"error","error":"this socket is for user 0 alone","count":1}"#), "\(outcome)")
        #expect(warnings.all == ["socket: user 65534 was turned away; group=NAME lets others in"])
        try await sink.close()
    }
}

/// What a sink warns of.
private final class Warnings: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0.map { $0 } } }
}
