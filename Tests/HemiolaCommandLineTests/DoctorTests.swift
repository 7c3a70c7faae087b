import Foundation
import Hemiola
import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine

@Suite struct DoctorTests {
    private static func devices(isMuted: Bool = false, volume: Double = 0.4) -> DeviceList {
        DeviceList(
            server: "PulseAudio 16.1",
            devices: [
                DeviceList.Device(
                    name: "hdmi.monitor", summary: "Monitor of HDMI", format: StreamFormat(sampleRate: 48_000, channelCount: 2),
                    monitorOf: "hdmi", isDefault: true, state: .running, isMuted: isMuted, volume: volume)
            ])
    }

    private static let sndfile = SharedLibrary(
        "libsndfile", soname: "libsndfile.so.1", package: "libsndfile1", licence: "MIT", relation: .depends, use: "sound files",
        versionSymbol: .text("version"))
    private static let cairo = SharedLibrary(
        "cairo", soname: "libcairo.so.2", package: "libcairo2", licence: "MIT", relation: .suggests, use: "hemiola render",
        versionSymbol: .text("version"))

    private var healthy: Environment {
        Environment(
            version: "0.1.0", swift: "6.3, runtime statically linked",
            libraries: [
                (Self.sndfile, "libsndfile-1.2.2"), (Self.cairo, nil),
            ],
            formats: ["flac", "mp3", "ogg", "wav"], devices: .success(Self.devices()),
            runtime: Environment.Folder(path: "/run/user/1"),
            state: Environment.Folder(path: "/h/a/.local/state/hemiola"), temporary: Environment.Folder(path: "/tmp"),
            terminal: "xterm, 80 columns", locale: "C.UTF-8")
    }

