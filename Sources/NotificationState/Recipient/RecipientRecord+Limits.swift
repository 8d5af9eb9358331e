package import NotificationModel

extension RecipientRecord {
    /// The latest notifications of a category that counted for its cap.
    package struct CappedCategory: Sendable, Hashable {
        /// The category; empty for notifications without one.
        package var category: String
        /// When they were let through, the oldest first.
        package var times: [Timestamp]
        /// The largest count and the longest period, in milliseconds, of the caps that asked: requests of one category may have
        /// different ones. Times beyond them are not kept.
        package var (count, period): (Int, Int64) = (0, 0)

        /// A count.
        package init(category: String, times: [Timestamp] = []) { (self.category, self.times) = (category, times) }

        /// Whether there is room in a cap for one more, which is counted then.
        fileprivate mutating func admit(_ cap: DeliveryCap, at now: Timestamp) -> Bool {
            (count, period) = (max(count, cap.count), max(period, cap.period))
            let start = now.adding(milliseconds: -cap.period)
            guard times.lazy.filter({ $0 > start && $0 <= now }).count < cap.count else { return false }
            let horizon = now.adding(milliseconds: -period)
            times.removeAll { $0 <= horizon }
            times.append(now)
            if times.count > count { times.removeFirst(times.count - count) }
            return true
        }
    }

    /// Notifications that wait to be sent as one.
    package struct DigestWindow: Sendable, Hashable {
        /// What its members share: `thread:` or `category:` and its identifier.
        package var group: String
        /// When it ends.
        package var until: Timestamp
        /// The identifiers of its members, in the order of arrival. One that waits no more is passed over.
        package var members: [String]

        /// A window.
        package init(group: String, until: Timestamp, members: [String]) {
            (self.group, self.until, self.members) = (group, until, members)
        }
    }

    /// Counts a notification for the cap of its category, unless the cap is reached.
    ///
    /// - Parameters:
    ///   - category: the category of the notification; empty for one without.
    ///   - cap: how many it may have within which period.
    ///   - now: the instant of the send.
    ///   - bytes: about what all counts may have; beyond it, the categories used longest ago are forgotten.
    /// - Returns: whether it may be sent.
    package mutating func count(
        _ category: String,
        within cap: DeliveryCap,
        at now: Timestamp,
        bytes: Int = .max
    ) -> Bool {
        let index =
            capped.firstIndex { $0.category.hasSameUTF8(as: category) }
            ?? {
                // The one that was used longest ago makes room.
                if capped.count >= ModelLimits.cappedCategories { capped.removeFirst() }
                capped.append(CappedCategory(category: category))
                return capped.count - 1
            }()
        let isAdmitted = capped[index].admit(cap, at: now)
        // Also where it is refused: a category that is always at its cap must not be forgotten before others.
        capped.append(capped.remove(at: index))
        while capped.count > 1, cappedBytes > bytes { capped.removeFirst() }
        return isAdmitted
    }

    /// Adds a notification to the window of its group, which begins with the first one.
    ///
    /// - Returns: when the window ends: at once when it is full; nil when it was full before.
    package mutating func collect(
        _ identifier: String,
        into group: String,
        for policy: DigestPolicy,
        at now: Timestamp
    ) -> Timestamp? {
        digests.removeAll { $0.members.isEmpty && $0.until <= now }
        guard let index = digests.firstIndex(where: { $0.group.hasSameUTF8(as: group) }) else {
            let until = now.adding(milliseconds: policy.window)
            digests.append(DigestWindow(group: group, until: until, members: [identifier]))
            return until
        }
        guard digests[index].members.count < ModelLimits.digestMembers else { return nil }
        // Its members are held back: what comes now has a window of its own.
        if digests[index].until <= now { digests[index].until = now.adding(milliseconds: policy.window) }
        if !digests[index].members.contains(where: { $0.hasSameUTF8(as: identifier) }) {
            digests[index].members.append(identifier)
        }
        if digests[index].members.count >= ModelLimits.digestMembers { digests[index].until = now }
        return digests[index].until
    }

    /// A member of a window waits no more. An empty window stays until its end: a stream of updates must not postpone it.
    ///
    /// - Returns: whether it was a member.
    package mutating func leaveDigest(_ identifier: String, of group: String) -> Bool {
        guard let index = digests.firstIndex(where: { $0.group.hasSameUTF8(as: group) }),
            let member = digests[index].members.firstIndex(where: { $0.hasSameUTF8(as: identifier) })
        else { return false }
        digests[index].members.remove(at: member)
        return true
    }

    /// Until when the counts of caps are needed; nil without any.
    package var capsEnd: Timestamp? {
        capped.compactMap { used in used.times.last.map { $0.adding(milliseconds: used.period) } }.max()
    }

    /// The window of a group has ended, and its members are sent.
    ///
    /// - Parameter held: the identifiers of those that go on waiting; it stays open for them.
    package mutating func endDigest(of group: String, except held: [String]) {
        guard let index = digests.firstIndex(where: { $0.group.hasSameUTF8(as: group) }) else { return }
        if held.isEmpty { digests.remove(at: index) } else { digests[index].members = held }
    }
}

extension RecipientRecord.CappedCategory: StatePart, JSONWritable {
    private enum Field: FieldName {
        case category, times, count, period
    }

    var form: Int { StateForm.devices }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var category: String?
        var times: [Timestamp] = []
        var (count, period): (Int64, Int64) = (0, 0)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .category: category = scanner.materialise(try scanner.string())
            case .times:
                times.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in
                    times.append(Timestamp(rawValue: try scanner.integer(in: Int64.min...Int64.max)))
                }
            case .count: count = try scanner.integer(in: 0...Int64.max)
            case .period: period = try scanner.integer(in: 0...Int64.max)
            }
        }
        self.init(category: try scanner.required(category, Field.category), times: times)
        (self.count, self.period) = (Int(count), period)
    }

    /// The times are milliseconds since 1970: there may be many.
    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.category, category, &out)
        object.member(Field.times, times.map(\.rawValue), &out)
        object.member(Field.count, Int64(count), &out)
        object.member(Field.period, period, &out)
        object.end(&out)
    }
}

extension RecipientRecord.DigestWindow: StatePart, JSONWritable {
    private enum Field: FieldName {
        case group, until, members
    }

    var form: Int { StateForm.devices }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (group, until): (String?, Timestamp?)
        var members: [String] = []
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .group: group = scanner.materialise(try scanner.string())
            case .until: until = try scanner.timestamp()
            case .members:
                members.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in
                    members.append(scanner.materialise(try scanner.string()))
                }
            }
        }
        self.init(
            group: try scanner.required(group, Field.group),
            until: try scanner.required(until, Field.until),
            members: members
        )
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.group, group, &out)
        object.member(Field.until, until, &out)
        object.member(Field.members, members, &out)
        object.end(&out)
    }
}
