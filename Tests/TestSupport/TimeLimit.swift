public import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. The limit is no measure of speed: on a machine with load, and in a debug build of all suites, a test may
    /// wait for minutes.
    public static var mayNotHang: Self {
        #if DEBUG
            .timeLimit(.minutes(10))
        #else
            .timeLimit(.minutes(2))
        #endif
    }
}
