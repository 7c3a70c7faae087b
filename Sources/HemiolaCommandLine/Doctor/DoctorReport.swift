internal import Hemiola

/// The results of `hemiola doctor`, as text and JSON.
struct DoctorReport {
    /// One line of the check list.
    struct Check: Equatable {
        /// The subject: `runtime folder`.
        var name: String
        var isOK = true
        /// Whether the subject is optional and missing, which is no fault.
        var isAbsent = false
        /// The state that was found, or the fault.
        var finding: String
        /// The suggested fix.
        var remedy: String?

        /// What only some commands need.
        static func optional(_ name: String, _ finding: String?, missing: String) -> Check {
            Check(name: name, isAbsent: finding == nil, finding: finding ?? "not installed; \(missing)")
        }
    }

    var checks: [Check]
    /// The declared libraries, for packagers.
    var libraries: [SharedLibrary] = []

    var isOK: Bool { checks.allSatisfy(\.isOK) }

    /// One line per check, beginning with `ok`, `--` (optional, not there) or `!!`, each suggested fix on the next line; then a summary.
    var text: String {
        let width = checks.map(\.name.count).max() ?? 0
        var text = ""
        for check in checks {
            text += "\(check.isAbsent ? "--" : check.isOK ? "ok" : "!!")  \(check.name.padded(to: width))  \(check.finding.onOneLine)\n"
            guard let remedy = check.remedy, !check.isOK else { continue }
            text += String(repeating: " ", count: width + 6) + "-> \(remedy.onOneLine)\n"
        }
        let count = checks.count { !$0.isOK }
        return text + (count == 0 ? "\nAll checks passed.\n" : "\n\(count) check\(count == 1 ? "" : "s") failed.\n")
    }

    var json: JSONValue {
        let checks = checks.map { check in
            JSONValue.object([
                .init("name", .text(check.name)), .init("ok", .boolean(check.isOK)), .init("finding", .text(check.finding)),
                .init("remedy", check.remedy.map { .text($0) } ?? .null),
            ])
        }
        return .object([.init("ok", .boolean(isOK)), .init("checks", .list(checks)), .init("libraries", .list(libraries.map(\.json)))])
    }
}

/// The system properties that `hemiola doctor` checks.
struct Environment {
    /// A folder that Hemiola writes to.
    struct Folder {
        var path: String
        /// nil: the folder exists and is writable.
        var fault: String?
        /// Whether others can read or write it.
        var isShared = false
    }

    var version = ""
    /// The compiler version, and the path of the Swift runtime or that it is statically linked.
    var swift = ""
    /// The libraries of the program, and their versions; nil: not installed.
    var libraries: [(library: SharedLibrary, version: String?)] = []
    /// File extensions that libsndfile reads.
    var formats: [String] = []
    /// The path of ffmpeg, which decodes the formats that libsndfile does not support; nil: not in PATH.
    var ffmpeg: String?
    /// The path of the program that `hemiola window` starts; nil: not installed.
    var window: String?
    /// The devices, or why they cannot be listed; nil when the program contains no live capture plugin.
    var devices: Result<DeviceList, Problem>?
    /// nil: `$XDG_RUNTIME_DIR` is not set.
    var runtime: Folder?
    var state: Folder?
    var temporary: Folder?
    /// The defaults file of `hemiola listen`.
    var defaults = DefaultsFile.State.noPath
    /// The type and width of the terminal at standard error.
    var terminal = ""
    /// The locale, which selects the text encoding: `de_DE.UTF-8`.
    var locale: String?
}

extension DoctorReport {
    /// Checks the values. No side effects.
    init(_ found: Environment) {
        libraries = found.libraries.map(\.library)
        checks = [Check(name: "Hemiola", finding: found.version), Check(name: "Swift", finding: found.swift)]
        checks += found.libraries.map { Self.library($0, $1) }
        checks += [
            Self.formats(found.formats),
            .optional("ffmpeg", found.ffmpeg, missing: "M4A, AAC and other formats need it: apt install ffmpeg"),
            .optional("window", found.window, missing: "needed for hemiola window: make install PRODUCT=window"),
        ]
        if let devices = found.devices { checks += Self.sound(devices) }
        checks += [
            Self.folder(
                "runtime folder", found.runtime, missing: "XDG_RUNTIME_DIR is not set; sockets are created in a private temporary folder",
                remedy: "log in with a session, or: export XDG_RUNTIME_DIR=/run/user/$(id -u)"),
            Self.folder("state folder", found.state, missing: "neither XDG_STATE_HOME nor HOME is set", remedy: "export HOME"),
            Self.folder("temporary files", found.temporary, missing: "no folder for temporary files", remedy: "export TMPDIR=/tmp"),
            Self.defaults(found.defaults), Check(name: "terminal", finding: found.terminal), Self.locale(found.locale),
        ]
    }

