internal import Hemiola
internal import Synchronization

/// A capture, analyzer or sink of a pipeline. It is made once, when the pipeline is assembled, which checks its settings; the run uses that
/// instance. Only further jobs make further ones.
final class PluginInstance<Value>: Sendable {
    private let made: Mutex<Value?>
    private let make: @Sendable () throws(Problem) -> Value

    /// Makes the instance.
    init(_ make: @escaping @Sendable () throws(Problem) -> Value) throws(Problem) {
        self.make = make
        made = Mutex(try make())
    }

    /// An instance that cannot be made.
    init(failing error: Problem) {
        make = { () throws(Problem) in throw error }
        made = Mutex(nil)
    }

    /// Takes the instance, or makes another when it was taken before.
    ///
    /// - Throws: What prevents another one, such as a model that was removed after the first was made.
    func take() throws(Problem) -> sending Value {
        let instance = made.withLock { made -> sending Value? in
            guard let value = made else { return nil }
            made = nil
            return value
        }
        if let instance { return instance }
        return try make()
    }

    /// Calls a function with the instance, which stays; nil when it was taken before.
    func read<Result: Sendable>(_ body: @Sendable (Value) -> Result) -> Result? {
        made.withLock { made in made.map(body) }
    }
}
