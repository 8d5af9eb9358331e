import CarillonServices
import NotificationProducer
import ServiceSupport
import Testing

/// The page of bounds against the settings that the code declares.
@Suite("The table of bounds")
struct BoundsTests {
    /// Settings that are not bounds: addresses, and those of the test channel.
    private static let others: Set = [
        "http.port", "ops.port", "queries.port", "test-channel.latency", "test-channel.rejections",
        "test-channel.timeouts",
    ]

    private func declared() throws -> [String: DeclaredSetting] {
        let environment = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]
        var settings = try ServiceSettings(environment: environment, file: nil)
        _ = ProducerServiceConfiguration(settings: &settings)
        _ = OpsConfiguration(settings: &settings, defaultPort: 0)
        var consumer = try ServiceSettings(environment: environment, file: nil)
        _ = ConsumerSettings(settings: &consumer)
        let all = settings.declaredKeys + consumer.declaredKeys
        return Dictionary(all.map { ($0.key, $0) }) { first, _ in first }
    }

    @Test("names every setting that is a number or a time, with its default")
    func settings() throws {
        let declared = try declared()
        let rows = try BoundsTable().rows
        #expect(rows.count > 15)
        let named = Set(rows.map(\.key))
        #expect(named.count == rows.count)
        for setting in declared.values where setting.kind == .integer || setting.kind == .duration {
            guard !Self.others.contains(setting.key) else { continue }
            #expect(named.contains(setting.key), "\(setting.key) is not in the table")
        }
        for row in rows {
            // Those of the process itself are declared by its main program.
            guard let setting = declared[row.key] else {
                #expect(
                    ["metrics.series", "process.shutdown.timeout", "process.stall.timeout"].contains(row.key),
                    "\(row.key) is no setting"
                )
                continue
            }
            if let value = row.defaultValue { #expect(setting.defaultValue == value, "\(row.key)") }
        }
    }
}
