import NotificationEnrichment
import NotificationModel
import OutboundHTTP

extension MediaReport {
    /// One JSON object on one line:
    ///
    ///     {"line":1,"url":…,"outcome":"downloaded","digest":…,"kind":"image","type":"public.png",
    ///      "mimeType":"image/png","bytes":157,"width":1,"height":1,"file":…,"steps":[{"ms":0,"step":"requested",…}…]}
    ///     {"line":2,"url":…,"outcome":"refused","reason":"address-refused","detail":…,"steps":[…]}
    ///     {"line":3,"outcome":"invalid","reason":"unknown-field","field":…,"detail":…}
    var json: [UInt8] {
        var members = JSONMembers()
        members.add("line", line)
        members.add("url", url)
        switch outcome {
        case .fetched(let media, let file):
            members.add("outcome", media.origin.rawValue)
            members.add("digest", media.stored.digest.description)
            members.add(media.facts)
            members.add("file", file)
        case .refused(let failure):
            members.add("outcome", "refused")
            members.add("reason", failure.code)
            members.add("detail", failure.detail)
        case .invalid(let error):
            members.add("outcome", "invalid")
            members.add("reason", error.reason.rawValue)
            members.add("field", error.field)
            members.add("detail", error.detail)
        }
        if url != nil { members.add("steps", .array(steps.map(\.json))) }
        return members.object.json + [0x0A]
    }
}

extension MediaReport.Step {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.add("ms", Int(clamping: after.milliseconds))
        members.add("step", step.name)
        switch step {
        case .requested(let origin): members.add("origin", origin)
        case .joined, .secured: break
        case .resolved(let addresses, let refusal):
            members.add("addresses", .array(addresses.map { .string($0.description) }))
            members.add("reason", refusal?.code.rawValue)
        case .connected(let address, let isReused):
            members.add("address", address.description)
            members.add("isReused", .bool(isReused))
        case .answered(let status, let contentType, let contentLength):
            members.add("status", status)
            members.add("contentType", contentType.map(FetchStep.cut))
            members.add("contentLength", contentLength.map { Int(clamping: $0) })
        case .redirected(let status, let origin):
            members.add("status", status)
            members.add("origin", origin)
        case .checked(let facts): members.add(facts)
        case .stored(let media), .cached(let media), .revalidated(let media):
            members.add("digest", media.digest.description)
            members.add("bytes", Int(clamping: media.bytes))
        case .refused(let failure):
            members.add("reason", failure.code)
            members.add("detail", failure.detail)
        }
        return members.object
    }
}

extension FetchStep {
    fileprivate var name: String {
        switch self {
        case .requested: "requested"
        case .joined: "joined"
        case .resolved: "resolved"
        case .connected: "connected"
        case .secured: "secured"
        case .answered: "answered"
        case .redirected: "redirected"
        case .checked: "checked"
        case .stored: "stored"
        case .cached: "cached"
        case .revalidated: "revalidated"
        case .refused: "refused"
        }
    }
}

/// The members of an object, without those that are nil.
private struct JSONMembers {
    private var members: [JSONValue.Member] = []

    var object: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name, value)) }
    }

    mutating func add(_ name: String, _ text: String?) { add(name, text.map { JSONValue.string($0) }) }

    mutating func add(_ name: String, _ number: Int?) { add(name, number.map { JSONValue.number("\($0)") }) }

    mutating func add(_ facts: MediaFacts) {
        add("kind", facts.type.kind.rawValue)
        add("type", facts.type.uniformType)
        add("mimeType", facts.type.mimeType)
        add("bytes", Int(clamping: facts.bytes))
        add("width", facts.width)
        add("height", facts.height)
    }
}
