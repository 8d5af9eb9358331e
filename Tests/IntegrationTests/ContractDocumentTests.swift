import Foundation
import Testing

/// The OpenAPI and AsyncAPI documents that the services serve.
@Suite("The documents of the interfaces and the topics", .timeLimit(.minutes(15)))
struct ContractDocumentTests {
    @Test("have every route of the services and no other, and calls of all kinds get the answers that they describe")
    func live() async throws {
        let stack = try await Stack.start(["CARILLON_QUERIES_ENABLED": "true", "CARILLON_QUERIES_PORT": "0"])
        do {
            let queries = try await stack.consumer.port("query API listens")
            _ = try await ChildProcess.run(
                try Tools.python(),
                [
                    Tools.client("documents/compare.py"), try await stack.producer.http, "http://127.0.0.1:\(queries)",
                    try await stack.producer.ops, try await stack.consumer.ops,
                ]
            )
        } catch {
            Issue.record(error, "\(stack.producer.child.lastWords)\n\(stack.consumer.child.lastWords)")
        }
        try await stack.stop()
    }
}
