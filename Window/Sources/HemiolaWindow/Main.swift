import CWebKit
import FoundationEssentials
import Glibc
import HemiolaSystem
import WindowCore

/// The program `hemiola-window`.
@main
enum Program {
    static func main() {
        let arguments: WindowArguments
        do {
            arguments = try WindowArguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            fail(error.message, code: 2)
        }
        if arguments.showsHelp { return print(WindowArguments.help) }
        // WebKit runs pages in bubblewrap, which as root leaves an empty /.flatpak-info in the root folder of the computer. While it exists, WebKit
        // runs pages without a sandbox, and PipeWire refuses all programs. The tests, which run as root in containers, set the variable.
        guard CurrentProcess.user != 0 || EnvironmentVariable.value("HEMIOLA_WINDOW_ALLOW_ROOT") == "1" else {
            fail("not started as root; start it as the user of the desktop")
        }
        for page in arguments.pages {
            do { _ = try PageSource(page) } catch { fail(error.message) }
        }
        guard gtk_init_check() != 0 else { fail("no display; start the window in a graphical session") }
        signal(SIGPIPE, SIG_IGN)
        let (path, pipeline) = connect(arguments)
        let folder = makeFolder()
        let code = WindowController(arguments, folder: folder, socketPath: path, pipeline: pipeline).run()
        for name in (try? FileSystem.names(in: folder)) ?? [] { FileSystem.remove("\(folder)/\(name)") }
        rmdir(folder)
        exit(code)
    }

    private static func fail(_ message: String, code: Int32 = 1) -> Never {
        printMessage(message)
        exit(code)
    }

    /// The socket of a running hemiola, or that of one that is started now.
    private static func connect(_ arguments: WindowArguments) -> (SocketPath, Pipeline?) {
        if let path = arguments.socket { return (SocketPath(path: path), nil) }
        let path = SocketPath.standard()
        let pipeline = Pipeline(program: arguments.hemiola ?? "hemiola", path: path)
        do {
            let connection = try LineConnection(path)
            defer { connection.close() }
            // The one of another window ends with that window.
            return (path, connection.serverIsOfWindow ? pipeline : nil)
        } catch {
            if error.code == .notPermitted {
                fail("\(path.path): the folder or the program that listens there belongs to another user; name the socket with --socket")
            }
        }
        do { try pipeline.start() } catch {
            fail("\(error.message); name the program with --hemiola, or a running one with --socket")
        }
        return (path, pipeline)
    }

    /// A folder that only the user can enter.
    private static func makeFolder() -> String {
        let path = SocketPath.standard()
        let parent = path.origin == .runtimeFolder ? path.folder : TemporaryFile.folder
        guard let folder = take(g_mkdtemp(g_strdup("\(parent)/hemiola-window-XXXXXX"))) else { fail("\(parent): \(SystemCallError.last)") }
        return folder
    }
}
