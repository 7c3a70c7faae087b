internal import HemiolaRecords
internal import HemiolaSystem

/// The layout, theme and number of channels that were chosen last, which the next run begins with: a JSON object in a file.
extension ViewPicture {
    private static let maximumBytes = 4096

    /// `hemiola/terminal.json` in the user's state folder; nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    private static var choicePath: String? { EnvironmentVariable.stateFolder().map { "\($0)/terminal.json" } }

    /// Takes over what the file says, if it can be read.
    mutating func readChoice() {
        guard let path = Self.choicePath, let bytes = try? FileSystem.bytes(of: path, count: Self.maximumBytes),
            let choice = try? JSONValue(bytes)
        else { return }
        layout = choice["layout"]?.string.flatMap(ViewLayout.init) ?? layout
        chosenTheme = choice["theme"]?.string.flatMap(ViewTheme.init) ?? chosenTheme
        isStereo = choice["stereo"]?.flag ?? isStereo
    }

    /// A choice that cannot be stored is not an error: the next run begins as this one did.
    func writeChoice() {
        guard let path = Self.choicePath else { return }
        let members: [JSONValue.Member] =
            [.init("layout", .text(layout.rawValue))] + (chosenTheme.map { [.init("theme", .text($0.rawValue))] } ?? [])
            + [.init("stereo", .boolean(isStereo))]
        try? FileSystem.createFolder(FileSystem.folder(of: path))
        _ = try? PartialFile.write(Array(JSONValue.object(members).line.utf8), to: path)
    }
}
