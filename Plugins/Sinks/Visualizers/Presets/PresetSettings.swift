internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

/// The kind of automatic preset changes.
enum ChangeMode: String, SettingChoice {
    case timer
    case milkDrop = "milkdrop"
    case projectM = "projectm"
    case bars, beats, drop, segments, manual
}

extension PresetOrder.Kind: SettingChoice {}

/// The settings of the sink `presets`.
struct PresetSettings: Sendable {
    static let path = Setting(
        "path", default: "-",
        "File for the plan, with the placeholders {stem}, {name}, {dir} and {time}; -: standard output, unless another sink uses it "
            + "or it is a terminal.")
    private static let mode = Setting<ChangeMode?>(
        "mode", default: nil, "Kind of automatic changes. Default: bars if bars is set, beats if beats is set, else timer.")
    private static let list = Setting<String?>(
        "list", default: nil, "Text file with one preset name per line, or folder of .milk and .json presets.")
    private static let names = Setting(
        "names", default: [String](),
        "Preset names, added to those of list. Without list and names: the presets that the visualizer reports.")
    private static let order = Setting("order", default: PresetOrder.Kind.shuffle, "Order of the presets.")
    private static let favourites = Setting<String?>(
        "favourites", default: nil, "File or folder as for list: automatic changes use these presets only.")
    private static let skip = Setting<String?>(
        "skip", default: nil, "File or folder as for list: automatic changes never use these presets.")
    private static let time = Setting<Double?>(
        "time_s", in: 0.1...86_400, unit: .seconds,
        "Time on a preset. Default: 15 (milkdrop: 16, projectm: 30). Modes bars and beats use it while the beat is not reliable.")
    private static let spread = Setting<Double?>(
        "spread_s", in: 0.0...3600, unit: .seconds,
        "Random part of the time: milkdrop and timer add 0 to this, projectm takes it as the standard deviation. Default: 0 (milkdrop: 10, projectm: 1)."
    )
    private static let minimum = Setting<Double?>(
        "min_s", in: 0.0...86_400, unit: .seconds, "Minimum time on a preset. Default: 0 (projectm: 1, drop and segments: 8).")
    private static let maximum = Setting<Double?>(
        "max_s", in: 0.1...86_400, unit: .seconds, "Maximum time on a preset. Default: unlimited (drop and segments: 60).")
    private static let blend = Setting<Double?>(
        "blend_s", in: 0.0...60, unit: .seconds,
        "Blend time between presets; 0: hard cut. Default: 1 (milkdrop: 2.7, requested changes 1.7; projectm: 3; drop: 0, requested changes 1)."
    )
    private static let bars = Setting<Int?>("bars", in: 1...1024, "Bars per preset, for mode bars. Default: 8.")
    private static let beats = Setting<Int?>("beats", in: 1...4096, "Beats per preset, for mode beats. Default: 32.")
    private static let confidence = Setting(
        "confidence", default: 0.3, in: 0...1, "Minimum confidence of the beat for modes bars and beats; below it the timer is used.")
    private static let hardCut = Setting<Double?>(
        "hard_cut", in: 0.0...100,
        "Threshold for hard cuts: MilkDrop's level sum (default 2.5) or projectM's volume jump (default 2). 0 disables them.")
    private static let halfLife = Setting(
        "hard_cut_halflife_s", default: 60.0, in: 0.1...3600, unit: .seconds,
        "MilkDrop's half-life of the threshold after a hard cut; the excess is halved in half that time.")
    private static let earliest = Setting(
        "hard_cut_after_s", default: 20.0, in: 0...3600, unit: .seconds, "Minimum time on a preset before a hard cut in mode projectm.")
    private static let rise = Setting(
        "drop_db", default: 6.0, in: 1...60, unit: .decibels,
        "Rise of the level that counts as a drop: mean of the last 0.2 s over mean of the last 3 s.")
    private static let state = Setting<String?>(
        "state", default: nil,
        "File that stores the last preset and speed between runs, or none. Default: visualizer.json in the user's state folder for live runs, else none."
    )

    static let declared = [
        path.declared, mode.declared, list.declared, names.declared, order.declared, favourites.declared, skip.declared,
        time.declared, spread.declared, minimum.declared, maximum.declared, blend.declared, bars.declared, beats.declared,
        confidence.declared, hardCut.declared, halfLife.declared, earliest.declared, rise.declared, state.declared,
    ]

    /// The sources of the preset names.
    struct Lists: Sendable {
        var path: String?
        var names: [String]
        var favourites: String?
        var skipped: String?
    }

    var path: String
    var mode: ChangeMode
    var order: PresetOrder.Kind
    var lists: Lists
    var timing: ChangeTiming
    /// The setting `state`; nil: unset.
    var state: String?

