import Glibc

/// A file that is deleted with its owner.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8]) throws {
        var template = Array("/tmp/hemiola-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else { throw Failed() }
        close(descriptor)
    }

    deinit { unlink(path) }

    private struct Failed: Error {}
}
