import NotificationChannels
import NotificationModel
import OutboundHTTP

/// What `carillon push` says, for people and as JSON. It never has a provider token.
enum PushReport {
    /// The request as it goes out.
    static func request(_ plan: PushPlan, to origin: String, by provider: String?) -> String {
        var lines = ["POST \(origin)\(APNsPush.path(to: plan.token))"]
        lines += plan.push.headers.fields.map { "\($0.name): \($0.value)" }
        if let provider { lines.append(provider) }
        lines.append("content-length: \(plan.push.payload.count)")
        lines += ["", String(decoding: plan.push.payload, as: UTF8.self)]
        return lines.map { RecordText.safe($0) + "\n" }.joined()
    }

    /// How the request shows who sends it.
    static func provider(_ credentials: APNsCredentials) -> String {
        switch credentials {
        case .tokens(let tokens): "authorization: bearer … (key \(tokens.keyID) of team \(tokens.teamID))"
        case .certificate: "(with a client certificate)"
        }
    }

    /// What was found before it was sent; empty when there is nothing.
    static func findings(_ plan: PushPlan) -> String {
        var lines = plan.problems.map { "\($0.severity.rawValue): \($0.field): \($0.detail)" }
        lines += plan.push.changes.map { "changed: \($0)" }
        switch plan.asContent {
        case .success(let existing)?:
            lines.append("as content: \(String(decoding: existing.content.json, as: UTF8.self))")
            if !existing.unsaid.isEmpty { lines.append("no content says: \(existing.unsaid.joined(separator: ", "))") }
        case .failure(let error)?:
            lines.append("as content: \(error)")
        case nil: break
        }
        return lines.map { RecordText.safe($0) + "\n" }.joined()
    }

    /// The answer, with what the service would do.
    static func answer(_ answer: APNsAnswer) -> String {
        var lines = [
            "\(answer.status) \(answer.reasonText ?? (answer.action == .accept ? "accepted" : "without a reason"))"
        ]
        if let reason = answer.reason { lines[0] += ": \(reason.meaning)" }
        if let timestamp = answer.timestamp { lines.append("since: \(timestamp)") }
        if let pause = answer.retryAfter { lines.append("not before: \(pause / 1000) s") }
        if let id = answer.id { lines.append("apns-id: \(id)") }
        if let id = answer.uniqueID { lines.append("apns-unique-id: \(id)") }
        lines.append("then: \(answer.action.explanation)")
        return lines.map { RecordText.safe($0) + "\n" }.joined()
    }

    /// Why there is no answer.
    static func failure(_ failure: OutboundFailure) -> String {
        let isKnown = failure.isSent ? "it may have arrived" : "it has not arrived"
        return "no answer, \(isKnown): \(failure)"
    }

    /// All of it as one JSON object.
    ///
    /// - Parameter outcome: Nil for a dry run, or for a push that is not sent.
    static func json(_ plan: PushPlan, to origin: String, _ outcome: PushSender.Outcome?) -> [UInt8] {
        var members: [JSONValue.Member] = [
            .init("url", .string(origin + APNsPush.path(to: plan.token))),
            .init("headers", .object(plan.push.headers.fields.map { .init($0.name, .string($0.value)) })),
            .init("payload", (try? JSONValue.parse(plan.push.payload)) ?? .null),
            .init("bytes", .number("\(plan.push.payload.count)")),
            .init(
                "problems",
                .array(
                    plan.problems.map { problem in
                        .object([
                            .init("severity", .string(problem.severity.rawValue)),
                            .init("field", .string(problem.field)),
                            .init("detail", .string(problem.detail)),
                        ])
                    }
                )
            ),
            .init("changes", .array(plan.push.changes.map { .string($0.description) })),
        ]
        if case .success(let existing)? = plan.asContent {
            members.append(.init("content", (try? JSONValue.parse(existing.content.json)) ?? .null))
            members.append(.init("unsaid", .array(existing.unsaid.map { .string($0) })))
        }
        switch outcome {
        case .answer(let answer)?:
            members.append(.init("status", .number("\(answer.status)")))
            func add(_ name: String, _ text: String?) {
                if let text { members.append(.init(name, .string(text))) }
            }
            add("reason", answer.reasonText)
            add("timestamp", answer.timestamp?.rfc3339)
            add("apns-id", answer.id)
            add("apns-unique-id", answer.uniqueID)
            add("then", answer.action.explanation)
        case .failure(let failure)?:
            members.append(.init("failure", .string(failure.description)))
            members.append(.init("sent", .bool(failure.isSent)))
        case nil: break
        }
        return JSONValue.object(members).json + [0x0A]
    }
}
