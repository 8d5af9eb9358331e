/// What a notification shows that arrives while its app is in the foreground, as an app's delegate decides it.
///
/// In JSON an array of ``PresentationOptions``, or null for ``unhandled``. Without any policy there is no delegate, and the
/// notification's own options count.
public enum ForegroundPolicy: Sendable, Hashable {
    /// The delegate's `willPresent` returns these; none is silent.
    case options(PresentationOptions)
    /// The delegate has no `willPresent`: nothing is shown.
    case unhandled
}

extension ForegroundPolicy: JSONWritable {
    init(_ scanner: inout JSONScanner) throws(ModelError) {
        switch scanner.peek() {
        case 0x5B: self = .options(try PresentationOptions(&scanner))
        case 0x6E:
            try scanner.literal("null")
            self = .unhandled
        default: throw scanner.unexpected("an array of presentation options or null")
        }
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        switch self {
        case .options(let options): options.writeJSON(to: &out)
        case .unhandled: JSONWriter.append("null", to: &out)
        }
    }
}
