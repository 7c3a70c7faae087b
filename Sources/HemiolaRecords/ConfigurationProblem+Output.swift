package import Hemiola

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
