import CWebKit
import CWindow
import FoundationEssentials
import Glibc
import WindowCore

/// The program `hemiola-window`.
@main
enum Program {
    static func main() {
        let arguments: WindowArguments
        do throws(WindowArguments.Fault) {
            switch try WindowArguments.parse(Array(CommandLine.arguments.dropFirst())) {
            case .help:
                print(WindowArguments.help)
                return
            case .window(let window): arguments = window
            }
        } catch {
            printMessage(error.message)
            exit(2)
        }
        // WebKit runs pages in bubblewrap, which as root leaves an empty /.flatpak-info in the root folder of the computer. While it exists, WebKit
        // runs pages without a sandbox, and PipeWire refuses all programs. The tests, which run as root in containers, set the variable.
        guard geteuid() != 0 || getenv("HEMIOLA_WINDOW_ALLOW_ROOT").map({ String(cString: $0) }) == "1" else {
            printMessage("not started as root; start it as the user of the desktop")
            exit(1)
        }
        for page in arguments.pages {
            do throws(PageSource.Fault) {
                _ = try PageSource(page)
            } catch {
                printMessage(error.message)
                exit(1)
            }
        }
        guard gtk_init_check() != 0 else {
            printMessage("no display; start the window in a graphical session")
            exit(1)
        }
        signal(SIGPIPE, SIG_IGN)
        let folder = makeFolder()
        let (socketPath, pipeline) = connect(arguments) { removeFolder(folder) }
        let controller = WindowController(arguments, folder: folder, socketPath: socketPath, pipeline: pipeline)
        let code = controller.run()
        removeFolder(folder)
        exit(code)
    }

    /// The socket of a running hemiola, or that of one that is started now.
    ///
    /// - Parameter clean: Called before the program exits, if none can be started.
    private static func connect(_ arguments: WindowArguments, clean: () -> Void) -> (String, Pipeline?) {
        if let path = arguments.socket { return (path, nil) }
        let path = DefaultSocket.path
        let program = arguments.hemiola ?? "hemiola"
        if let connection = LineConnection(path: path) {
            // The one of another window ends with that window.
            let isOfWindow = connection.serverIsOfWindow
            connection.close()
            return (path, isOfWindow ? Pipeline(program: program, socketPath: path) : nil)
        }
        if errno == EPERM {
            printMessage("\(path): the folder or the program that listens there belongs to another user; name the socket with --socket")
            clean()
            exit(1)
        }
        let pipeline = Pipeline(program: program, socketPath: path)
        guard pipeline.start() else {
            printMessage("\(program): \(String(cString: strerror(errno))); name the program with --hemiola, or a running one with --socket")
            clean()
            exit(1)
        }
        return (path, pipeline)
    }

    /// A folder that only the user can enter.
    private static func makeFolder() -> String {
        let parent = String(cString: g_get_user_runtime_dir())
        var status = stat()
        let usable = stat(parent, &status) == 0 && status.st_uid == getuid() ? parent : String(cString: g_get_tmp_dir())
        var name = Array("\(usable)/hemiola-window-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            printMessage("\(usable): \(String(cString: strerror(errno)))")
            exit(1)
        }
        return name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Removes the folder and the files in it.
    private static func removeFolder(_ folder: String) {
        if let entries = opendir(folder) {
            while let entry = readdir(entries) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                }
                if name != ".", name != ".." { unlink("\(folder)/\(name)") }
            }
            closedir(entries)
        }
        rmdir(folder)
    }
}