    @Test func `all checks pass: every line begins with ok`() {
        let report = DoctorReport(healthy)
        #expect(report.isOK)
        let lines = report.text.split(separator: "\n")
        #expect(lines.last == "All checks passed.")
        #expect(
            lines.dropLast().allSatisfy { $0.hasPrefix("ok  ") || $0.hasPrefix("--  ") && $0.contains("not installed") }
                && lines.count == 16)
        #expect(report.text.contains("ok  libsndfile       libsndfile-1.2.2\n"))
        #expect(report.text.contains("--  cairo            not installed; needed for hemiola render: apt install libcairo2\n"))
        #expect(report.text.contains("--  window           not installed; needed for hemiola window: make install PRODUCT=window\n"))
        var found = healthy
        found.window = "/usr/bin/hemiola-window"
        #expect(DoctorReport(found).text.contains("ok  window           /usr/bin/hemiola-window\n"))
    }

    /// A fault, and the expected check.
    struct Breakage: Sendable {
        var name: String
        var finding: String
        var remedy: String
        var apply: @Sendable (inout Environment) -> Void

        init(_ name: String, _ finding: String, _ remedy: String, apply: @escaping @Sendable (inout Environment) -> Void) {
            self.name = name
            self.finding = finding
            self.remedy = remedy
            self.apply = apply
        }
    }

    @Test(arguments: [
        Breakage("libsndfile", "not found", "apt install libsndfile1") { $0.libraries[0].version = nil },
        Breakage("formats", "flac wav; ogg and mp3 missing", "libsndfile 1.1") { $0.formats = ["flac", "wav"] },
        Breakage("sound server", "no sound server answers", "pulseaudio --start") {
            $0.devices = .failure(Problem("no sound server answers; start one: pulseaudio --start"))
        },
        Breakage("source", "no default output", "hemiola devices") {
            $0.devices = .success(DeviceList(server: "PulseAudio 16.1", devices: []))
        },
        Breakage("source", "Monitor of HDMI (hdmi.monitor), running, muted", "pactl set-sink-mute hdmi 0") {
            $0.devices = .success(Self.devices(isMuted: true, volume: 1))
        },
        Breakage("source", "Monitor of HDMI (hdmi.monitor), running, 5 %", "pactl set-sink-volume hdmi 100%") {
            $0.devices = .success(Self.devices(isMuted: false, volume: 0.05))
        },
        Breakage("runtime folder", "XDG_RUNTIME_DIR is not set", "export XDG_RUNTIME_DIR") { $0.runtime = nil },
        Breakage("runtime folder", "/run/user/1 is accessible to other users", "chmod 700 /run/user/1") { $0.runtime?.isShared = true },
        Breakage("runtime folder", "/run/user/1: Not a directory", "mkdir -p /run/user/1") { $0.runtime?.fault = "Not a directory" },
        Breakage("state folder", "Permission denied", "ls -ld") { $0.state?.fault = "Permission denied" },
        Breakage("state folder", "HOME is set", "export HOME") { $0.state = nil },
        Breakage("temporary files", "Read-only file system", "mkdir") { $0.temporary?.fault = "Read-only file system" },
        Breakage("defaults file", "/a/defaults.yaml:2:1: x: unknown key", "edit /a/defaults.yaml") {
            $0.defaults = .invalid(path: "/a/defaults.yaml", lines: ["/a/defaults.yaml:2:1: x: unknown key"])
        },
        Breakage("locale", "POSIX is not UTF-8", "export LANG=C.UTF-8") { $0.locale = "POSIX" },
        Breakage("locale", "not set: not UTF-8", "export LANG=C.UTF-8") { $0.locale = nil },
    ])
    func `failed check: marked, with a suggested fix`(breakage: Breakage) throws {
        var found = healthy
        breakage.apply(&found)
        let report = DoctorReport(found)
        #expect(!report.isOK)
        let lines = report.text.split(separator: "\n")
        let index = try #require(lines.firstIndex { $0.hasPrefix("!!") })
        #expect(lines[index].hasPrefix("!!  \(breakage.name) ") && lines[index].contains(breakage.finding))
        #expect(lines[index + 1].contains("-> ") && lines[index + 1].contains(breakage.remedy))
        #expect(lines.last == "1 check failed.")
    }

    @Test func `defaults file: path, and whether it exists and what it sets`() throws {
        var found = healthy
        found.defaults = .missing(path: "/h/a/.config/hemiola/defaults.yaml")
        #expect(DoctorReport(found).text.contains("ok  defaults file    none at /h/a/.config/hemiola/defaults.yaml\n"))
        found.defaults = .valid(try DefaultsFile("device: x\nsinks: []", path: "/a.yaml", title: "/a.yaml", .standard))
        #expect(DoctorReport(found).text.contains("ok  defaults file    /a.yaml sets device, sinks\n"))
        found.defaults = .valid(try DefaultsFile("", path: "/a.yaml", title: "/a.yaml", .standard))
        #expect(DoctorReport(found).text.contains("ok  defaults file    /a.yaml sets nothing\n"))
    }

    @Test func `libraries of the program and its plugins: each once, those it depends on are found on this machine`() {
        let found = Environment.current(.standard)
        let names = found.libraries.map { "\($0.library.name)" }
        #expect(names.count == Set(names).count)
        let declared = PluginRegistry.standard.declarations.flatMap(\.libraries).map { "\($0.name)" }
        #expect(!declared.isEmpty && Set(declared).union(["FFTW", "libyaml", "Zstandard", "cairo", "libarchive"]) == Set(names))
        for (library, version) in found.libraries {
            // Those that only some commands need may be missing.
            #expect(library.relation != .depends || version != nil, "\(library.name)")
            // libmpg123 says its version from 1.32 on.
            let mayBeUnknown = library.versionSymbol == nil || "\(library.name)" == "libmpg123"
            let isKnown = version.map { $0.contains(/\d+\.\d+/) || mayBeUnknown && $0 == SharedLibrary.unknownVersion }
            #expect(isKnown != false, "\(library.name): \(version ?? "")")
        }
        #expect(Set(found.formats).isSuperset(of: ["wav", "flac", "aiff"]))
        #expect(found.version == HemiolaVersion.current)
    }

    @Test func `JSON: same content as the text`() throws {
        var found = healthy
        found.locale = nil
        let object = try JSONSerialization.jsonObject(with: Data(DoctorReport(found).json.line.utf8))
        let report = try #require(object as? [String: Any])
        #expect(report["ok"] as? Bool == false)
        let checks = try #require(report["checks"] as? [[String: Any]])
        #expect(checks.map { $0["ok"] as? Bool } == [Bool](repeating: true, count: 14) + [false])
        let libraries = try #require(report["libraries"] as? [[String: Any]])
        #expect(libraries.map { $0["soname"] as? String } == ["libsndfile.so.1", "libcairo.so.2"])
        #expect(libraries.map { $0["relation"] as? String } == ["depends", "suggests"])
    }
}
