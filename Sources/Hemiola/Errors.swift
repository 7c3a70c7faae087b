/// The engine's reaction to an error of a sink or a capture.
///
/// A capture waits for its source and reconnects by itself: for its errors, `retry` and `reopen` are the same as `giveUp`.
public enum Remedy: Sendable, Hashable {
    /// The same call may succeed later. The engine repeats it with the same argument after a pause. A sink that throws it continues where the
    /// failed call stopped, and writes nothing twice.
    case retry
    /// The component must be closed and opened again. A sink then gets the header of the stream and the call that failed.
    case reopen
    /// The result of this input cannot be written, but those of others can: in a run from files with one output per input, the input
    /// counts as failed, and the sink is opened again for the next one. Everywhere else the same as `giveUp`.
    case nextInput
    /// No remedy is known.
    case giveUp
    /// No error: the reader has closed the output.
    case finish
}

/// A source cannot be opened or read.
public struct CaptureError: Error, Sendable, CustomStringConvertible {
    /// The engine's reaction.
    public var remedy: Remedy
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String

    /// An error, by default one without a remedy.
    public init(_ message: String, remedy: Remedy = .giveUp) {
        self.remedy = remedy
        self.message = message
    }

    public var description: String { message }
}

/// An analyzer refuses a format.
public struct AnalyzerError: Error, Sendable, CustomStringConvertible {
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String

    /// A refusal in one line: what is wrong with which format, and what to do.
    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}

/// A sink cannot write.
public struct SinkError: Error, Sendable, CustomStringConvertible {
    /// The engine's reaction.
    public var remedy: Remedy
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String

    /// An error, by default one without a remedy.
    public init(_ message: String, remedy: Remedy = .giveUp) {
        self.remedy = remedy
        self.message = message
    }

    public var description: String { message }
}

/// A place in a configuration: a key of the whole, a list, an element of a list, or a setting of an element.
///
/// A plugin knows its settings only; the pipeline adds the element: ``below(_:)``.
public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// The lists of a configuration. A pipeline file has captures also as `inputs`.
    public enum List: String, Sendable, Hashable {
        case captures, inputs, analyzers, sinks, select
    }

    /// nil: the key is one of the whole configuration, or of a plugin whose place is not known.
    public var list: List?
    /// The element of the list; nil: the list as a whole, or an element that no user has named.
    public var index: Int?
    /// A setting of the element, or a key of the whole.
    public var key: String?

    /// A place in a list.
    public init(_ list: List, _ index: Int? = nil, _ key: String? = nil) {
        self.list = list
        self.index = index
        self.key = key
    }

    /// A key without a list: of the configuration, or of a plugin.
    public init(key: String) {
        self.key = key
    }

    /// A key without a list: of the configuration, or of a plugin.
    public static func key(_ key: String) -> Place { Place(key: key) }

    /// A capture, or a setting of it.
    public static func capture(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.captures, index, key) }

    /// An analyzer, or a setting of it.
    public static func analyzer(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.analyzers, index, key) }

    /// A sink, or a setting of it.
    public static func sink(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.sinks, index, key) }

    /// The key of this place, in an element; nil: in the whole.
    public func below(_ element: Place?) -> Place {
        guard var place = element else { return self }
        place.key = key
        return place
    }

    /// `sinks[1].period_s`
    public var description: String {
        let element = (list?.rawValue ?? "") + (index.map { "[\($0)]" } ?? "")
        guard let key else { return element }
        return element.isEmpty ? key : "\(element).\(key)"
    }
}

/// One thing that is wrong with a configuration, and where.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// nil: it concerns the whole.
    public var place: Place?
    /// What is wrong, and what to do.
    public var message: String

    /// A problem at a place; nil: with the whole.
    public init(_ place: Place?, _ message: String) {
        self.place = place
        self.message = message
    }

    public var description: String { place.map { "\($0): \(message)" } ?? message }
}

/// A configuration cannot be built: all that is wrong with it, at once.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// At least one, in the order of the configuration.
    public var problems: [ConfigurationProblem]

    /// All that is wrong, at once.
    public init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// The only problem, and the setting of the plugin that it concerns; nil: all of them.
    public init(_ message: String, at key: String? = nil) {
        problems = [ConfigurationProblem(key.map { .key($0) }, message)]
    }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
