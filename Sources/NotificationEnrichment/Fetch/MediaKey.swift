import OutboundHTTP

/// What identifies a download: requests with equal keys share it and what is known of it.
struct MediaKey: Hashable, Sendable {
    /// As `EgressURL.text`.
    var url: String
    /// The bytes of many MPEG-4 files do not tell whether they are audio or a movie: the type hint decides.
    let isAudio: Bool

    /// - Throws: `unsupported-type` when the hint names no supported type.
    init(url: String, typeHint: String?) throws(OutboundFailure) {
        self.url = url
        try Self.check(typeHint, among: MediaType.allCases)
        isAudio =
            if let typeHint, case .types(let types) = MediaType.named(uniformType: typeHint) {
                types.allSatisfy { $0.kind == .audio }
            } else {
                false
            }
    }

    /// The part of the type hint that influences what the bytes are.
    var typeHint: String? { isAudio ? "public.audio" : nil }

    /// - Throws: `type-mismatch` or `unsupported-type` when none of the types agrees with the hint.
    static func check(_ typeHint: String?, among types: [MediaType]) throws(OutboundFailure) {
        do {
            _ = try MediaExpectation(typeHint: typeHint).choose(among: types)
        } catch {
            throw OutboundFailure(error)
        }
    }
}
