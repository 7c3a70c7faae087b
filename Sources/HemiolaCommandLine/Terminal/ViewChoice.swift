internal import HemiolaRecords
internal import HemiolaSystem

/// The layout, theme and number of channels that were chosen last, which the next run begins with: a JSON object in a file.
struct ViewChoice: Sendable {
    private static let maximumBytes = 4096

    private var layout: String?
    private var theme: String?
    private var isStereo: Bool?

    init(_ picture: ViewPicture) {
        (layout, theme, isStereo) = (picture.layout.rawValue, picture.chosenTheme?.name, picture.isStereo)
    }

    private init() {}

    func apply(to picture: inout ViewPicture) {
        if let layout = layout.flatMap({ ViewLayout(rawValue: $0) }) { picture.layout = layout }
        picture.chosenTheme = ViewTheme.all.first { $0.name == theme }
        if let isStereo { picture.isStereo = isStereo }
    }

    /// `hemiola/terminal.json` in the user's state folder; nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    static func path() -> String? { EnvironmentVariable.stateFolder().map { "\($0)/terminal.json" } }

    /// An empty choice when there is no file, or none that can be read.
    static func read(_ path: String?) -> ViewChoice {
        var choice = ViewChoice()
        guard let path, let bytes = try? FileSystem.bytes(of: path, count: maximumBytes), let value = try? JSONValue(bytes) else {
            return choice
        }
        (choice.layout, choice.theme, choice.isStereo) = (value["layout"]?.string, value["theme"]?.string, value["stereo"]?.flag)
        return choice
    }

    /// A choice that cannot be stored is not an error: the next run begins as this one did.
    func write(_ path: String?) {
        guard let path else { return }
        let members: [JSONValue.Member] =
            [.init("layout", .text(layout ?? ""))] + (theme.map { [.init("theme", .text($0))] } ?? [])
            + [.init("stereo", .boolean(isStereo ?? true))]
        try? FileSystem.createFolder(FileSystem.folder(of: path))
        _ = try? PartialFile.write(Array(JSONValue.object(members).line.utf8), to: path)
    }
}
