import NotificationModel

/// The size of a record, which has to fit a record of the topic `state`.
extension RecipientRecord {
    /// About the bytes of its JSON, rather more than less.
    package var bytes: Int { sharedBytes + retiredBytes + digestBytes + 100 * removals.count }

    /// The part of active devices, regions and counts for caps, which have one room. The ids of removals have another, as those of an
    /// entry (`RecordBound.aroundContent`).
    package var sharedBytes: Int {
        var bytes = 384 + 100 * devices.count + cappedBytes
        for index in registrations.indices where registrations[index].isActive { bytes += registrations[index].bytes }
        for region in regions { bytes += 384 + region.identifier.utf8.count + region.sides.count }
        return bytes
    }

    /// The part of retired devices.
    package var retiredBytes: Int {
        var bytes = 0
        for index in registrations.indices where !registrations[index].isActive { bytes += registrations[index].bytes }
        return bytes
    }

    /// The part of the digests.
    package var digestBytes: Int { digests.reduce(0) { $0 + $1.bytes } }

    /// The part of the counts for caps.
    var cappedBytes: Int {
        capped.reduce(0) { $0 + 96 + Self.bytes($1.category) + 16 * $1.times.count }
    }

    /// Text of the outside may have escapes in JSON.
    fileprivate static func bytes(_ text: String) -> Int { 6 * text.utf8.count }
}

extension RecipientRecord.RegisteredDevice {
    /// About the bytes of its JSON, rather more than less: settings with all names have 480.
    package var bytes: Int {
        var bytes = 400 + (registration.settings.isEmpty ? 0 : 500) + RecipientRecord.bytes(name)
        bytes += registration.platform.utf8.count + 2 * registration.token.utf8.count
        if let text = registration.bundleIdentifier { bytes += 24 + RecipientRecord.bytes(text) }
        if let text = registration.locale { bytes += 24 + RecipientRecord.bytes(text) }
        if let text = registration.timeZone { bytes += 24 + RecipientRecord.bytes(text) }
        if let text = registration.appVersion { bytes += 24 + RecipientRecord.bytes(text) }
        switch registration.liveActivity {
        case .start(let type)?: bytes += 24 + RecipientRecord.bytes(type)
        case .activity(let identifier, let start)?:
            bytes += 48 + RecipientRecord.bytes(identifier) + (start.map(RecipientRecord.bytes) ?? 0)
        case nil: break
        }
        return bytes
    }
}

extension RecipientRecord.DigestWindow {
    /// About the bytes of its JSON, rather more than less.
    package var bytes: Int {
        members.reduce(96 + RecipientRecord.bytes(group)) { $0 + 4 + RecipientRecord.bytes($1) }
    }
}
