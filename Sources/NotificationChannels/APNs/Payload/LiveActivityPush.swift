package import NotificationModel

/// A push that starts, updates or ends a Live Activity.
///
/// The three are the request, the replacement and the removal of one identifier. Of several the one with the newest timestamp
/// counts, so the timestamp is the request's version, in seconds since 1970.
package struct LiveActivityPush: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        package enum Name: String, CaseIterable, Sendable {
            case start, update, end
        }

        /// Sent to the token of a type of activities; there must be an alert.
        ///
        /// - Parameters:
        ///   - attributesType: the name of the app's `ActivityAttributes`.
        ///   - attributes: what it decodes, an object.
        ///   - updates: how the new activity gets its updates.
        case start(attributesType: String, attributes: JSONValue, updates: Updates?)
        /// Sent to the token of an activity.
        case update
        /// - Parameter dismissal: when it disappears; nil for four hours later, the past for at once.
        case end(dismissal: Timestamp?)

        package var name: Name {
            switch self {
            case .start: .start
            case .update: .update
            case .end: .end
            }
        }
    }

    /// How an activity that a push started gets its updates.
    package enum Updates: Hashable, Sendable {
        /// By a token of its own, which the app reports.
        case token
        /// By a broadcast channel.
        case channel(id: String)
    }

    /// What an update may show as an alert: texts, or localization keys.
    package struct Alert: Hashable, Sendable {
        package enum Text: Hashable, Sendable {
            case plain(String)
            case localized(Localization)
        }

        package var title: Text
        package var body: Text
        package var sound: String?

        package init(title: Text, body: Text, sound: String? = nil) {
            (self.title, self.body, self.sound) = (title, body, sound)
        }
    }

    package var event: Event
    /// Seconds since 1970; a device ignores what is older than what it has.
    package var timestamp: Int64
    /// What the app's `ContentState` decodes with the default `JSONDecoder`, an object; required but for an end.
    package var contentState: JSONValue?
    package var alert: Alert?
    /// From then on it counts as outdated.
    package var staleDate: Timestamp?
    /// Any number: the highest is shown first.
    package var relevanceScore: Double?

    package init(
        _ event: Event,
        timestamp: Int64,
        contentState: JSONValue?,
        alert: Alert? = nil,
        staleDate: Timestamp? = nil,
        relevanceScore: Double? = nil
    ) {
        (self.event, self.timestamp, self.contentState, self.alert) = (event, timestamp, contentState, alert)
        (self.staleDate, self.relevanceScore) = (staleDate, relevanceScore)
    }

    /// The push. What is wrong with it is in its ``APNsPush/problems(hasCertificate:)``.
    ///
    /// - Parameters:
    ///   - id: of the operation.
    ///   - bundle: the app's bundle identifier.
    ///   - isUrgent: at once, which counts for the hourly budget of the device.
    package func push(id: UUIDValue?, bundle: String, isUrgent: Bool) -> APNsPush {
        var headers = APNsHeaders(.liveactivity, bundle: bundle, id: id)
        if isUrgent { headers.priority = .immediate }
        return APNsPush(headers: headers, payload: payload)
    }

    private var payload: [UInt8] {
        JSONObjectWriter.object { object, out in
            object.begin("aps", &out)
            writeAPS(to: &out)
        }
    }

    private func writeAPS(to out: inout [UInt8]) {
        var aps = JSONObjectWriter()
        aps.member("timestamp", timestamp, &out)
        aps.member("event", event.name.rawValue, &out)
        if let contentState {
            aps.begin("content-state", &out)
            contentState.write(to: &out)
        }
        aps.member("alert", alert, &out)
        aps.member("stale-date", staleDate.map(Self.seconds), &out)
        aps.member("relevance-score", relevanceScore, &out)
        switch event {
        case .start(let type, let attributes, let updates):
            aps.member("attributes-type", type, &out)
            aps.begin("attributes", &out)
            attributes.write(to: &out)
            switch updates {
            case .token?: aps.member("input-push-token", Int64(1), &out)
            case .channel(let id)?: aps.member("input-push-channel", id, &out)
            case nil: break
            }
        case .update: break
        case .end(let dismissal): aps.member("dismissal-date", dismissal.map(Self.seconds), &out)
        }
        aps.end(&out)
    }

    /// APNs refuses fractions as `BadDate`.
    private static func seconds(_ instant: Timestamp) -> Int64 {
        let (seconds, rest) = instant.rawValue.quotientAndRemainder(dividingBy: 1000)
        return rest < 0 ? seconds - 1 : seconds
    }
}

extension LiveActivityPush.Alert: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("title", title, &out)
        object.member("body", body, &out)
        object.member("sound", sound, &out)
        object.end(&out)
    }
}

extension LiveActivityPush.Alert.Text: JSONWritable {
    package func writeJSON(to out: inout [UInt8]) {
        switch self {
        case .plain(let text): text.writeJSON(to: &out)
        case .localized(let localization):
            var object = JSONObjectWriter()
            object.member("loc-key", localization.key, &out)
            object.member("loc-args", localization.arguments, &out)
            object.end(&out)
        }
    }
}
