extension ControlType {
    /// Makes the pages and lights of the run dark (`on`), or bright again.
    public static let blackout = ControlType(
        "blackout", "Makes the pages and lights of the run dark, or bright again.",
        fields: [.boolean("on", default: .boolean(true), "True: dark; false: bright again.")])
}
