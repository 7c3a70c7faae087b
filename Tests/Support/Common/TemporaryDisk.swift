import Foundation
import Glibc

/// A small file system in memory (tmpfs), mounted on the folder `disk` of a temporary folder until this object is released.
///
/// Only root can mount it: a test declares the condition `.enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only")`.
public final class TemporaryDisk {
    public struct Failure: Error {}

    /// Whether a tmpfs can be mounted.
    public static let isAvailable: Bool = (try? TemporaryDisk(kibibytes: 16)) != nil

    private let folder: TemporaryFolder
    public let path: String

    public init(kibibytes: Int) throws {
        folder = try TemporaryFolder()
        path = folder("disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(kibibytes)k", "none", path]) else { throw Failure() }
    }

    deinit {
        _ = try? Self.run("umount", ["-l", path])
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        guard let location = Tool.location(of: program) else { return false }
        return try ChildProcess.run(location, arguments).status == 0
    }

    /// The path of a file on the disk.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Space that is free.
    public var freeBytes: Int {
        get throws { try FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? Int ?? 0 }
    }

    /// Fills the disk with one file. `free` removes it.
    ///
    /// - Parameter kibibytes: Space that is left, in KiB.
    public func fill(leaving kibibytes: Int) throws {
        try Data(count: max(0, freeBytes - kibibytes * 1024)).write(to: URL(fileURLWithPath: self(".filler")))
    }

    /// Removes the filler.
    public func free() throws {
        // Before it is removed: a process that another test is starting may hold the file open, and with it the space, until it calls exec.
        guard truncate(self(".filler"), 0) == 0 else { throw Failure() }
        try FileManager.default.removeItem(atPath: self(".filler"))
    }

    public func text(of name: String) throws -> String {
        try String(contentsOfFile: self(name), encoding: .utf8)
    }
}
