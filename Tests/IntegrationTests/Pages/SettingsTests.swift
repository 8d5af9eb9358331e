import Foundation
import Testing

/// Compares the page of settings with the services' own help.
@Suite("The tables of settings", .timeLimit(.minutes(10)))
struct SettingsTests {
    /// Settings whose default is of the machine.
    private static let ofMachine: Set = ["consumer.lanes", "instance.id"]

    /// The settings of a service by key, each with its default.
    private func settings(of service: String) async throws -> [String: String?] {
        let help = try await ChildProcess.run(try Tools.product(service), ["--help-settings"]).outputText
        var found: [String: String?] = [:]
        for block in help.components(separatedBy: "\n\n").dropFirst() {
            let lines = block.split(separator: "\n")
            let head = try #require(lines.first).components(separatedBy: "  ")
            try #require(head.count == 2 && head[1].hasPrefix("CARILLON_"), "\(block)")
            let text = lines.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
            let written: String? = text.firstMatch(of: /; default (\S+)/).map { String($0.1) }
            found.updateValue(written, forKey: head[0])
        }
        try #require(found.count > 20)
        return found
    }

    @Test("name every setting of the services that read it, with its default")
    func settings() async throws {
        let producer = try await settings(of: "carillon-producer")
        let consumer = try await settings(of: "carillon-consumer")
        let both = Set(producer.keys).intersection(consumer.keys)
        for (heading, services, keys) in [
            ("Settings of both services", [producer, consumer], both),
            ("Settings of the producer service", [producer], Set(producer.keys).subtracting(both)),
            ("Settings of the consumer service", [consumer], Set(consumer.keys).subtracting(both)),
        ] {
            let rows = try Page.settings().table(under: heading)
            #expect(try rows.map { try #require(Page.code($0[0]), "\($0)") } == keys.sorted(), "\(heading)")
            for cells in rows {
                try #require(cells.count == 3 && !cells[2].isEmpty, "\(cells)")
                let key = try #require(Page.code(cells[0]))
                let defaults = Set(services.compactMap { $0[key] ?? nil })
                let written = Set(cells[1].matches(of: /`([^`]+)`/).map { String($0.1) })
                #expect(written == (Self.ofMachine.contains(key) ? [] : defaults), "\(key)")
            }
        }
    }
}
