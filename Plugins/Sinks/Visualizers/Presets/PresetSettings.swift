internal import Hemiola
internal import HemiolaFiles
internal import HemiolaVisualizer

/// The kind of automatic preset changes.
enum ChangeMode: String, CaseIterable {
    case timer
    // The timer with the defaults of these programs.
    case milkDrop = "milkdrop"
    case projectM = "projectm"
    case bars, beats, drop, segments, manual
}

/// The settings of the sink `presets`. Times are in seconds.
struct PresetSettings: PluginSettings {
    var path: String
    private var chosenMode: ChangeMode?
    var list: String?
    var names: [String]
    var order: PresetOrder.Kind
    private var time: Double?
    private var minimum: Double?
    private var maximum: Double?
    private var blend: Double?
    private var bars: Int?
    private var beats: Int?
    private var confidence: Double
    private var rise: Double
    /// nil: unset.
    var state: String?

    init(_ read: inout SettingReader) {
        path = read.text(
            "path", default: "-",
            "File for the plan, with the placeholders {stem}, {name}, {dir} and {time}; -: standard output, unless another sink uses it "
                + "or it is a terminal.")
        chosenMode = read.choice(
            "mode",
            "Kind of automatic changes; milkdrop and projectm are the timer with the times of these programs. Default: bars if bars is "
                + "set, beats if beats is set, else timer.")
        list = read.text("list", "Text file with one preset name per line, or folder of .milk and .json presets.")
        names = read.texts(
            "names", "Preset names, added to those of list. Without list and names: the presets that the visualizer reports.")
        order = read.choice("order", default: PresetOrder.Kind.shuffle, "Order of the presets.")
        time = read.seconds(
            "time_s", in: 0.1...86_400,
            "Time on a preset. Default: 15 (milkdrop: 16, projectm: 30). Modes bars and beats use it while the beat is not reliable.")
        minimum = read.seconds("min_s", in: 0...86_400, "Minimum time on a preset. Default: 0 (projectm: 1, drop and segments: 8).")
        maximum = read.seconds("max_s", in: 0.1...86_400, "Maximum time on a preset. Default: unlimited (drop and segments: 60).")
        blend = read.seconds(
            "blend_s", in: 0...60,
            "Blend time between presets; 0: hard cut. Default: 1 (milkdrop: 2.7, requested changes 1.7; projectm: 3; drop: 0, requested changes 1)."
        )
        bars = read.integer("bars", in: 1...1024, "Bars per preset, for mode bars. Default: 8.")
        beats = read.integer("beats", in: 1...4096, "Beats per preset, for mode beats. Default: 32.")
        confidence = read.number(
            "confidence", default: 0.3, in: 0...1, "Minimum confidence of the beat for modes bars and beats; below it the timer is used.")
        rise = read.number(
            "drop_db", default: 6, in: 1...60, unit: .decibels,
            "Rise of the level that counts as a drop: mean of the last 0.2 s over mean of the last 3 s.")
        state = read.text(
            "state",
            "File that stores the last preset, speed and favourites between runs, or none. Default: visualizer.json in the user's state folder in real time, else and in replays none."
        )
    }

    /// Whether presets change by themselves from the start.
    var cycles: Bool { mode != .manual }

    private var mode: ChangeMode { chosenMode ?? (bars != nil ? .bars : beats != nil ? .beats : .timer) }

    /// When presets change, with the defaults of the mode's original program.
    var timing: ChangeTiming {
        var timing = ChangeTiming(
            duration: .uniform(time ?? 15), minimum: minimum ?? 0, maximum: maximum, blend: blend ?? 1,
            requestBlend: blend ?? 1)
        switch mode {
        case .timer, .manual: break
        case .milkDrop:
            timing.blend = blend ?? 2.7
            timing.requestBlend = blend ?? 1.7
            // MilkDrop's time starts at the end of the blend.
            timing.duration = .uniform((time ?? 16) + timing.blend, extra: 10)
        case .projectM:
            timing.blend = blend ?? 3
            timing.requestBlend = timing.blend
            timing.duration = .normal(time ?? 30, deviation: 1)
            timing.minimum = minimum ?? 1
        case .bars, .beats:
            timing.duration = .uniform(time ?? 15)
            timing.trigger = .beats(mode == .bars ? .bars(bars ?? 8) : .beats(beats ?? 32), confidence: confidence)
        case .drop, .segments:
            timing.duration = time.map { .uniform($0) }
            timing.minimum = minimum ?? 8
            timing.maximum = maximum ?? 60
            timing.trigger = mode == .drop ? .drop(decibels: rise) : .segments
            if mode == .drop { timing.blend = blend ?? 0 }
        }
        return timing
    }

    var needs: SinkPlugin.Needs {
        SinkPlugin.Needs(
            analyzers: analyzers, spareStandardOutput: OutputTarget(path).isStandardOutput,
            events: [.control, .preset, .pagePreset, .speed] + (analyzers.contains { $0.name == PresetDirector.beat } ? [.beat] : []),
            outputs: [SinkPlugin.Output(path)])
    }

    /// The analyzers that the mode needs.
    private var analyzers: [PluginSpec] {
        switch timing.trigger {
        case .none: []
        case .beats: [PluginSpec(PresetDirector.beat)]
        case .drop: [PluginSpec("levels"), PluginSpec("spectrum")]
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
        do {
            template = try PathTemplate(path, at: "path")
        } catch {
            problems += error.all
        }
        for (key, path) in [("list", list), ("state", state)] where path == "" {
            problems.append(Problem("the path is empty; is a variable of the shell unset?", at: .key(key)))
        }
        let timing = timing
        if let maximum = timing.maximum, maximum < timing.minimum {
            problems.append(
                Problem(
                    "\(maximum) s is below the minimum time of \(timing.minimum) s; set min_s too", at: .key("max_s")
                ))
        }
        guard problems.isEmpty, let template else { throw Problem(problems) }
        return template
    }
}
