import Foundation

/// An answer as curl saw it.
struct HTTPAnswer: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    /// A member of the JSON body as text.
    subscript(name: String) -> String? { JSONText.member(name, of: body) }
}

/// HTTP by a client that is not ours.
enum Curl {
    /// - Parameter options: More of curl's own, such as `--cacert`.
    static func send(
        _ method: String,
        _ url: String,
        headers: [(String, String)] = [],
        body: Data? = nil,
        options: [String] = []
    ) async throws -> HTTPAnswer {
        let folder = try TemporaryFolder()
        // --path-as-is: `..` is to arrive as it is.
        var arguments = [
            "--silent", "--show-error", "--path-as-is", "--globoff", "--max-time", "60", "--request", method,
        ]
        arguments += options
        arguments += ["--dump-header", folder.file("head"), "--output", folder.file("body")]
        for (name, value) in headers { arguments += ["--header", "\(name): \(value)"] }
        if !headers.contains(where: { $0.0.lowercased() == "content-type" }) {
            // By default curl declares the body as a form.
            arguments += ["--header", "content-type:"]
        }
        if let body {
            try body.write(to: URL(fileURLWithPath: folder.file("sent")))
            arguments += ["--data-binary", "@\(folder.file("sent"))"]
        }
        _ = try await ChildProcess.run(try Tools.program("curl"), arguments + [url])
        let head = String(decoding: FileManager.default.contents(atPath: folder.file("head")) ?? Data(), as: UTF8.self)
        // After `100 Continue` there is another.
        let last = head.components(separatedBy: "\r\n\r\n").last { !$0.isEmpty } ?? ""
        let lines = last.components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        return HTTPAnswer(
            status: lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0,
            headers: fields,
            body: FileManager.default.contents(atPath: folder.file("body")) ?? Data()
        )
    }
}

/// Reading JSON without the model that is under test.
enum JSONText {
    static func object(_ data: Data) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }

    /// A member by its dotted path: text unchanged, other values as printed.
    static func member(_ path: String, of data: Data) -> String? {
        var value: Any? = object(data)
        for name in path.split(separator: ".") { value = (value as? [String: Any])?[String(name)] }
        switch value {
        case nil: return nil
        case let text as String: return text
        // Both are NSNumber; only one of them is a boolean.
        case let number as NSNumber:
            return String(cString: number.objCType) == "c" ? "\(number.boolValue)" : "\(number)"
        case let other?: return "\(other)"
        }
    }
}
