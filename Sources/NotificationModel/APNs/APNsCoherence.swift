/// Rules of Apple about the parts of a notification that belong together: the same for a content at the door and for a payload on
/// its way to APNs.
package struct APNsCoherence: Hashable, Sendable {
    /// What does not belong together.
    package enum Problem: Hashable, Sendable {
        /// Nothing changes a notification without an alert's text: neither a service extension nor an enrichment runs.
        case mutableWithoutText
        /// A passive notification plays no sound.
        case criticalSoundOfPassive
        /// A critical sound beside another level.
        case criticalSoundOfOtherLevel
        /// The level alone plays nothing.
        case criticalLevelWithoutSound

        /// Whether the sender gets something else than was asked for on every device.
        var isCertain: Bool {
            switch self {
            case .mutableWithoutText, .criticalSoundOfPassive: true
            case .criticalSoundOfOtherLevel, .criticalLevelWithoutSound: false
            }
        }
    }

    /// There is a title, subtitle or body that is not empty, or the localization of one.
    package var hasText = false
    /// The content may be changed before it is shown.
    package var isMutable = false
    /// Nil when none is given.
    package var level: InterruptionLevel?
    package var hasCriticalSound = false
    /// A Live Activity can be started with it.
    var startsActivity = false
    /// There are a title and a body, or their localizations.
    var hasWholeAlert = false
    /// The values of `userInfo`, in the scanned bytes.
    var userInfo: Range<Int>?
    /// One of them has a name that the payload needs for itself.
    var hasReservedName = false

    package init() {}

    /// What does not belong together.
    package var problems: [Problem] {
        var problems: [Problem] = []
        if isMutable, !hasText { problems.append(.mutableWithoutText) }
        switch level {
        case .passive? where hasCriticalSound: problems.append(.criticalSoundOfPassive)
        case .active? where hasCriticalSound, .timeSensitive? where hasCriticalSound:
            problems.append(.criticalSoundOfOtherLevel)
        case .critical? where !hasCriticalSound: problems.append(.criticalLevelWithoutSound)
        default: break
        }
        return problems
    }

    /// Whether a member beside `aps` has a name that the payload needs for itself.
    package static func isReserved(_ name: FieldName) -> Bool {
        name == "aps" || name == FieldName(stringLiteral: ownMember)
    }

    /// The member for the app's answers to Carillon.
    package static let ownMember: StaticString = "carillon"

    /// Bytes of a payload, but for VoIP.
    package static let payloadBytes = 4096

    // MARK: - At the door

    /// Refuses a content that no Apple device can be given as it is meant. What depends on the device, its settings or a later
    /// change is left to the channel.
    ///
    /// Throws `invalid`, or `payload-too-large` when `userInfo` alone fills more than a payload, with the field.
    ///
    /// - Parameters:
    ///   - scanner: of the request.
    ///   - channel: that the request names.
    func check(_ scanner: JSONScanner, channel: ChannelName?) throws(ModelError) {
        for problem in problems where problem.isCertain {
            switch problem {
            case .mutableWithoutText:
                throw ModelError(
                    .invalid,
                    field: "content.mutableContent",
                    "has no effect without a title, subtitle or body"
                )
            case .criticalSoundOfPassive:
                throw ModelError(
                    .invalid,
                    field: "content.sound.critical",
                    "is not played by a passive notification: choose the interruptionLevel critical"
                )
            case .criticalSoundOfOtherLevel, .criticalLevelWithoutSound: break
            }
        }
        guard let userInfo else { return }
        if hasReservedName { try refuseNames(scanner, at: userInfo.lowerBound) }
        // An enrichment may make it shorter.
        guard channel == .apns, !isMutable, userInfo.count > Self.payloadBytes else { return }
        var scanner = scanner
        scanner.position = userInfo.lowerBound
        var shortest: [UInt8] = []
        try scanner.copyValue(to: &shortest)
        guard shortest.count > Self.payloadBytes else { return }
        throw ModelError(
            .payloadTooLarge,
            field: "content.userInfo",
            "has \(shortest.count) bytes, and a whole payload of APNs at most \(Self.payloadBytes)"
        )
    }

    /// Refuses a request for a Live Activity that no device could be given.
    ///
    /// Throws `invalid`, with the field.
    func checkActivity(of request: ScannedRequest) throws(ModelError) {
        if startsActivity, !hasWholeAlert {
            throw ModelError(
                .invalid,
                field: "content.liveActivity.attributes",
                "start an activity, which must show an alert: set the title and the body of the content"
            )
        }
        if hasCriticalSound {
            throw ModelError(.invalid, field: "content.sound", "of a Live Activity is a name, never critical")
        }
        switch request.channel {
        case .apns?, .devices?, nil: break
        case .events?, .webhook?, .test?, .fcm?, .webpush?:
            throw ModelError(.invalid, field: "channel", "must be devices or apns for a Live Activity")
        }
        if request.limits?.digest != nil {
            throw ModelError(.invalid, field: "digest", "cannot fold Live Activities")
        }
        // Milliseconds, or a count, would be another order than that of the device.
        if let version = request.version, !Self.activityVersions.contains(version) {
            throw ModelError(
                .invalid,
                field: "version",
                "of a Live Activity is its timestamp, in whole seconds since 1970"
            )
        }
    }

    /// From 2001 to 2286.
    static let activityVersions: ClosedRange<Int64> = 1_000_000_000...9_999_999_999

    private func refuseNames(_ scanner: JSONScanner, at position: Int) throws(ModelError) {
        var scanner = scanner
        scanner.position = position
        do throws(ModelError) {
            try scanner.object { scanner, name throws(ModelError) in
                if try scanner.field(name, { Self.isReserved($0) ? true : nil }) != nil {
                    throw ModelError(.invalid, field: "", "is a name that the payload needs for itself")
                }
                try scanner.skipValue()
            }
        } catch {
            throw error.inside("userInfo").inside("content")
        }
    }
}