    private static func library(_ library: SharedLibrary, _ version: String?) -> Check {
        let install = "apt install \(library.package)"
        guard library.relation == .depends else {
            return .optional("\(library.name)", version, missing: "needed for \(library.use): \(install)")
        }
        return Check(name: "\(library.name)", isOK: version != nil, finding: version ?? "not found", remedy: install)
    }

    private static func formats(_ formats: [String]) -> Check {
        // libsndfile supports MP3 since 1.1, and a build may lack any of these formats.
        let missing = ["wav", "flac", "ogg", "mp3"].filter { !formats.contains($0) }
        let finding = formats.joined(separator: " ")
        if missing.isEmpty { return Check(name: "formats", finding: finding) }
        return Check(
            name: "formats", isOK: false, finding: "\(finding); \(missing.joined(separator: " and ")) missing",
            remedy: "install libsndfile 1.1 or newer, or decode with ffmpeg: ffmpeg -v error -i FILE -f wav - | hemiola analyze -")
    }

    /// The sound server, and the default device of `hemiola listen`.
    private static func sound(_ devices: Result<DeviceList, Problem>) -> [Check] {
        switch devices {
        case .failure(let error):
            let parts = error.message.split(separator: "; ", maxSplits: 1).map(String.init)
            return [Check(name: "sound server", isOK: false, finding: parts.first ?? "", remedy: parts.dropFirst().first)]
        case .success(let list):
            let server = Check(name: "sound server", finding: list.server)
            guard let source = list.devices.first(where: { $0.isDefault && $0.monitorOf != nil }), let sink = source.monitorOf else {
                let remedy = "select one in the desktop's sound settings, or: pactl set-default-sink NAME; see: hemiola devices"
                return [server, Check(name: "source", isOK: false, finding: "no default output", remedy: remedy)]
            }
            let volume = source.isQuiet ? source.volumeText.map { ", \($0)" } ?? "" : ""
            let check = Check(
                name: "source", isOK: !source.isQuiet,
                finding: "\(source.summary) (\(source.name)), \(source.state.rawValue)\(volume)",
                remedy: "turn the output up in the desktop's sound settings, or: pactl set-sink-mute \(sink) 0; "
                    + "pactl set-sink-volume \(sink) 100%")
            return [server, check]
        }
    }

    private static func folder(_ name: String, _ folder: Environment.Folder?, missing: String, remedy: String) -> Check {
        guard let folder else { return Check(name: name, isOK: false, finding: missing, remedy: remedy) }
        let path = folder.path
        if let fault = folder.fault {
            return Check(
                name: name, isOK: false, finding: "\(path): \(fault)",
                remedy: "create it: mkdir -p \(path), or check its owner: ls -ld \(path)")
        }
        guard folder.isShared else { return Check(name: name, finding: path) }
        return Check(name: name, isOK: false, finding: "\(path) is accessible to other users", remedy: "chmod 700 \(path)")
    }

    private static func defaults(_ state: DefaultsFile.State) -> Check {
        let name = "defaults file"
        switch state {
        case .noPath: return Check(name: name, finding: "none: neither XDG_CONFIG_HOME nor HOME is set")
        case .missing(let path): return Check(name: name, finding: "none at \(path)")
        case .valid(let file):
            let keys = file.keys.isEmpty ? "sets nothing" : "sets \(file.keys.joined(separator: ", "))"
            return Check(name: name, finding: "\(file.path) \(keys)")
        case .invalid(let path, let lines):
            return Check(
                name: name, isOK: false, finding: lines.joined(separator: "; "),
                remedy: "edit \(path), then: hemiola check; or: hemiola listen --no-defaults")
        }
    }

    private static func locale(_ name: String?) -> Check {
        let isUnicode = name.map(TerminalStyle.isUnicode) ?? false
        let finding = name.map { isUnicode ? $0 : "\($0) is not UTF-8" } ?? "not set: not UTF-8"
        return Check(name: "locale", isOK: isUnicode, finding: finding, remedy: "export LANG=C.UTF-8")
    }
}
