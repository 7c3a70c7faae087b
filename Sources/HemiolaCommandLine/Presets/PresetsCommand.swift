internal import ArgumentParser
internal import Hemiola

/// `hemiola presets add PATH …`
struct PresetsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "presets",
        abstract: "Add presets of Butterchurn to the page of the sink web.",
        usage: "hemiola presets <action> <path> ...",
        discussion: """
            A path is a preset (.json), Butterchurn itself or a pack of presets (.js), or a folder or an archive of them (.tgz, .zip ...), \
            such as npm installs or downloads. They are copied to $XDG_DATA_HOME/hemiola/presets (default: ~/.local/share). To take one \
            away, remove its file there and load the page again.

            The page lists them beside its own presets. They are code of others, so they run in a worker of a frame of their own, without \
            a document, without the network and without access to the page. One that fails or hangs is stopped and named.

            MilkDrop's own files (.milk) are converted by milkdrop-preset-converter, which is not part of hemiola.

            Examples:
              npm install butterchurn butterchurn-presets
              hemiola presets add node_modules/butterchurn node_modules/butterchurn-presets
              hemiola presets add ~/Downloads/presets.zip
              hemiola listen --sink web
            """)

    @Argument(help: ArgumentHelp("What to do: add.", valueName: "action"))
    var action: String

    @Argument(help: ArgumentHelp("The files, folders and archives.", valueName: "path"), completion: .file())
    var paths: [String] = []

    func validate() throws {
        let example = "as in hemiola presets add PATH"
        guard action == "add" else { throw ValidationError("unknown action '\(action)'; the only one is add, \(example)") }
        guard !paths.isEmpty else { throw ValidationError("name a file, a folder or an archive, \(example)") }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        guard let folder = EnvironmentVariable.presetFolder() else {
            throw Failure("neither XDG_DATA_HOME nor HOME is set, so there is no folder for presets")
        }
        for path in paths {
            do {
                _ = try FileSystem.status(of: path)
            } catch {
                throw Failure("\(PathText.shown(path)): \(error)")
            }
        }
        var collection = try PresetCollection(into: folder)
        for path in paths { try collection.add(path) }
        try collection.writeScripts()
        for failure in collection.failures { console.error(failure) }
        let (presets, scripts) = (collection.presets.count, collection.scriptNames)
        if collection.milkDropCount > 0 {
            console.warning(
                "\(collection.milkDropCount) presets of MilkDrop (.milk) were left out: convert them with milkdrop-preset-converter, "
                    + "and add the .json files")
        }
        guard presets > 0 || !scripts.isEmpty else {
            let places = paths.map(PathText.shown).joined(separator: ", ")
            throw Failure("there are no presets of Butterchurn in \(places)", status: .inputFailed)
        }
        if !collection.hasVisualizer {
            console.warning("Butterchurn itself is missing: npm install butterchurn, and hemiola presets add node_modules/butterchurn")
        }
        let added = (presets > 0 ? [presets == 1 ? "1 preset" : "\(presets) presets"] : []) + scripts
        let status = try Root.print("\(added.joined(separator: ", ")) added to \(PathText.shown(folder))")
        return collection.failures.isEmpty ? status : .inputFailed
    }
}
