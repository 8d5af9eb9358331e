/// What a record of the topic `signals` says, by its header `ce_type`: `carillon.signal.<name>.v1`.
public enum SignalType: String, CaseIterable, Sendable {
    case response, receipt, report, location
    case appState = "app-state"
    case retirement

    /// The header of a record's type.
    public static let header = "ce_type"

    /// The header of a signal that was sent on to its recipient's partition, once.
    package static let forwardedHeader = "carillon-forwarded"

    /// The type as CloudEvents writes it.
    public var eventType: String { "carillon.signal.\(rawValue).v1" }

    /// Reads the header; nil for a type of another version or another program.
    public init?(eventType bytes: UnsafeRawBufferPointer) {
        let found = Self.allCases.first { type in
            var text = type.eventType
            return text.withUTF8 { UnsafeRawBufferPointer($0).hasSameBytes(as: bytes) }
        }
        guard let found else { return nil }
        self = found
    }
}
