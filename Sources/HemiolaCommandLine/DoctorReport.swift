internal import Hemiola

/// What `hemiola doctor` found, and how it is told.
struct DoctorReport {
    /// One line of the check list.
    struct Check: Equatable {
        /// What was looked at: `runtime folder`.
        var name: String
        var isWell: Bool
        /// What is there, or what is wrong.
        var finding: String
        /// What to do about it.
        var remedy: String?
    }

    var checks: [Check]

    var isWell: Bool { checks.allSatisfy(\.isWell) }

    /// A line per check, `ok` or `!!` before it, remedies below; then how it went.
    var text: String {
        let width = checks.map(\.name.count).max() ?? 0
        var text = ""
        for check in checks {
            text += "\(check.isWell ? "ok" : "!!")  \(check.name.padded(to: width))  \(check.finding.onOneLine)\n"
            if let remedy = check.remedy, !check.isWell {
                text += String(repeating: " ", count: width + 6) + "-> \(remedy.onOneLine)\n"
            }
        }
        let count = checks.count { !$0.isWell }
        return text + (count == 0 ? "\nAll is well.\n" : "\n\(count) thing\(count == 1 ? "" : "s") to mend.\n")
    }

    var json: JSONTree {
        .object([
            ("ok", .boolean(isWell)),
            (
                "checks",
                .list(
                    checks.map {
                        .object([
                            ("name", .text($0.name)), ("ok", .boolean($0.isWell)), ("finding", .text($0.finding)),
                            ("remedy", $0.remedy.map { .text($0) } ?? .null),
                        ])
                    })
            ),
        ])
    }
}

/// What the doctor looks at, as values.
struct Environment {
    /// A folder that Hemiola wants to write to.
    struct Folder {
        var path: String
        /// nil: it is there and can be written to.
        var fault: String?
        /// Whether others can read or write it.
        var isShared = false
    }

    var version = ""
    /// The compiler, and whether the Swift runtime is linked in or where it lies.
    var swift = ""
    /// nil: it is not there.
    var soundFile: String?
    /// Endings of the files that libsndfile reads.
    var formats: [String] = []
    /// Where ffmpeg is, which decodes what libsndfile does not; nil: it is not in PATH.
    var ffmpeg: String?
    var transform: String?
    var yaml: String?
    /// What can be heard, or why nothing can; nil where there is no live capture.
    var devices: Result<DeviceList, CaptureError>?
    /// nil: `$XDG_RUNTIME_DIR` is not set.
    var runtime: Folder?
    var state: Folder?
    var temporary: Folder?
    /// What standard error is, with its columns.
    var terminal = ""
    /// The name that decides how text is written: `de_DE.UTF-8`.
    var locale: String?
}

extension DoctorReport {
    /// Judges what was found. Touches nothing.
    init(_ found: Environment) {
        checks = [
            Check(name: "Hemiola", isWell: true, finding: found.version),
            Check(name: "Swift", isWell: true, finding: found.swift),
            Self.library("libsndfile", found.soundFile, package: "libsndfile1"),
            Self.formats(found.formats),
            // Optional: without it nothing is wrong.
            Check(
                name: "ffmpeg", isWell: true,
                finding: found.ffmpeg ?? "not installed; M4A, AAC and other formats need it: apt install ffmpeg"),
            Self.library("FFTW", found.transform, package: "libfftw3-single3"),
            Self.library("libyaml", found.yaml, package: "libyaml-0-2"),
        ]
        if let devices = found.devices { checks += Self.sound(devices) }
        checks += [
            Self.runtime(found.runtime),
            Self.folder("state folder", found.state, missing: "neither XDG_STATE_HOME nor HOME is set", remedy: "export HOME"),
            Self.folder("temporary files", found.temporary, missing: "there is no folder for them", remedy: "export TMPDIR=/tmp"),
            Check(name: "terminal", isWell: true, finding: found.terminal),
            Self.locale(found.locale),
        ]
    }

    private static func library(_ name: String, _ version: String?, package: String) -> Check {
        Check(name: name, isWell: version != nil, finding: version ?? "not found", remedy: "apt install \(package)")
    }

    private static func formats(_ formats: [String]) -> Check {
        // MP3 and Opus came late to libsndfile, and a build may lack any of these.
        let missing = ["wav", "flac", "ogg", "mp3"].filter { !formats.contains($0) }
        guard missing.isEmpty else {
            return Check(
                name: "formats", isWell: false,
                finding: "\(formats.joined(separator: " ")); \(missing.joined(separator: " and ")) missing",
                remedy: "take libsndfile 1.1 or newer, or decode with ffmpeg: ffmpeg -v error -i FILE -f wav - | hemiola analyze -")
        }
        return Check(name: "formats", isWell: true, finding: formats.joined(separator: " "))
    }

    /// The server, and what `hemiola listen` would hear.
    private static func sound(_ devices: Result<DeviceList, CaptureError>) -> [Check] {
        switch devices {
        case .failure(let error):
            let parts = error.message.split(separator: "; ", maxSplits: 1)
            return [
                Check(
                    name: "sound server", isWell: false, finding: parts.first.map(String.init) ?? "",
                    remedy: parts.count > 1 ? String(parts[1]) : nil)
            ]
        case .success(let list):
            let server = Check(name: "sound server", isWell: true, finding: list.server)
            guard let source = list.devices.first(where: { $0.isDefault && $0.monitorOf != nil }) else {
                return [
                    server,
                    Check(
                        name: "source", isWell: false, finding: "there is no default output to listen to",
                        remedy: "choose one in the desktop's sound settings, or: pactl set-default-sink NAME; see: hemiola devices"),
                ]
            }
            return [server, Check(name: "source", isWell: true, finding: "\(source.summary) (\(source.name)), \(source.state.rawValue)")]
        }
    }

    private static func runtime(_ folder: Environment.Folder?) -> Check {
        var check = Self.folder(
            "runtime folder", folder, missing: "XDG_RUNTIME_DIR is not set; sockets go to a private folder for temporary files",
            remedy: "log in with a session, or: export XDG_RUNTIME_DIR=/run/user/$(id -u)")
        if let folder, check.isWell, folder.isShared {
            check.isWell = false
            check.finding = "\(folder.path) is open to others"
            check.remedy = "chmod 700 \(folder.path)"
        }
        return check
    }

    private static func folder(
        _ name: String, _ folder: Environment.Folder?, missing: String, remedy: String
    ) -> Check {
        guard let folder else { return Check(name: name, isWell: false, finding: missing, remedy: remedy) }
        guard let fault = folder.fault else { return Check(name: name, isWell: true, finding: folder.path) }
        return Check(
            name: name, isWell: false, finding: "\(folder.path): \(fault)",
            remedy: "make it a folder of yours: mkdir -p \(folder.path), or see who owns it: ls -ld \(folder.path)")
    }

    private static func locale(_ name: String?) -> Check {
        let isUnicode = name.map { $0.lowercased().contains("utf-8") || $0.lowercased().contains("utf8") } ?? false
        return Check(
            name: "locale", isWell: isUnicode,
            finding: name.map { isUnicode ? $0 : "\($0) is not UTF-8" } ?? "unset: not UTF-8",
            remedy: "export LANG=C.UTF-8")
    }
}
