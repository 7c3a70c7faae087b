internal import CBuildRecord
internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaFiles
internal import HemiolaPictures

/// The compiler, the commit and the libraries of the program, for `hemiola doctor` and `hemiola --version --verbose`.
enum ProgramBuild {
    /// The commit that the program was built from, as `packaging/commit` prints it; nil: not recorded, as by a plain `swift build`.
    static var commit: String? {
        cbuildrecord_commit().map { String(cString: $0) }
    }

    /// The compiler's version, and the path of the Swift runtime or that it is statically linked.
    static var swift: String {
        "\(cbuildrecord_swift().map { String(cString: $0) } ?? compiler), \(runtimeLocation)"
    }

    static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "other than x86_64 and aarch64"
        #endif
    }

    private static var compiler: String {
        #if compiler(>=6.4)
            "6.4 or newer"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    private static var runtimeLocation: String {
        let maps = String(decoding: (try? CommandInput.bytes(of: "/proc/self/maps")) ?? [], as: UTF8.self)
        guard let line = maps.split(separator: "\n").first(where: { $0.contains("/libswiftCore.so") }),
            let start = line.firstIndex(of: "/")
        else { return "runtime statically linked" }
        return "runtime \(line[start...])"
    }

    /// All shared libraries of the program except the C library: those that it cannot work without, then the others.
    static func libraries(_ registry: PluginRegistry) -> [SharedLibrary] {
        let all = [.fftw, .yaml, .zstd, .cairo, .archive] + registry.declarations.flatMap(\.libraries)
        let unique = all.reduce(into: [SharedLibrary]()) { found, library in
            if !found.contains(where: { "\($0.soname)" == "\(library.soname)" }) { found.append(library) }
        }
        return unique.filter { $0.relation == .depends } + unique.filter { $0.relation != .depends }
    }

    /// `SF_FORMAT_INFO` of sndfile.h.
    private struct FormatInfo {
        var format: Int32 = 0
        var name: UnsafePointer<CChar>?
        var ending: UnsafePointer<CChar>?
    }

    /// File extensions of the major formats and of the subtypes of Ogg and MPEG, sorted.
    static var soundFileFormats: [String] {
        // sf_command(NULL, …) with SFC_GET_FORMAT_MAJOR_COUNT, SFC_GET_FORMAT_MAJOR and the same of the subtypes.
        typealias Command = @convention(c) (OpaquePointer?, Int32, UnsafeMutableRawPointer?, Int32) -> Int32
        guard let place = SharedLibrary.symbol("sf_command") else { return [] }
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
}

extension SharedLibrary {
    /// The declaration, for packagers.
    var json: JSONValue {
        let texts: [(String, String?)] = [
            ("name", "\(name)"), ("soname", "\(soname)"), ("package", "\(package)"),
            ("minimum_version", minimumVersion.map { "\($0)" }), ("licence", "\(licence)"), ("relation", "\(relation)"), ("use", "\(use)"),
        ]
        return .object(texts.map { key, text in .init(key, text.map { .text($0) } ?? .null) } + [.init("linked", .boolean(isLinked))])
    }
}
