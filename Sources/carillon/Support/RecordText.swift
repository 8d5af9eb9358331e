import NotificationModel

/// Bytes of a record as text for people.
enum RecordText {
    /// The text of bytes that are UTF-8 without control characters; nil for others, such as the big-endian numbers of
    /// dead letters.
    static func readable(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: PrintableText.isControl)
        else { return nil }
        return text
    }

    /// Escaped for a terminal, on one line.
    static func safe(_ text: String) -> String { PrintableText.escaped(text) }
}
