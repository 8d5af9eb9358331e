/// The key of a notification: application, recipient and identifier, each percent-encoded, joined with `/`.
///
/// An empty identifier means all notifications of the recipient and is valid only for removals. Each component has 1 to
/// 256 decoded bytes and no control characters. Keys are equal when their encoded bytes are. These are always
/// canonical: only the unreserved characters of RFC 3986 are unescaped, and hexadecimal digits are upper case.
public struct NotificationKey: Sendable {
    /// The record key.
    public let encoded: [UInt8]
    private let firstSlash: Int32
    private let secondSlash: Int32
    /// One bit per component that contains a `%`: 1 application, 2 recipient, 4 identifier.
    private let escapes: UInt8

    /// The key of no notification, `//`: for what gets a key later.
    package static let none = NotificationKey(canonical: Array("//".utf8), slashes: (0, 1), escapes: 0)

    /// Reads a record's key. A noncanonical spelling (`%2d`, an unescaped space) is made canonical.
    ///
    /// Throws `invalid` unless there are three components, when one is empty or too long, or contains a control
    /// character or an invalid `%XX`, and `not-utf8` when one is not UTF-8 after decoding. The field names the
    /// component, or `key`.
    public init(encoded: [UInt8]) throws(ModelError) {
        var slashes: (Int, Int) = (-1, -1)
        var count = 0
        var escapes: UInt8 = 0
        var canonical = true
        for (index, byte) in encoded.enumerated() {
            if byte == 0x2F {
                count += 1
                if count == 1 { slashes.0 = index } else { slashes.1 = index }
            } else if byte == 0x25 {
                escapes |= count < 3 ? 1 << UInt8(count) : 0
            } else if !PercentEncoding.isUnreserved(byte) {
                canonical = false
            }
        }
        guard count == 2 else {
            throw ModelError(
                .invalid,
                field: "key",
                "a key is application/recipient/identifier, this one has \(count) slashes"
            )
        }
        if canonical, escapes == 0 {
            try Self.check("application", slashes.0, mayBeEmpty: false)
            try Self.check("recipient", slashes.1 - slashes.0 - 1, mayBeEmpty: false)
            try Self.check("identifier", encoded.count - slashes.1 - 1, mayBeEmpty: true)
            self.init(canonical: encoded, slashes: slashes, escapes: 0)
            return
        }
        try self.init(
            application: Self.decode("application", encoded[..<slashes.0]),
            recipient: Self.decode("recipient", encoded[(slashes.0 + 1)..<slashes.1]),
            identifier: Self.decode("identifier", encoded[(slashes.1 + 1)...])
        )
    }

    /// Builds a key from its decoded components. Throws as ``init(encoded:)``, the field naming the component.
    public init(application: String, recipient: String, identifier: String) throws(ModelError) {
        try self.init(utf8: application.utf8, recipient.utf8, identifier.utf8)
    }

    /// Builds a key from the UTF-8 of its decoded components, as ``init(application:recipient:identifier:)-(String,_,_)``.
    public init(
        application: ArraySlice<UInt8>,
        recipient: ArraySlice<UInt8>,
        identifier: ArraySlice<UInt8>
    ) throws(ModelError) {
        try self.init(utf8: application, recipient, identifier)
    }

    private init<Text: Collection<UInt8>>(
        utf8 application: Text,
        _ recipient: Text,
        _ identifier: Text
    ) throws(ModelError) {
        var out: [UInt8] = []
        out.reserveCapacity(application.count + recipient.count + identifier.count + 2)
        var escapes: UInt8 = 0
        func put(_ field: String, _ text: Text, _ bit: UInt8, mayBeEmpty: Bool) throws(ModelError) {
            try Self.check(field, text.count, mayBeEmpty: mayBeEmpty)
            let start = out.count
            PercentEncoding.encode(text, to: &out)
            guard out.count - start != text.count else { return }
            escapes |= bit
            do throws(ModelError) {
                try PercentEncoding.checkText(Array(text))
            } catch {
                throw ModelError(error.reason, field: field, error.detail)
            }
        }
        try put("application", application, 1, mayBeEmpty: false)
        let firstSlash = out.count
        out.append(0x2F)
        try put("recipient", recipient, 2, mayBeEmpty: false)
        let secondSlash = out.count
        out.append(0x2F)
        try put("identifier", identifier, 4, mayBeEmpty: true)
        self.init(canonical: out, slashes: (firstSlash, secondSlash), escapes: escapes)
    }

    private init(canonical: [UInt8], slashes: (Int, Int), escapes: UInt8) {
        encoded = canonical
        firstSlash = Int32(truncatingIfNeeded: slashes.0)
        secondSlash = Int32(truncatingIfNeeded: slashes.1)
        self.escapes = escapes
    }

    /// Where application and recipient end in the encoded key: the second `/`.
    package var recipientEnd: Int { Int(secondSlash) }

    /// Whether both have the same application and recipient.
    package func isSameRecipient(as other: NotificationKey) -> Bool {
        encoded[..<recipientEnd] == other.encoded[..<other.recipientEnd]
    }

    /// The key of the recipient's own record: without an identifier.
    package var ofRecipient: NotificationKey {
        NotificationKey(
            canonical: Array(encoded[...Int(secondSlash)]),
            slashes: (Int(firstSlash), Int(secondSlash)),
            escapes: escapes & 3
        )
    }

