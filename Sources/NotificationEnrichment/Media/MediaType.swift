/// The kinds of attachments; each has its own bound of bytes.
package enum MediaKind: String, CaseIterable, Sendable {
    case audio, image, movie
}

/// The types of attachments that devices accept (Apple, "UNNotificationAttachment", table of supported files).
package enum MediaType: CaseIterable, Hashable, Sendable {
    case aiff, wav, mp3, mpeg4Audio
    case jpeg, gif, png
    case mpeg, mpeg2, mpeg4, avi

    private typealias Row = (kind: MediaKind, uniformType: String, mimeType: String, extensions: [String])

    private var row: Row {
        switch self {
        case .aiff: (.audio, "public.aiff-audio", "audio/aiff", ["aiff", "aif", "aifc"])
        case .wav: (.audio, "com.microsoft.waveform-audio", "audio/wav", ["wav", "wave"])
        case .mp3: (.audio, "public.mp3", "audio/mpeg", ["mp3"])
        case .mpeg4Audio: (.audio, "public.mpeg-4-audio", "audio/mp4", ["m4a", "m4b"])
        case .jpeg: (.image, "public.jpeg", "image/jpeg", ["jpg", "jpeg", "jpe"])
        case .gif: (.image, "com.compuserve.gif", "image/gif", ["gif"])
        case .png: (.image, "public.png", "image/png", ["png", "apng"])
        case .mpeg: (.movie, "public.mpeg", "video/mpeg", ["mpg", "mpeg", "mpe", "m1v"])
        case .mpeg2: (.movie, "public.mpeg-2-video", "video/mpeg", ["m2v"])
        case .mpeg4: (.movie, "public.mpeg-4", "video/mp4", ["mp4", "mpg4", "m4v"])
        case .avi: (.movie, "public.avi", "video/x-msvideo", ["avi"])
        }
    }

    package var kind: MediaKind { row.kind }
    /// Its uniform type identifier, as in an attachment's type hint.
    package var uniformType: String { row.uniformType }
    /// The media type to serve it with. Both MPEG types have the same.
    package var mimeType: String { row.mimeType }
    /// Without the dot, in lower case. Each type has its own, so a file name tells the type.
    package var fileExtension: String { row.extensions[0] }

    /// The type with this uniform type identifier, in any case (identifiers are compared without regard to case).
    package init?(uniformType: String) {
        let name = uniformType.lowercased()
        guard let type = Self.allCases.first(where: { $0.uniformType == name }) else { return nil }
        self = type
    }

    /// The type of files with this extension (without the dot, in any case), also by its other spellings.
    package init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        guard let type = Self.allCases.first(where: { $0.row.extensions.contains(name) }) else { return nil }
        self = type
    }
}
