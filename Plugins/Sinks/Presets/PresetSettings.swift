internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal

/// When presets change by themselves.
enum ShowMode: String, SettingChoice {
    case timer
    case milkDrop = "milkdrop"
    case projectM = "projectm"
    case bars, beats, drop, manual
}

extension PresetOrder.Kind: SettingChoice {}

/// What can be set about a show.
struct PresetSettings: Sendable {
    static let path = Setting(
        "path", default: "-",
        "The file for the plan, or - for standard output, unless another sink writes there or it is a terminal; "
            + "{stem}, {name}, {dir} and {time} are placeholders.")
    private static let mode = Setting<ShowMode?>(
        "mode", default: nil, "When presets change by themselves; unset: bars or beats where their number is set, else timer.")
    private static let list = Setting<String?>(
        "list", default: nil, "A text file with a preset's name on every line, or a folder of .milk or .json presets.")
    private static let names = Setting(
        "names", default: [String](), "Presets by name, after those of the list; neither: what the visualizer reports.")
    private static let order = Setting("order", default: PresetOrder.Kind.shuffle, "Which preset comes next.")
    private static let favourites = Setting<String?>(
        "favourites", default: nil, "A list as above: of the presets, only these come by themselves.")
    private static let skip = Setting<String?>("skip", default: nil, "A list as above: these do not come by themselves.")
    private static let time = Setting<Double?>(
        "time_s", in: 0.1...86_400, unit: .seconds,
        "Time on a preset; unset: 15, milkdrop 16, projectm 30. In bars and beats, while the beat is not known.")
    private static let spread = Setting<Double?>(
        "spread_s", in: 0.0...3600, unit: .seconds,
        "Chance in that time; unset: milkdrop adds 0 to 10, projectm has a deviation of 1.")
    private static let minimum = Setting<Double?>(
        "min_s", in: 0.0...86_400, unit: .seconds, "Time that a preset stays at least; unset: 0, projectm 1, drop 8.")
    private static let maximum = Setting<Double?>(
        "max_s", in: 0.1...86_400, unit: .seconds, "Time that it stays at most; unset: no limit, drop 60.")
    private static let blend = Setting<Double?>(
        "blend_s", in: 0.0...60, unit: .seconds,
        "From one picture to the next, 0 is a hard cut; unset: 1, milkdrop 2.7 (asked for: 1.7), projectm 3, drop 0.")
    private static let bars = Setting<Int?>("bars", in: 1...1024, "Bars on a preset; unset in mode bars: 8.")
    private static let beats = Setting<Int?>("beats", in: 1...4096, "Beats on a preset; unset in mode beats: 32.")
    private static let confidence = Setting(
        "confidence", default: 0.3, in: 0...1, "How well the beat must be known to be followed.")
    private static let hardCut = Setting<Double?>(
        "hard_cut", in: 0.0...100, "What makes a hard cut: milkdrop's loudness, 2.5, or projectm's jump, 2; 0: there are none.")
    private static let halfLife = Setting(
        "hard_cut_halflife_s", default: 60.0, in: 0.1...3600, unit: .seconds, "How long milkdrop minds a hard cut, as it counts.")
    private static let earliest = Setting(
        "hard_cut_after_s", default: 20.0, in: 0...3600, unit: .seconds, "Time on a preset before projectm's hard cuts.")
    private static let rise = Setting(
        "drop_db", default: 6.0, in: 1...60, unit: .decibels, "How much louder than the last seconds a drop is.")
    private static let state = Setting<String?>(
        "state", default: nil,
        "The file that remembers the last preset and speed, or none; unset: live visualizer.json in the user's state folder.")

    static let declared = [
        path.declared, mode.declared, list.declared, names.declared, order.declared, favourites.declared, skip.declared,
        time.declared, spread.declared, minimum.declared, maximum.declared, blend.declared, bars.declared, beats.declared,
        confidence.declared, hardCut.declared, halfLife.declared, earliest.declared, rise.declared, state.declared,
    ]

    /// Where the presets' names are.
    struct Lists: Sendable {
        var path: String?
        var names: [String]
        var favourites: String?
        var skipped: String?
    }

    var path: String
    var mode: ShowMode
    var order: PresetOrder.Kind
    var lists: Lists
    var pacing: Pacing
    /// As it was set.
    var state: String?