    init(_ values: SettingValues) {
        path = values[Self.path]
        order = values[Self.order]
        lists = Lists(
            path: values[Self.list], names: values[Self.names], favourites: values[Self.favourites], skipped: values[Self.skip])
        state = values[Self.state]
        let implied: ChangeMode = values[Self.bars] != nil ? .bars : values[Self.beats] != nil ? .beats : .timer
        mode = values[Self.mode] ?? implied
        timing = Self.timing(mode, values)
    }

    private static func timing(_ mode: ChangeMode, _ values: SettingValues) -> ChangeTiming {
        var timing = standard(mode, time: values[time], spread: values[spread], blend: values[blend])
        switch mode {
        case .milkDrop:
            let level = values[hardCut] ?? 2.5
            if level > 0 { timing.trigger = .milkDrop(level: level, halfLife: values[halfLife]) }
        case .projectM:
            let jump = values[hardCut] ?? 2
            if jump > 0 { timing.trigger = .projectM(jump: jump, earliest: values[earliest]) }
        case .bars:
            timing.trigger = .beats(.bars(values[bars] ?? 8), confidence: values[confidence])
        case .beats:
            timing.trigger = .beats(.beats(values[beats] ?? 32), confidence: values[confidence])
        case .drop: timing.trigger = .drop(decibels: values[rise])
        case .segments: timing.trigger = .segments
        case .timer, .manual: break
        }
        timing.minimum = values[minimum] ?? timing.minimum
        timing.maximum = mode == .manual ? nil : values[maximum] ?? timing.maximum
        return timing
    }

    /// The timing of a mode with the defaults of its original program.
    private static func standard(_ mode: ChangeMode, time: Double?, spread: Double?, blend: Double?) -> ChangeTiming {
        switch mode {
        case .timer:
            let seconds = time ?? 15
            return ChangeTiming(
                duration: spread.map { .uniform(seconds, extra: $0) } ?? .fixed(seconds), blend: blend ?? 1, requestBlend: blend ?? 1)
        case .milkDrop:
            // MilkDrop's time starts at the end of the blend.
            return ChangeTiming(
                duration: .uniform((time ?? 16) + (blend ?? 2.7), extra: spread ?? 10), blend: blend ?? 2.7, requestBlend: blend ?? 1.7)
        case .projectM:
            return ChangeTiming(
                duration: .normal(time ?? 30, deviation: spread ?? 1), minimum: 1, blend: blend ?? 3, requestBlend: blend ?? 3)
        case .bars, .beats: return ChangeTiming(duration: .fixed(time ?? 15), blend: blend ?? 1, requestBlend: blend ?? 1)
        case .drop:
            return ChangeTiming(duration: time.map { .fixed($0) }, minimum: 8, maximum: 60, blend: blend ?? 0, requestBlend: blend ?? 1)
        case .segments:
            return ChangeTiming(duration: time.map { .fixed($0) }, minimum: 8, maximum: 60, blend: blend ?? 1, requestBlend: blend ?? 1)
        case .manual: return ChangeTiming(duration: nil, blend: blend ?? 1, requestBlend: blend ?? 1)
        }
    }

    /// The analyzers that the mode needs.
    var analyzers: [PluginSpec] {
        switch timing.trigger {
        case .none: []
        case .milkDrop, .projectM:
            [
                PluginSpec(
                    "visualizer", as: PresetDirector.milkDrop,
                    settings: ["profile": .text("milkdrop"), "bars": .integer(0)])
            ]
        case .beats: [PluginSpec(PresetDirector.beat)]
        case .drop: [PluginSpec(PresetDirector.levels)]
        case .segments: [PluginSpec(PresetDirector.structure)]
        }
    }

    /// Validates the settings.
    ///
    /// - Returns: The path of the plan.
    /// - Throws: An error with every empty path, bad placeholder and contradiction.
    func check() throws(Problem) -> PathTemplate {
        var problems: [Problem] = []
        var template: PathTemplate?
        do throws(Problem) {
            template = try PathTemplate(path, at: Self.path.key)
        } catch {
            problems += error.all
        }
        for (key, path) in [
            (Self.list.key, lists.path), (Self.favourites.key, lists.favourites), (Self.skip.key, lists.skipped),
            (Self.state.key, state),
        ] where path == "" {
            problems.append(Problem("the path is empty; is a variable of the shell unset?", at: .key(key)))
        }
        if let maximum = timing.maximum, maximum < timing.minimum {
            problems.append(
                Problem(
                    "\(maximum) s is below the minimum time of \(timing.minimum) s; set \(Self.minimum.key) too", at: .key(Self.maximum.key)
                ))
        }
        guard problems.isEmpty, let template else { throw Problem(problems) }
        return template
    }
}
