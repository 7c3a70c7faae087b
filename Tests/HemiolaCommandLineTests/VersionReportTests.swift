import Hemiola
import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine

@Suite struct VersionReportTests {
    @Test func `report: one line per fact, and a library that is not installed is named`() {
        let report = VersionReport(
            version: "1.2.3", commit: "0123abc", architecture: "aarch64", swift: "6.3.1, runtime statically linked",
            libraries: [
                ("FFTW", "fftw-3.3.10"), ("cairo", nil),
            ])
        #expect(
            report.text == """
                hemiola 1.2.3
                commit        0123abc
                architecture  aarch64
                Swift         6.3.1, runtime statically linked
                FFTW          fftw-3.3.10
                cairo         not installed

                """)
    }

    @Test func `no recorded commit: unknown`() {
        let report = VersionReport(version: "1.2.3", commit: nil, architecture: "x86_64", swift: "6.3", libraries: [])
        #expect(report.text.contains("commit        unknown\n"))
    }

    @Test(arguments: [["--version", "--verbose"], ["--verbose", "--version"]])
    func `--version --verbose in either order: returns the report of this program`(arguments: [String]) throws {
        guard case .versionReport = try Root.parsed(arguments) else {
            Issue.record("no version report")
            return
        }
        let text = VersionReport.current(.standard).text
        #expect(text.contains("\nlibpulse  "))
        #expect(text.hasPrefix("hemiola \(HemiolaVersion.current)\ncommit "))
    }

    @Test(arguments: [["--verbose"], ["--version", "--version"], ["--version", "--verbose", "a"]])
    func `other arguments: no version report`(arguments: [String]) {
        #expect(!VersionReport.isRequested(by: arguments))
    }
}
