public import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. It says nothing about speed: on a busy machine a test waits for its turn, and in a debug build of
    /// all suites that takes minutes.
    public static var mayNotHang: Self {
        #if DEBUG
            .timeLimit(.minutes(10))
        #else
            .timeLimit(.minutes(2))
        #endif
    }
}
