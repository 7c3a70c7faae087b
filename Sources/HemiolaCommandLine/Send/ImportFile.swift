internal import HemiolaRecords
internal import HemiolaSystem

/// A file that a page imports. The running program reads it.
struct ImportFile {
    let name: String
    /// Absolute.
    let path: String

    init(_ path: String, name: String?) throws(Failure) {
        self.name = name ?? path.split(separator: "/").last.map(String.init) ?? path
        let tooLarge = "the file is larger than 32 MiB, the limit of an import"
        let bytes = try CommandInput.bytes(of: path, atMost: RegularFile.importLimit, tooLarge)
        if path != "-", (try? FileSystem.status(of: path).kind) == .file, let real = FileSystem.realPath(path) {
            self.path = real
            return
        }
        // Another program cannot read a pipe of this one. The copy stays until this program ends.
        do {
            let copy = FileDescriptor(try TemporaryFile.create())
            try copy.writeAll(bytes)
            self.path = "/proc/\(CurrentProcess.identifier)/fd/\(copy.number)"
        } catch {
            throw Failure("cannot store \(CommandInput.title(of: path)) in \(TemporaryFile.folder): \(error)", status: .inputFailed)
        }
    }
}
