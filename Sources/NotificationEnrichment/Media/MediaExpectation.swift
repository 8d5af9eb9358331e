/// What the labels of a download say about its bytes.
package struct MediaExpectation: Hashable, Sendable {
    /// The uniform type identifier of the attachment, if it has one.
    package var typeHint: String?
    /// The `Content-Type` of the answer, if it has one.
    package var mimeType: String?

    package init(typeHint: String? = nil, mimeType: String? = nil) {
        (self.typeHint, self.mimeType) = (typeHint, mimeType)
    }

    /// The first of the types that the bytes may have with which both labels agree.
    ///
    /// - Throws: `unsupportedType` if the type hint is no supported type, else `typeMismatch`.
    func choose(among types: [MediaType]) throws(MediaProblem) -> MediaType {
        let hint = typeHint.map(MediaType.named(uniformType:)) ?? .nothing
        guard hint != .foreign else {
            throw MediaProblem(.unsupportedType, "the type hint \(excerpt(typeHint)) is no supported type")
        }
        let bytes = types.map(\.uniformType).joined(separator: " or ")
        let hinted = types.filter(hint.allows)
        guard !hinted.isEmpty else {
            throw MediaProblem(.typeMismatch, "the bytes are \(bytes), the type hint says \(excerpt(typeHint))")
        }
        let declared = mimeType.map(MediaType.named(mimeType:)) ?? .nothing
        guard let type = hinted.first(where: declared.allows) else {
            throw MediaProblem(.typeMismatch, "the bytes are \(bytes), the Content-Type says \(excerpt(mimeType))")
        }
        return type
    }

    /// A label for a log line: short, and of visible ASCII characters only.
    private func excerpt(_ label: String?) -> String {
        let bytes = (label ?? "").utf8.prefix(64).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return "\"\(String(decoding: bytes, as: UTF8.self))\""
    }
}
