import Foundation
import Kafka
import NotificationModel
import ServiceSupport

/// What `carillon explain` tells of a notification as one HTML file: it loads nothing, runs nothing, and shows what is in records
/// as text.
struct LifePage {
    /// What the file may load and run, also where it is served: nothing but its own style.
    static let policy = [
        "default-src 'none'", "style-src '\(styleHash)'", "base-uri 'none'", "form-action 'none'",
    ].joined(separator: "; ")

    private static let style = String(decoding: PackageResources.life_css, as: UTF8.self)

    /// The hash by which a policy allows the style (Content Security Policy 3, 6.7.3.4).
    private static var styleHash: String {
        "sha256-\(Data(SHA256Digest.of(Array(style.utf8))).base64EncodedString())"
    }

    private let key: NotificationKey
    private let made: Timestamp
    private var steps = ""
    private var notes = ""
    private var now = ""
    /// Instants with their dates: nobody knows when the page is read.
    private let moments = MomentText(now: .earliest)

    /// - Parameters:
    ///   - key: of the notification.
    ///   - made: when its records are read.
    init(_ key: NotificationKey, made: Timestamp) { (self.key, self.made) = (key, made) }

    /// - Parameter part: the next one, in the order of ``LifeReader``.
    mutating func add(_ part: LifePart) {
        switch part {
        case .step(let record): steps += Self.item(record)
        case .now(let record):
            let pieces = record.flatMap(StateNote.pieces) ?? ["nothing is kept of it"]
            now = "<p><strong>now</strong> \(Self.foreign(pieces.joined(separator: ", ")))</p>\n"
        case .gone(let topic, let before):
            let moment = before.map { " before \(moments.text($0))" } ?? ""
            notes += Self.note("Records of \(topic)\(moment) are gone, by retention or compaction.")
        case .dropped(let count): notes += Self.note("\(count) older steps are not shown.")
        }
    }

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>\(Self.escaped(RecordText.safe("\(key.identifier) of \(key.recipient)")))</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <header>
        <h1>\(Self.foreign(key.identifier))</h1>
        <p>of \(Self.foreign(key.recipient)), application \(Self.foreign(key.application))</p>
        <p>Read at <time datetime="\(made.rfc3339)">\(moments.text(made))</time> UTC</p>
        </header>
        \(notes)<ol>
        \(steps)</ol>
        \(now)</body>
        </html>

        """
    }

    private static func item(_ record: KafkaConsumerRecord) -> String {
        let moments = MomentText(now: .earliest)
        let name = LifeStep.name(of: record)
        let time = record.timestamp.map { Timestamp(rawValue: $0) }.map {
            "<time datetime=\"\($0.rfc3339)\">\(moments.text($0))</time>"
        }
        var text = "<li>\(time ?? "")<strong class=\"\(LifeStep.Kind(of: name).rawValue)\">\(foreign(name))</strong>\n"
        text += "<p>\(foreign(LifeStep.words(record, now: .earliest)))</p>\n"
        let parts = LifeStep.parts(of: record)
        if !parts.isEmpty {
            text += "<ul>\n"
            for part in parts {
                text += "<li><strong class=\"\(LifeStep.Kind(of: part.name).rawValue)\">\(foreign(part.name))</strong> "
                text += "\(foreign(part.words))</li>\n"
            }
            text += "</ul>\n"
        }
        for why in LifeStep.reasons(record) { text += "<p class=\"quiet\">\(foreign(why))</p>\n" }
        return text + "<small>\(foreign("\(record.topic) \(record.partition)/\(record.offset)"))</small></li>\n"
    }

    private static func note(_ text: String) -> String { "<p class=\"quiet\">\(foreign(text))</p>\n" }

    /// A text from outside: its direction, and marks of direction in it, end with it.
    private static func foreign(_ text: String) -> String { "<bdi>\(escaped(RecordText.safe(text)))</bdi>" }

    /// As text, and as the value of an attribute in double quotes.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
