import ArgumentParser
import NotificationChannels
import NotificationModel

/// The headers of a push.
struct PushHeaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The app's bundle identifier. Default: the first one of --application.",
            valueName: "name"
        )
    )
    var bundleIdentifier: String?

    @Option(
        help: ArgumentHelp(
            "apns-topic. Default: the bundle identifier with the suffix of the push type.",
            valueName: "topic"
        )
    )
    var topic: String?

    @Option(
        help: ArgumentHelp("apns-push-type. Default: what follows from the payload.", valueName: "type")
    )
    var pushType: APNsPushType?

    @Option(help: ArgumentHelp("apns-priority: 1, 5 or 10. Default: that of the push type.", valueName: "n"))
    var priority: APNsPriority?

    @Option(
        help: ArgumentHelp("apns-expiration: RFC 3339, or a time from now; 0 tries once.", valueName: "instant")
    )
    var expiration: MomentArgument?

    @Option(help: ArgumentHelp("apns-collapse-id: replaces what has the same.", valueName: "text"))
    var collapseID: String?

    @Option(name: .customLong("id"), help: ArgumentHelp("apns-id, a UUID. Default: a random one.", valueName: "uuid"))
    var pushID: UUIDArgument?

    /// - Parameters:
    ///   - pushType: Unless there is an option.
    ///   - bundle: Unless there is an option.
    ///   - id: Unless there is an option.
    /// - Throws: `ValidationError` when nothing says what the topic is.
    func headers(
        _ pushType: APNsPushType,
        bundle: String?,
        id: UUIDValue,
        at now: Timestamp
    ) throws -> APNsHeaders {
        let type = self.pushType ?? pushType
        guard let bundle = bundleIdentifier ?? bundle ?? topic else {
            throw ValidationError("--bundle-identifier or --topic is needed: which app is it for?")
        }
        var headers = APNsHeaders(
            type,
            bundle: bundle,
            id: pushID?.value ?? id,
            priority: priority,
            expiration: expiration.map { Self.seconds($0, at: now) },
            collapseID: collapseID
        )
        if let topic { headers.topic = topic }
        return headers
    }

    /// Applies the options to headers that follow from a content.
    func change(_ headers: inout APNsHeaders, at now: Timestamp) {
        if let priority { headers.priority = priority }
        if let expiration { headers.expiration = Self.seconds(expiration, at: now) }
        if let collapseID { headers.collapseID = collapseID }
        if let topic { headers.topic = topic }
        if let pushID { headers.id = pushID.value }
    }

    private static func seconds(_ expiration: MomentArgument, at now: Timestamp) -> Int64 {
        if case .span(let span) = expiration, span.milliseconds == 0 { return 0 }
        return APNsHeaders.expiration(expiration.after(now))
    }
}

/// A UUID on the command line, in any case of letters.
struct UUIDArgument: ExpressibleByArgument {
    var value: UUIDValue

    init?(argument: String) {
        let value = Array(argument.lowercased().utf8).withUnsafeBytes { UUIDValue(canonical: $0) }
        guard let value else { return nil }
        self.value = value
    }
}
