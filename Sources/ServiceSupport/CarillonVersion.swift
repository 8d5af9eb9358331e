/// The version of everything in this package.
public enum CarillonVersion {
    /// Shown by `--version` and `carillon_build_info`.
    public static let current = "0.1.0"
}
