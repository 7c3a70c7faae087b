package import Hemiola
package import HemiolaOutput

extension ConfigurationProblem {
    /// A path was given that is empty.
    package static func emptyPath(at key: String) -> ConfigurationProblem {
        ConfigurationProblem(key, "an empty path names no file; write - for standard output")
    }

    /// A compressed file is to be added to.
    package static func cannotAddToCompressed(at key: String, _ wayOut: String) -> ConfigurationProblem {
        ConfigurationProblem(
            key, "nothing can be added to a compressed file, since a run that breaks off would hide what follows; \(wayOut)")
    }
}

extension PathTemplate {
    /// The path that a setting holds.
    ///
    /// - Throws: That it is empty, or names a placeholder that does not exist.
    package init(_ text: String, at key: String, isNumbered: Bool = false) throws(ConfigurationError) {
        if text.isEmpty { throw ConfigurationError([.emptyPath(at: key)]) }
        do throws(UnknownPlaceholder) {
            try self.init(text, isNumbered: isNumbered)
        } catch {
            throw ConfigurationError(error.message, at: key)
        }
    }
}
