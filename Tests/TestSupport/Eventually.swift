/// A condition did not come true.
package struct NotInTimeError: Error, CustomStringConvertible {
    package let description: String
}

/// Waits for a condition, with a deadline far above the time of a successful run.
///
/// - Throws: ``NotInTimeError`` at the deadline, and what the condition throws.
package func eventually(
    _ what: String = "the condition",
    within limit: Duration = .seconds(300),
    orSay explanation: () async -> String = { "" },
    isolation: isolated (any Actor)? = #isolation,
    file: String = #fileID,
    line: Int = #line,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw NotInTimeError(description: "\(file):\(line): not within \(limit): \(what)\n\(await explanation())")
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
