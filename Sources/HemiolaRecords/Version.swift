/// The version of Hemiola, as the header, `--version` and the changelog print it.
public enum HemiolaVersion {
    public static let current = "0.1.0"
}
