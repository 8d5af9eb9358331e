/// The version of everything in this package.
public enum CarillonVersion {
    /// As `--version` prints it and `carillon_build_info` shows it.
    public static let current = "0.1.0"
}
