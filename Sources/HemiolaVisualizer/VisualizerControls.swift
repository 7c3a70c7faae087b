public import Hemiola

// The controls of the visualizer protocol: handled by the preset cycler, or, without one, by ``PageDirector``.

extension ControlType {
    /// Loads the next preset of the list.
    public static let nextPreset = ControlType("nextPreset", "Loads the next preset of the list.")
    /// Loads the previous preset.
    public static let previousPreset = ControlType("previousPreset", "Loads the previous preset.")
    /// Loads a random preset.
    public static let randomPreset = ControlType("randomPreset", "Loads a random preset.")
    /// Loads the preset `name`.
    public static let loadPreset = ControlType(
        "loadPreset", "Loads the preset of that name.", fields: [.text("name", "The preset.")])
    /// Keeps the current preset, or lets it change again (`locked`).
    public static let lockPreset = ControlType(
        "lockPreset", "Keeps the current preset, or lets it change again.",
        fields: [.boolean("locked", "True: the preset stays.")])
    /// Starts or stops the automatic changes.
    public static let toggleCycle = ControlType("toggleCycle", "Starts or stops the automatic changes of presets.")
    /// Marks the presets `names`, and no others, as the user's favourites.
    public static let setFavourites = ControlType(
        "setFavourites", "Marks these presets, and no others, as favourites.", fields: [.texts("names", "The presets.")])
    /// Sets the visualizer's `speed`.
    public static let setSpeed = ControlType("setSpeed", "Sets the visualizer's speed.", fields: [speed])

    /// A page can be controlled now, and has these `presets`; an empty list: not known.
    public static let ready = ControlType(
        "ready", "Reports that a page can be controlled, and its presets.",
        fields: [.texts("presets", default: .list([]), "The presets of the page; none: a request for them is sent to the page.")])
    /// A page's list of presets (`names`).
    public static let presetNames = ControlType(
        "presetNames", "Reports a page's list of presets.", fields: [.texts("names", "The presets of the page.")])
    /// A page loaded the preset `name`.
    public static let presetHandler = ControlType(
        "presetHandler", "Reports that a page loaded a preset.", fields: [.text("name", "The preset.")])
    /// A page cannot load the preset `name`.
    public static let presetRefused = ControlType(
        "presetRefused", "Reports that a page cannot load a preset.", fields: [.text("name", "The preset.")])
    /// A page has disconnected.
    public static let pageClosed = ControlType("pageClosed", "Reports that a page has disconnected.")
    /// A page changed its `speed`.
    public static let speedHandler = ControlType(
        "speedHandler", "Reports that a page changed its speed.",
        fields: [.number("speed", "The speed of the page; the speed record has it limited to 0.1…1.0.")])
    /// A key was pressed or released in a page: ``KeyStroke``.
    public static let keyHandler = ControlType(
        "keyHandler", "Reports a key that was pressed or released in a page.", fields: KeyStroke.fields)
    /// A page sent a message of its own: ``PageMessage``.
    public static let pageMessage = ControlType(
        "pageMessage", "Passes a message of a page to the other sinks.", fields: PageMessage.fields)

    private static let speed = Field.number("speed", in: SpeedChange.range, "0.1…1.0.")

    /// The controls that a preset cycler handles.
    public static let presetControls: [ControlType] = [
        nextPreset, previousPreset, randomPreset, loadPreset, lockPreset, toggleCycle, setSpeed, ready, presetNames, setFavourites,
        presetHandler, presetRefused, pageClosed, speedHandler,
    ]
}

extension Control {
    /// The control of a client with what follows from its values: the note of a key.
    ///
    /// - Throws: The body of a page's message is not JSON text.
    package func completed() throws(Problem) -> Control {
        if type == .pageMessage, (try? JSONValue(message: Array((self["body"].string ?? "").utf8))) == nil {
            throw Problem("\"body\" is not JSON text")
        }
        var control = self
        if type == .keyHandler, self["note"] == .none, let key = self["key"].string {
            control["note"] = .optional(KeyStroke.note(of: key))
        }
        return control
    }
}
