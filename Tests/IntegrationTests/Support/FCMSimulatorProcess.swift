import Foundation
import Testing
import TestSupport

/// `carillon fcm-simulator` as a process, in a folder of its own.
struct FCMSimulatorProcess {
    let folder: TemporaryFolder
    let child: ChildProcess
    /// What it has printed, by the first word of each line.
    private let places: [String: String]

    init() async throws {
        folder = try TemporaryFolder()
        child = try ChildProcess(
            try Tools.product("carillon"),
            ["fcm-simulator", "--directory", folder.file("fcm"), "--listen", "127.0.0.1:0", "--control-port", "0"]
        )
        var places: [String: String] = [:]
        try await eventually("the simulator listens", orSay: { [child] in child.lastWords }) { [child] in
            for line in child.outputLines {
                let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
                if words.count == 2 { places["\(words[0])"] = words[1].trimmingCharacters(in: .whitespaces) }
            }
            return places.count == 4
        }
        self.places = places
    }

    func place(_ name: String) throws -> String { try #require(places[name]) }

    func control(_ method: String, _ path: String, _ json: String = "{}") async throws -> [String: Any] {
        let answer = try await Curl.send(
            method,
            "\(try place("control"))\(path)",
            headers: [("content-type", "application/json")],
            body: method == "GET" ? nil : Data(json.utf8)
        )
        #expect((200..<300).contains(answer.status), "\(answer.text)")
        return JSONText.object(Data(answer.text.utf8)) ?? [:]
    }

    func register(device: String = "phone") async throws -> String {
        let answer = try await control("POST", "/v1/devices/\(device)/tokens", #"{"package":"com.example.shop"}"#)
        return try #require(answer["token"] as? String)
    }

    /// The titles that a device shows.
    func titles(_ device: String) async throws -> [String] {
        let apps = try await control("GET", "/v1/devices/\(device)")["apps"] as? [[String: Any]]
        return (apps?.first?["shown"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
    }

    /// The bodies of the messages that a device has got, as lines of JSON.
    func bodies(_ device: String) async throws -> [String] {
        let messages = try await control("GET", "/v1/devices/\(device)/messages")["messages"] as? [[String: Any]]
        return try (messages ?? []).map { message in
            let body = try JSONSerialization.data(withJSONObject: ["message": try #require(message["message"])])
            return String(decoding: body, as: UTF8.self)
        }
    }
}
