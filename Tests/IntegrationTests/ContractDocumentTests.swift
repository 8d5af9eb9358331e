import Foundation
import Testing

/// The OpenAPI and AsyncAPI documents that the services serve.
@Suite("The documents of the interfaces and the topics", .timeLimit(.minutes(15)))
struct ContractDocumentTests {
    private static func withServices(_ body: (_ stack: Stack, _ queries: String) async throws -> Void) async throws {
        let stack = try await Stack.start(["CARILLON_QUERIES_ENABLED": "true", "CARILLON_QUERIES_PORT": "0"])
        do {
            try await body(stack, "http://127.0.0.1:\(try await stack.consumer.port("query API listens"))")
        } catch {
            Issue.record(error, "\(stack.producer.child.lastWords)\n\(stack.consumer.child.lastWords)")
        }
        try await stack.stop()
    }

    @Test("have every route of the services and no other, and calls of all kinds get the answers that they describe")
    func live() async throws {
        try await Self.withServices { stack, queries in
            _ = try await ChildProcess.run(
                try Tools.python(),
                [
                    Tools.client("documents/compare.py"), try await stack.producer.http, queries,
                    try await stack.producer.ops, try await stack.consumer.ops,
                ]
            )
        }
    }

    @Test("make Python clients that publish, list, cancel, and read a problem")
    func generatedClient() async throws {
        let folder = try TemporaryFolder()
        try await Self.withServices { stack, queries in
            _ = try await ChildProcess.run(
                try Tools.python(),
                [Tools.client("documents/generated_client.py"), try await stack.producer.http, queries, folder.path]
            )
        }
    }

    @Test(
        "make TypeScript clients that do the same, with types that are checked",
        .enabled(if: (try? Tools.program("java")) != nil, "java is not installed: the generator needs it")
    )
    func typeScriptClient() async throws {
        let folder = try TemporaryFolder()
        try await Self.withServices { stack, queries in
            _ = try await ChildProcess.run(
                try Tools.python(),
                [Tools.client("documents/typescript_client.py"), try await stack.producer.http, queries, folder.path]
            )
        }
    }
}
