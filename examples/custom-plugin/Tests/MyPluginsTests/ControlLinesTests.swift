import Glibc
import HemiolaTesting
import MyPlugins
import Testing

@Test func `lines: conforms`() throws {
    let path = "/tmp/lines.\(getpid())"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let pipe = open(path, O_RDWR | O_NONBLOCK)
    try ControlSourceConformanceSuite(.lines, settings: path) { _ = write(pipe, "nextPreset\n", 11) }.run()
}
