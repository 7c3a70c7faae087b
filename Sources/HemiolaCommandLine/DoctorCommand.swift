internal import ArgumentParser
internal import Hemiola

/// `hemiola doctor`
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look whether everything that Hemiola needs is there, and tell the remedy.",
        usage: "hemiola doctor [--json]",
        discussion: """
            Versions and libraries, formats, folders, terminal: ok or !! before each, and what to do about it below.

            Examples:
              hemiola doctor
              hemiola doctor --json
              hemiola doctor --json | jq -r '.checks[] | select(.ok | not) | .remedy'

            Exit codes: 0 all is well; 1 something is broken.
            """)

    @Flag(help: "As JSON.")
    var json = false

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let report = DoctorReport(System.surroundings())
        let status = try Root.print(json ? report.json.line : report.text)
        return report.isWell ? status : .inputFailed
    }
}
