import Foundation
import Testing
import TestSupport

/// `carillon apns-simulator` as a process, in a folder of its own.
struct APNsSimulatorProcess {
    let folder: TemporaryFolder
    let child: ChildProcess
    /// What it has printed, by the first word of each line.
    let places: [String: String]

    init() async throws {
        folder = try TemporaryFolder()
        let ports = ["--production", "127.0.0.1:0", "--development-port", "0", "--control-port", "0"]
        child = try ChildProcess(
            try Tools.product("carillon"),
            ["apns-simulator", "--directory", folder.file("apns")] + ports
        )
        var places: [String: String] = [:]
        try await eventually("the simulator listens", orSay: { [child] in child.lastWords }) { [child] in
            for line in child.outputLines {
                let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
                if words.count == 2 { places["\(words[0])"] = words[1].trimmingCharacters(in: .whitespaces) }
            }
            return places.count == 5
        }
        self.places = places
    }

    func place(_ name: String) throws -> String { try #require(places[name]) }

    func port(_ name: String) throws -> String {
        try #require(try place(name).split(separator: ":").last.map(String.init))
    }

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

    func register(_ topic: String = "com.example.shop", device: String = "phone") async throws -> String {
        let answer = try await control("POST", "/v1/devices/\(device)/tokens", #"{"topic":"\#(topic)"}"#)
        return try #require(answer["token"] as? String)
    }
}
