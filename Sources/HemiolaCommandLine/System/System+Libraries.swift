internal import CBuildRecord
internal import Glibc
internal import HemiolaOutput
internal import HemiolaPictures
internal import HemiolaYAML

/// The compiler, the commit and the libraries of the program, for `hemiola doctor` and `hemiola --version --verbose`.
extension System {
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
        let maps = String(decoding: (try? contents(of: "/proc/self/maps")) ?? [], as: UTF8.self)
        guard let line = maps.split(separator: "\n").first(where: { $0.contains("/libswiftCore.so") }),
            let start = line.firstIndex(of: "/")
        else { return "runtime statically linked" }
        return "runtime \(line[start...])"
    }

    // MARK: - Libraries

    /// All shared libraries of the program except the C library. Those that are loaded on demand are loaded, and stay loaded.
    ///
    /// The libraries of plugins are found by the names of their symbols, because this module does not depend on the plugins.
    static var libraries: [Library] {
        [
            Library("FFTW", package: "libfftw3-single3", version: text(at: dlsym(nil, "fftwf_version"))),
            Library("libsndfile", package: "libsndfile1", version: text(from: dlsym(nil, "sf_version_string"))),
            Library("libyaml", package: "libyaml-0-2", version: YAMLEventReader.libraryVersion),
            Library("Zstandard", package: "libzstd1", version: Compression.libraryVersion),
            Library(
                "libpulse", package: "libpulse0", use: "live capture",
                version: text(from: symbol("pa_get_library_version", of: "libpulse.so.0"))),
            Library("cairo", package: "libcairo2", use: "hemiola render", version: Picture.libraryVersion),
            Library("libebur128", package: "libebur128-1", use: "the analyzer loudness", version: loudnessLibraryVersion),
            Library(
                "libasound", package: "libasound2", use: "MIDI through ALSA, midi:alsa",
                version: text(from: symbol("snd_asoundlib_version", of: "libasound.so.2"))),
            Library("libmosquitto", package: "libmosquitto1", use: "the sink mqtt", version: mosquittoVersion),
            Library(
                "libqrencode", package: "libqrencode4", use: "the QR code of the web sink",
                version: text(from: symbol("QRcode_APIVersionString", of: "libqrencode.so.4"))),
        ]
    }

    /// The address of a function of a library that is loaded on demand; nil: not installed.
    private static func symbol(_ name: String, of library: String) -> UnsafeMutableRawPointer? {
        dlopen(library, RTLD_NOW | RTLD_LOCAL).flatMap { dlsym($0, name) }
    }

    /// The text at the address of a variable of the type `const char[]`.
    private static func text(at place: UnsafeMutableRawPointer?) -> String? {
        place.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    }

    /// The text that a function of the type `const char *(void)` returns.
    private static func text(from place: UnsafeMutableRawPointer?) -> String? {
        typealias Version = @convention(c) () -> UnsafePointer<CChar>
        return place.map { String(cString: unsafeBitCast($0, to: Version.self)()) }
    }

    private static var loudnessLibraryVersion: String? { numbers(from: symbol("ebur128_get_version", of: "libebur128.so.1")) }

    private static var mosquittoVersion: String? { numbers(from: symbol("mosquitto_lib_version", of: "libmosquitto.so.1")) }

    /// The version that a function of the type `void (int *major, int *minor, int *patch)` returns. A result is ignored.
    private static func numbers(from place: UnsafeMutableRawPointer?) -> String? {
        typealias Version =
            @convention(c) (
                UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
            ) -> Void
        guard let place else { return nil }
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
    static var soundFileFormats: [String] {
        // sf_command(NULL, …) with SFC_GET_FORMAT_MAJOR_COUNT, SFC_GET_FORMAT_MAJOR and the same of the subtypes.
        typealias Command = @convention(c) (OpaquePointer?, Int32, UnsafeMutableRawPointer?, Int32) -> Int32
        guard let place = dlsym(nil, "sf_command") else { return [] }
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
