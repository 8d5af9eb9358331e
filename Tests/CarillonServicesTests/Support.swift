import CarillonServices
import ServiceSupport

extension ConsumerSettings {
    /// What a file says beside the brokers.
    static func read(_ lines: String) throws -> ConsumerSettings {
        let yaml = "kafka: {bootstrap: {servers: \"a:9092\"}}\n\(lines)"
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "carillon.yaml")
        let configuration = ConsumerSettings(settings: &settings)
        try settings.finish()
        return configuration
    }

    /// The keys of what is wrong.
    static func problems(_ lines: String) -> [String] {
        do {
            _ = try read(lines)
            return []
        } catch let error as ServiceSettingsError {
            return error.problems.map(\.key)
        } catch {
            return ["\(error)"]
        }
    }
}
