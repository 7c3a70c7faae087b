/// A place in a configuration: a key of the whole, a list, an element of a list, a setting of an element, or a position in its text.
///
/// A plugin knows its settings only; the pipeline adds the element: ``below(_:)``.
public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// The lists of a configuration.
    public enum List: String, Sendable, Hashable {
        /// The captures of a run, named by options.
        case captures
        /// The inputs of a pipeline file.
        case inputs
        /// The analyzers.
        case analyzers
        /// The sinks.
        case sinks
        /// The control sources.
        case controls
        /// The features that are selected.
        case select
    }

    /// nil: the key is one of the whole configuration, or of a plugin whose place is not known.
    public var list: List?
    /// The element of the list; nil: the list as a whole, or an element that no user has named.
    public var index: Int?
    /// A setting of the element, or a key of the whole.
    public var key: String?
    /// A position in a text that cannot be read.
    public var position: TextPosition?

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

    /// A position in a text.
    public init(_ position: TextPosition) {
        self.position = position
    }

    /// A key without a list: of the configuration, or of a plugin.
    public static func key(_ key: String) -> Place { Place(key: key) }

    /// A capture, or a setting of it.
    public static func capture(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.captures, index, key) }

    /// An analyzer, or a setting of it.
    public static func analyzer(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.analyzers, index, key) }

    /// A sink, or a setting of it.
    public static func sink(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.sinks, index, key) }

    /// A control source, or a setting of it.
    public static func control(_ index: Int? = nil, _ key: String? = nil) -> Place { Place(.controls, index, key) }

    /// The key of this place, in an element; nil: in the whole.
    public func below(_ element: Place?) -> Place {
        guard var place = element else { return self }
        place.key = key
        return place
    }

    /// `sinks[1].period_s`
    public var description: String {
        if let position { return position.description }
        let element = (list?.rawValue ?? "") + (index.map { "[\($0)]" } ?? "")
        guard let key else { return element }
        return element.isEmpty ? key : "\(element).\(key)"
    }
}

/// A position in a text.
public struct TextPosition: Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public var line: Int
    /// From 1; a column is one Unicode scalar.
    public var column: Int

    /// A position, both from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// `7:5`
    public var description: String { "\(line):\(column)" }
}
