internal import Hemiola
internal import HemiolaSignal

/// What a plugin did wrong in its exam: all of it, in sentences.
public struct ExamFailure: Error, Sendable, CustomStringConvertible {
    /// The plugin's id.
    public var plugin: String
    /// What is wrong, a sentence each.
    public var faults: [String]

    public var description: String {
        "\(plugin) failed its exam:\n" + faults.map { "- \($0)" }.joined(separator: "\n")
    }
}

/// The examiner's sheet: what went wrong so far, each fault once.
struct ExamPaper {
    /// Beyond this a broken plugin only repeats itself.
    private static let limit = 40

    private(set) var faults: [String] = []

    mutating func fault(_ sentence: String) {
        if faults.count < Self.limit && !faults.contains(sentence) { faults.append(sentence) }
    }

    mutating func require(_ isRight: Bool, _ sentence: @autoclosure () -> String) {
        if !isRight { fault(sentence()) }
    }

    /// - Throws: When there is any fault.
    func handIn(_ plugin: String) throws(ExamFailure) {
        if !faults.isEmpty { throw ExamFailure(plugin: plugin, faults: faults) }
    }

    // MARK: - What all roles have in common

    /// Checks what a plugin tells about itself and reads the exam's settings.
    mutating func settings(_ text: String, of about: PluginDescription) -> SettingValues? {
        check(about)
        do throws(ConfigurationError) {
            let spec = try PluginSpec(parsing: text.isEmpty ? about.id : "\(about.id):\(text)")
            var problems: [ConfigurationProblem] = []
            let values = about.values(from: spec, path: about.id, problems: &problems)
            for problem in problems { fault("The exam's settings do not fit: \(problem).") }
            return values
        } catch {
            fault("The exam's settings cannot be read: \(error).")
            return nil
        }
    }

    private mutating func check(_ about: PluginDescription) {
        let isKebab = { (text: String) in
            text.first?.isLetter == true && text.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }
        }
        require(isKebab(about.id), "The id \"\(about.id)\" is not in kebab-case: json-lines.")
        require(about.summary.hasSuffix("."), "The summary \"\(about.summary)\" is not a sentence.")
        require(about.version >= 1, "The version \(about.version) is below 1.")
        if let primary = about.primary {
            require(about.keys.contains(primary), "The primary setting \"\(primary)\" is not declared.")
        }
        for setting in about.settings {
            require(setting.key.isSnakeCase, "The setting \"\(setting.key)\" is not in snake_case: min_hz.")
            require(setting.key != "as", "The setting \"as\" is the engine's own: it names an instance.")
            require(setting.summary.hasSuffix("."), "The summary of the setting \(setting.key) is not a sentence.")
            require(
                about.keys.count { $0 == setting.key } == 1, "The setting \(setting.key) is declared more than once.")
            if setting.defaultValue == .none { continue }
            if case .failure(let wrong) = setting.check(setting.defaultValue) {
                fault("The default of the setting \(setting.key) is refused by its own check: \(wrong.message).")
            }
        }
    }
}

extension String {
    /// Lower-case letters, digits and `_`, a letter first.
    var isSnakeCase: Bool {
        first?.isLetter == true && allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") }
    }
}
