/// What a label (a `Content-Type` or a uniform type identifier) says that the bytes are.
package enum MediaTypeClaim: Hashable, Sendable {
    /// The label says nothing about the type.
    case nothing
    /// One of these types.
    case types(Set<MediaType>)
    /// Something that is no supported type.
    case foreign

    /// Whether bytes of this type agree with the label.
    package func allows(_ type: MediaType) -> Bool {
        switch self {
        case .nothing: true
        case .types(let types): types.contains(type)
        case .foreign: false
        }
    }
}

extension MediaType {
    /// Names that servers use besides the registered ones.
    private static let mimeTypes: [String: Set<MediaType>] = [
        "audio/aiff": [.aiff], "audio/x-aiff": [.aiff], "sound/aiff": [.aiff], "audio/x-aifc": [.aiff],
        "audio/wav": [.wav], "audio/x-wav": [.wav], "audio/wave": [.wav], "audio/vnd.wave": [.wav],
        "audio/x-pn-wav": [.wav],
        "audio/mpeg": [.mp3], "audio/mp3": [.mp3], "audio/x-mp3": [.mp3], "audio/mpeg3": [.mp3],
        "audio/x-mpeg": [.mp3], "audio/x-mpeg-3": [.mp3],
        "audio/mp4": [.mpeg4Audio], "audio/m4a": [.mpeg4Audio], "audio/x-m4a": [.mpeg4Audio],
        "audio/x-m4b": [.mpeg4Audio], "application/mp4": [.mpeg4, .mpeg4Audio],
        "image/jpeg": [.jpeg], "image/jpg": [.jpeg], "image/pjpeg": [.jpeg],
        "image/gif": [.gif],
        "image/png": [.png], "image/x-png": [.png], "image/apng": [.png], "image/vnd.mozilla.apng": [.png],
        "video/mpeg": [.mpeg, .mpeg2], "video/mpg": [.mpeg, .mpeg2], "video/x-mpeg": [.mpeg, .mpeg2],
        "video/mpeg2": [.mpeg2], "video/x-mpeg2": [.mpeg2],
        "video/mp4": [.mpeg4], "video/x-m4v": [.mpeg4], "video/m4v": [.mpeg4],
        "video/x-msvideo": [.avi], "video/vnd.avi": [.avi], "video/avi": [.avi], "video/msvideo": [.avi],
    ]

    /// Identifiers that several types conform to. Apple declares `public.mpeg` as "MPEG-1 or MPEG-2", and
    /// `public.mpeg-4-audio` as conforming to `public.mpeg-4`.
    private static let supertypes: [String: Set<MediaType>] = [
        "public.item": Set(allCases), "public.data": Set(allCases), "public.content": Set(allCases),
        "public.audiovisual-content": Set(allCases.filter { $0.kind != .image }),
        "public.audio": Set(allCases.filter { $0.kind == .audio }),
        "public.image": Set(allCases.filter { $0.kind == .image }),
        "public.movie": Set(allCases.filter { $0.kind == .movie }),
        "public.video": Set(allCases.filter { $0.kind == .movie }),
        "public.mpeg": [.mpeg, .mpeg2],
        "public.mpeg-4": [.mpeg4, .mpeg4Audio],
    ]

    /// What a `Content-Type` says: its type and subtype in any case, parameters ignored (RFC 9110, 8.3.1).
    /// `application/octet-stream`, which servers send for anything, says nothing.
    package static func named(mimeType: String) -> MediaTypeClaim {
        let words = mimeType.prefix { $0 != ";" }.split { $0 == " " || $0 == "\t" }
        guard words.count <= 1 else { return .foreign }
        let name = words.first?.lowercased() ?? ""
        return switch name {
        case "", "application/octet-stream", "binary/octet-stream": .nothing
        default: mimeTypes[name].map { .types($0) } ?? .foreign
        }
    }

    /// What a uniform type identifier says: one of the types, or what several of them conform to.
    static func named(uniformType: String) -> MediaTypeClaim {
        if let types = supertypes[uniformType.lowercased()] { return .types(types) }
        return MediaType(uniformType: uniformType).map { .types([$0]) } ?? .foreign
    }
}
