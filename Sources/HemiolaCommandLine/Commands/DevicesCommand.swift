internal import ArgumentParser
internal import Hemiola

struct DevicesCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that \"listen\" can capture: output monitors, inputs and applications.",
        usage: "hemiola devices [--json]",
        discussion: """
            * marks the device that "hemiola listen" captures by default. In JSON, the default input is marked too. \
            "hemiola listen --device" accepts a name (upper or lower case) or a description. app:NAME is an application that is \
            playing or paused (idle).

            Examples:
              hemiola devices
              hemiola devices --json
              hemiola devices --json | jq -r '.devices[].name'

            Exit codes: 0 success; 1 no sound server responds.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let lists = registry.captures.compactMap { plugin in plugin.devices.map { (plugin.about.id, $0) } }
        guard !lists.isEmpty else { throw Failure("this program contains no live capture plugin") }
        var found: [(capture: String, list: DeviceList)] = []
        for (id, list) in lists {
            do {
                found.append((id, try list()))
            } catch {
                throw Failure(error.message, status: .inputFailed)
            }
        }
        return try Root.print(json ? Self.json(found).line : found.map { Self.table($0.list) }.joined(separator: "\n"))
    }

    static func json(_ found: [(capture: String, list: DeviceList)]) -> JSONValue {
        .object([
            .init("server", found.first.map { .text($0.list.server) } ?? .null),
            .init(
                "devices",
                .list(
                    found.flatMap { capture, list in
                        list.devices.map { device in
                            .object([
                                .init("name", .text(device.name)), .init("kind", .text(device.kind)),
                                .init("description", .text(device.summary)),
                                .init("sample_rate", .integer(device.format.sampleRate)),
                                .init("channels", .integer(device.format.channelCount)),
                                .init("monitor_of", device.monitorOf.map { .text($0) } ?? .null),
                                .init("default", .boolean(device.isDefault)), .init("state", .text(device.state.rawValue)),
                                .init("muted", .boolean(device.isMuted)), .init("volume", device.volume.map { .number($0) } ?? .null),
                                .init("capture", .text(capture)),
                            ])
                        }
                    })
            ),
        ])
    }

    static func table(_ list: DeviceList) -> String {
        if list.devices.isEmpty { return "\(list.server) has no output, input or application that can be captured.\n" }
        var rows = [["", "NAME", "DESCRIPTION", "HZ", "CHANNELS", "STATE", "VOLUME"]]
        rows += list.devices.map { device in
            [
                device.isDefault && device.monitorOf != nil ? "*" : "", device.name.onOneLine, device.summary.onOneLine,
                "\(device.format.sampleRate)", "\(device.format.channelCount)", device.state.rawValue,
                device.volumeText ?? "",
            ]
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
        return rows.map { row in
            var line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
