import NotificationEnrichment
import NotificationModel
import OutboundHTTP

extension MediaReport {
    /// Several lines for people, escaped for a terminal.
    var text: String {
        let place = line.map { "line \($0)" }
        let head = [place, url].compactMap { $0 }.joined(separator: ": ")
        let lines = steps.map { "  \(Self.time($0.after))  \($0.step.text)" } + outcomeLines.map { "  \($0)" }
        return ([head] + lines).map { RecordText.safe($0) + "\n" }.joined()
    }

    /// In milliseconds, five characters wide.
    private static func time(_ time: Duration) -> String {
        let digits = "\(time.milliseconds)"
        return "\(String(repeating: " ", count: max(0, 5 - digits.count)))\(digits) ms"
    }

    private var outcomeLines: [String] {
        switch outcome {
        case .fetched(let media, let file):
            [
                "\(media.origin.rawValue): \(media.facts.text), SHA-256 \(media.stored.digest)",
                file.map { "kept as \($0)" },
            ].compactMap { $0 }
        case .refused(let failure): ["refused: \(failure)"]
        case .invalid(let error): ["invalid line: \(error)"]
        }
    }
}

extension MediaFacts {
    /// `image, public.png, 640x480, 50,123 bytes`.
    fileprivate var text: String {
        let size = width.flatMap { width in height.map { "\(width)x\($0)" } }
        let bytes = "\(SendSummary.grouped(Int(clamping: bytes))) bytes"
        return [type.kind.rawValue, type.uniformType, size, bytes].compactMap { $0 }.joined(separator: ", ")
    }
}

extension FetchStep {
    /// One line; parts of an answer are not escaped.
    var text: String {
        switch self {
        case .requested(let origin): return "\(origin) is allowed"
        case .joined: return "another download of this URL is under way: waiting for it"
        case .resolved(let addresses, let refusal):
            let list = addresses.isEmpty ? "none" : addresses.map(\.description).joined(separator: ", ")
            return "addresses: \(list): \(refusal == nil ? "allowed" : "refused")"
        case .connected(let address, let isReused):
            return isReused ? "the open connection to \(address) is used again" : "connected to \(address)"
        case .secured: return "TLS: the certificate is valid for the host"
        case .answered(let status, let contentType, let contentLength):
            let type = contentType.map(Self.cut) ?? "no Content-Type"
            let length = contentLength.map { "\(SendSummary.grouped(Int(clamping: $0))) bytes" } ?? "no Content-Length"
            return "answered \(status): \(type), \(length)"
        case .redirected(let status, let origin): return "redirected (\(status)) to \(origin), which is allowed"
        case .checked(let facts): return "checked: \(facts.type.uniformType), whole and within the limits"
        case .stored(let media): return "stored: \(media.fileName)"
        case .cached(let media): return "known and fresh: \(media.fileName)"
        case .revalidated(let media): return "known, and unchanged on the server: \(media.fileName)"
        case .refused(let failure): return "refused: \(failure)"
        }
    }

    /// A field of an answer, which may be long.
    static func cut(_ text: String) -> String {
        text.unicodeScalars.count > 128 ? String(text.unicodeScalars.prefix(128)) + "…" : text
    }
}
