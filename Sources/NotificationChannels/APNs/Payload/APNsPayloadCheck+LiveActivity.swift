import NotificationModel

extension APNsPayloadCheck {
    /// The members of `aps` of a Live Activity.
    mutating func checkActivity(_ aps: JSONValue) {
        let event = aps["event"]?.stringValue.flatMap(LiveActivityPush.Event.Name.init(rawValue:))
        if event == nil { refuse("aps.event", "must be start, update or end") }
        checkSeconds("timestamp", aps, isRequired: true)
        checkSeconds("stale-date", aps, isRequired: false)
        checkSeconds("dismissal-date", aps, isRequired: false)
        if let state = aps["content-state"] {
            if state.objectValue == nil { refuse("aps.content-state", "must be an object") }
        } else if event != .end {
            refuse("aps.content-state", "is missing")
        }
        if event == .start { checkStart(aps) }
        if aps["dismissal-date"] != nil, event != .end { warn("aps.dismissal-date", "is for the event end") }
        if let token = aps["input-push-token"], token != .number("1") {
            refuse("aps.input-push-token", "must be the number 1, or left out")
        }
        if aps["input-push-channel"] != nil {
            if aps["input-push-channel"]?.stringValue == nil { refuse("aps.input-push-channel", "must be a text") }
            if aps["input-push-token"] != nil {
                refuse("aps.input-push-channel", "excludes input-push-token: updates come one way or the other")
            }
        }
        for name in ["input-push-token", "input-push-channel", "attributes-type", "attributes"]
        where aps[name] != nil && event != nil && event != .start {
            warn("aps.\(name)", "is for the event start")
        }
    }

    private mutating func checkStart(_ aps: JSONValue) {
        if aps["attributes-type"]?.stringValue?.isEmpty != false { refuse("aps.attributes-type", "is missing") }
        if aps["attributes"]?.objectValue == nil { refuse("aps.attributes", "is missing, or no object") }
        guard let alert = aps["alert"] else { return refuse("aps.alert", "is missing: a start must show one") }
        for name in ["title", "body"] where alert[name] == nil {
            refuse("aps.alert.\(name)", "is missing: a start must show it")
        }
    }

    private mutating func checkSeconds(_ name: String, _ aps: JSONValue, isRequired: Bool) {
        guard let value = aps[name] else {
            if isRequired { refuse("aps.\(name)", "is missing") }
            return
        }
        if value.integerValue == nil { refuse("aps.\(name)", "must be whole seconds since 1970") }
    }
}