    init(_ values: SettingValues) {
        path = values[Self.path]
        order = values[Self.order]
        lists = Lists(
            path: values[Self.list], names: values[Self.names], favourites: values[Self.favourites], skipped: values[Self.skip])
        state = values[Self.state]
        let implied: ShowMode = values[Self.bars] != nil ? .bars : values[Self.beats] != nil ? .beats : .timer
        mode = values[Self.mode] ?? implied
        pacing = Self.pacing(mode, values)
    }

    private static func pacing(_ mode: ShowMode, _ values: SettingValues) -> Pacing {
        var pacing = standard(mode, time: values[time], spread: values[spread], blend: values[blend])
        switch mode {
        case .milkDrop:
            let level = values[hardCut] ?? 2.5
            if level > 0 { pacing.trigger = .milkDrop(level: level, halfLife: values[halfLife]) }
        case .projectM:
            let jump = values[hardCut] ?? 2
            if jump > 0 { pacing.trigger = .projectM(jump: jump, earliest: values[earliest]) }
        case .bars:
            pacing.trigger = .beats(.bars(values[bars] ?? 8), confidence: values[confidence])
        case .beats:
            pacing.trigger = .beats(.beats(values[beats] ?? 32), confidence: values[confidence])
        case .drop: pacing.trigger = .drop(decibels: values[rise])
        case .timer, .manual: break
        }
        pacing.minimum = values[minimum] ?? pacing.minimum
        pacing.maximum = mode == .manual ? nil : values[maximum] ?? pacing.maximum
        return pacing
    }

    /// A mode as its original has it.
    private static func standard(_ mode: ShowMode, time: Double?, spread: Double?, blend: Double?) -> Pacing {
        switch mode {
        case .timer:
            let period = time ?? 15
            return Pacing(
                period: spread.map { .uniform(period, extra: $0) } ?? .fixed(period), blend: blend ?? 1, requestBlend: blend ?? 1)
        case .milkDrop:
            // MilkDrop counts from the end of the blend.
            return Pacing(
                period: .uniform((time ?? 16) + (blend ?? 2.7), extra: spread ?? 10), blend: blend ?? 2.7, requestBlend: blend ?? 1.7)
        case .projectM:
            return Pacing(
                period: .normal(time ?? 30, deviation: spread ?? 1), minimum: 1, blend: blend ?? 3, requestBlend: blend ?? 3)
        case .bars, .beats: return Pacing(period: .fixed(time ?? 15), blend: blend ?? 1, requestBlend: blend ?? 1)
        case .drop:
            return Pacing(period: time.map { .fixed($0) }, minimum: 8, maximum: 60, blend: blend ?? 0, requestBlend: blend ?? 1)
        case .manual: return Pacing(period: nil, blend: blend ?? 1, requestBlend: blend ?? 1)
        }
    }

    /// What the mode has to hear.
    var analyzers: [PluginSpec] {
        switch pacing.trigger {
        case .none: []
        case .milkDrop, .projectM:
            [
                PluginSpec(
                    "visualizer", as: PresetDirector.milkDrop,
                    settings: ["profile": .text("milkdrop"), "bars": .integer(0)])
            ]
        case .beats: [PluginSpec(PresetDirector.beat)]
        case .drop: [PluginSpec(PresetDirector.levels)]
        }
    }

    /// - Returns: The path of the plan.
    /// - Throws: Settings that do not go together.
    func check() throws(ConfigurationError) -> PathTemplate {
        var problems: [ConfigurationProblem] = []
        var template: PathTemplate?
        do throws(ConfigurationError) {
            template = try PathTemplate(path, at: Self.path.key)
        } catch {
            problems += error.problems
        }
        for (key, path) in [
            (Self.list.key, lists.path), (Self.favourites.key, lists.favourites), (Self.skip.key, lists.skipped),
            (Self.state.key, state),
        ] where path == "" {
            problems.append(ConfigurationProblem(key, "the path is empty; is a variable of the shell unset?"))
        }
        if let maximum = pacing.maximum, maximum < pacing.minimum {
            problems.append(
                ConfigurationProblem(
                    Self.maximum.key, "\(maximum) is below the \(pacing.minimum) s that a preset stays at least; set \(Self.minimum.key)"))
        }
        guard problems.isEmpty, let template else { throw ConfigurationError(problems) }
        return template
    }
}
