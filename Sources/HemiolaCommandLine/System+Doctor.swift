internal import Hemiola
internal import HemiolaOutput
internal import HemiolaPictures

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Reads the system properties for `hemiola doctor`. The libraries of plugins are found by the names of their symbols, because this module does
/// not depend on the plugins.
extension System {
    static func environment() -> Environment {
        var found = Environment()
        found.version = HemiolaVersion.current
        found.swift = "\(compiler), \(runtimeLocation)"
        found.soundFile = soundFileVersion
        found.formats = soundFileFormats
        found.ffmpeg = environment("PATH")?.split(separator: ":").map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 }
        found.transform = text(at: symbol("fftwf_version"))
        found.yaml = YAMLEventReader.libraryVersion
        found.compression = Compression.libraryVersion
        found.cairo = Picture.libraryVersion
        found.loudness = loudnessLibraryVersion
        found.runtime = environment("XDG_RUNTIME_DIR").map { path in
            var folder = folder(path)
            folder.isShared = isOpenToOthers(path)
            return folder
        }
        let home = environment("XDG_STATE_HOME") ?? environment("HOME").map { "\($0)/.local/state" }
        found.state = home.map { folder("\($0)/hemiola", mayBeMissing: true) }
        found.temporary = folder(environment("TMPDIR") ?? "/tmp")
        found.terminal = terminal
        found.locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG")
        return found
    }

    // MARK: - Libraries

    private static var compiler: String {
        #if compiler(>=6.4)
            "6.4 or newer"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    /// The path of the shared Swift runtime, or that it is statically linked.
    private static var runtimeLocation: String {
        let maps = String(decoding: (try? contents(of: "/proc/self/maps")) ?? [], as: UTF8.self)
        guard let line = maps.split(separator: "\n").first(where: { $0.contains("/libswiftCore.so") }),
            let start = line.firstIndex(of: "/")
        else { return "runtime statically linked" }
        return "runtime \(line[start...])"
    }

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        dlsym(nil, name)
    }

    private static func text(at place: UnsafeMutableRawPointer?) -> String? {
        place.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    }

    private static var soundFileVersion: String? {
        typealias Version = @convention(c) () -> UnsafePointer<CChar>
        return symbol("sf_version_string").map { String(cString: unsafeBitCast($0, to: Version.self)()) }
    }

    /// The version of libebur128. The analyzer that needs it loads it on demand, as this does; it stays loaded.
    private static var loudnessLibraryVersion: String? {
        typealias Version =
            @convention(c) (
                UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
            ) -> Void
        guard let library = dlopen("libebur128.so.1", RTLD_NOW | RTLD_LOCAL), let place = dlsym(library, "ebur128_get_version") else {
            return nil
        }
        var (major, minor, patch) = (Int32(0), Int32(0), Int32(0))
        unsafeBitCast(place, to: Version.self)(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    /// `SF_FORMAT_INFO` of sndfile.h.
    private struct FormatInfo {
        var format: Int32 = 0
        var name: UnsafePointer<CChar>?
        var ending: UnsafePointer<CChar>?
    }

    /// File extensions of the major formats and of the subtypes of Ogg and MPEG, sorted.
    private static var soundFileFormats: [String] {
        // sf_command(NULL, …) with SFC_GET_FORMAT_MAJOR_COUNT, SFC_GET_FORMAT_MAJOR and the same of the subtypes.
        typealias Command = @convention(c) (OpaquePointer?, Int32, UnsafeMutableRawPointer?, Int32) -> Int32
        guard let place = symbol("sf_command") else { return [] }
        let command = unsafeBitCast(place, to: Command.self)
        var names: Set<String> = []
        for (countCode, code) in [(0x1030, 0x1031), (0x1032, 0x1033)] as [(Int32, Int32)] {
            var count: Int32 = 0
            _ = command(nil, countCode, &count, Int32(MemoryLayout<Int32>.size))
            for index in 0..<max(0, count) {
                var info = FormatInfo(format: index)
                guard command(nil, code, &info, Int32(MemoryLayout<FormatInfo>.size)) == 0 else { continue }
                if code == 0x1031 {
                    if let ending = info.ending { names.insert(String(cString: ending)) }
                } else if let name = info.name.map({ String(cString: $0) }) {
                    if name == "Opus" { names.insert("opus") }
                    if name == "MPEG Layer III" { names.insert("mp3") }
                    if name == "Vorbis" { names.insert("ogg") }
                }
            }
        }
        if names.remove("oga") != nil { names.insert("ogg") }
        if names.remove("m1a") != nil { names.insert("mp3") }
        return names.sorted()
    }

    // MARK: - Folders and terminal

    /// Checks that a folder is writable, without writing.
    ///
    /// - Parameter mayBeMissing: Whether it is created when needed: then its nearest existing parent must be writable.
    private static func folder(_ path: String, mayBeMissing: Bool = false) -> Environment.Folder {
        var status = stat()
        if stat(path, &status) != 0 {
            let number = errno
            if mayBeMissing, number == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                return Environment.Folder(path: path, fault: folder(String(path[..<slash]), mayBeMissing: true).fault)
            }
            return Environment.Folder(path: path, fault: CallError(number: number).description)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return Environment.Folder(path: path, fault: "not a folder") }
        guard access(path, W_OK | X_OK) == 0 else {
            return Environment.Folder(path: path, fault: CallError(number: errno).description)
        }
        return Environment.Folder(path: path)
    }

    private static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && (status.st_mode & 0o077 != 0 || status.st_uid != getuid())
    }

    private static var terminal: String {
        guard destination(of: standardError) == .terminal else { return "standard error is not a terminal: no progress bar" }
        return "\(environment("TERM") ?? "TERM is not set"), \(columns(of: standardError) ?? 80) columns"
    }
}
