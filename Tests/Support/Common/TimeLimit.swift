public import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. The limit is no measure of speed: a page in a browser may take minutes beside other work.
    public static var mayNotHang: Self { .timeLimit(.minutes(10)) }
}