    /// Checks the decoded bytes of a component. Throws `invalid`.
    static func check(_ field: String, _ count: Int, mayBeEmpty: Bool) throws(ModelError) {
        guard count > 0 || mayBeEmpty else { throw ModelError(.invalid, field: field, "must not be empty") }
        guard count <= ModelLimits.keyComponentBytes else {
            throw ModelError(
                .invalid,
                field: field,
                "has \(count) bytes, at most \(ModelLimits.keyComponentBytes) are allowed"
            )
        }
    }

    /// The key of one of the recipient's notifications. Throws as ``init(encoded:)``, the field naming the identifier.
    ///
    /// - Parameter identifier: decoded; empty for the recipient's own record.
    package func withIdentifier(_ identifier: String) throws(ModelError) -> NotificationKey {
        let count = identifier.utf8.count
        try Self.check("identifier", count, mayBeEmpty: true)
        var out: [UInt8] = []
        out.reserveCapacity(recipientEnd + 1 + count)
        out.append(contentsOf: encoded[...recipientEnd])
        PercentEncoding.encode(identifier.utf8, to: &out)
        let isEscaped = out.count > recipientEnd + 1 + count
        if isEscaped, let position = Array(identifier.utf8).withUnsafeBytes(PercentEncoding.firstControlCharacter) {
            throw ModelError(.invalid, field: "identifier", "byte \(position) is a control character")
        }
        return NotificationKey(
            canonical: out,
            slashes: (Int(firstSlash), Int(secondSlash)),
            escapes: escapes & 3 | (isEscaped ? 4 : 0)
        )
    }

    private static func decode(_ field: String, _ bytes: ArraySlice<UInt8>) throws(ModelError) -> String {
        do throws(ModelError) {
            return String(decoding: try PercentEncoding.decodeOnce(Array(bytes)), as: UTF8.self)
        } catch {
            throw ModelError(error.reason, field: field, error.detail)
        }
    }
}

extension NotificationKey: Hashable {
    /// Compares the encoded bytes.
    public static func == (left: NotificationKey, right: NotificationKey) -> Bool {
        left.encoded.withUnsafeBytes { left in right.encoded.withUnsafeBytes { left.hasSameBytes(as: $0) } }
    }

    /// Hashes the encoded bytes.
    public func hash(into hasher: inout Hasher) {
        encoded.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension NotificationKey {
    /// A part of the key.
    enum Component: UInt8 {
        case application = 1
        case recipient = 2
        case identifier = 4
    }

    func range(of component: Component) -> Range<Int> {
        switch component {
        case .application: 0..<Int(firstSlash)
        case .recipient: Int(firstSlash) + 1..<Int(secondSlash)
        case .identifier: Int(secondSlash) + 1..<encoded.count
        }
    }

    /// True when the component's encoded bytes are not its decoded bytes.
    func isEscaped(_ component: Component) -> Bool {
        escapes & component.rawValue != 0
    }

    /// Calls the body with the component's decoded bytes; borrowed from the key when it contains no escapes.
    func withBytes<Result>(of component: Component, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let range = range(of: component)
        guard isEscaped(component) else {
            return encoded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        return decodedBytes(of: component).withUnsafeBytes(body)
    }

    private func decodedBytes(of component: Component) -> [UInt8] {
        let slice = Array(encoded[range(of: component)])
        // The initializers accept only decodable components.
        return (try? PercentEncoding.decodeOnce(slice)) ?? slice
    }

    private func text(of component: Component) -> String {
        withBytes(of: component) { String(decoding: $0, as: UTF8.self) }
    }

    /// The application, decoded.
    public var application: String { text(of: .application) }

    /// The recipient, decoded.
    public var recipient: String { text(of: .recipient) }

    /// The identifier, decoded; empty for all of the recipient's notifications.
    public var identifier: String { text(of: .identifier) }

    /// True when the identifier is empty: the key stands for all of the recipient's notifications.
    public var isWholeRecipient: Bool { Int(secondSlash) + 1 == encoded.count }

    /// The recipient's decoded bytes, the input of the partition rule. Use ``withRecipientBytes(_:)`` on the hot path.
    public var recipientBytes: [UInt8] { withBytes(of: .recipient) { Array($0) } }

    /// Calls the body with the recipient's decoded bytes; neither copies nor allocates when the recipient contains no
    /// escapes.
    public func withRecipientBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withBytes(of: .recipient, body)
    }

    /// Appends `"application":"…","recipient":"…","identifier":"…"`, without braces.
    public func writeJSONFields(to out: inout [UInt8]) {
        JSONWriter.append("\"application\":", to: &out)
        writeJSON(.application, to: &out)
        JSONWriter.append(",\"recipient\":", to: &out)
        writeJSON(.recipient, to: &out)
        JSONWriter.append(",\"identifier\":", to: &out)
        writeJSON(.identifier, to: &out)
    }

    private func writeJSON(_ component: Component, to out: inout [UInt8]) {
        guard isEscaped(component) else {
            // Unreserved characters need no escape in JSON.
            out.append(0x22)
            let range = range(of: component)
            encoded.withUnsafeBytes { out.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range])) }
            out.append(0x22)
            return
        }
        withBytes(of: component) { JSONWriter.append(string: $0, to: &out) }
    }
}

extension NotificationKey: CustomStringConvertible {
    /// The encoded key as text.
    public var description: String { String(decoding: encoded, as: UTF8.self) }
}
