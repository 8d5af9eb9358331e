/// The part of each day in which the recipient must not be disturbed:
/// `{"start":"22:00","end":"07:00","policy":"hold","timeZone":"Europe/Berlin"}`.
///
/// Critical notifications pass.
public struct QuietHours: Sendable, Hashable {
    /// What becomes of a notification that is due in the quiet time.
    public enum Policy: String, CaseIterable, Sendable, Hashable {
        /// It is sent at the end of the quiet time.
        case hold
        /// It is not sent.
        case suppress
    }

    /// The minute of the day at which the quiet time begins, inclusive; 0 to 1439.
    public var start: Int
    /// The minute of the day at which it ends, exclusive; 0 to 1439, not ``start``. One before the start is of the next day.
    public var end: Int
    /// What becomes of a notification that is due in it.
    public var policy: Policy
    /// A name of the IANA time zone database; nil for the recipient's zone.
    public var timeZone: String?

    /// Quiet hours.
    ///
    /// - Parameters:
    ///   - start: the first minute of the day that is quiet.
    ///   - end: the first minute of the day that is not quiet any more.
    ///   - policy: what becomes of a notification that is due in the quiet time.
    ///   - timeZone: nil for the recipient's zone.
    public init(start: Int, end: Int, policy: Policy = .hold, timeZone: String? = nil) {
        (self.start, self.end, self.policy, self.timeZone) = (start, end, policy, timeZone)
    }

    /// When the quiet time that contains an instant ends; nil when the instant is not quiet.
    ///
    /// A start or end that a gap of the clock leaves out is the first instant after the gap. One that an overlap repeats is
    /// its first pass, so that a quiet time that has ended does not begin again. Quiet times that touch because a gap took
    /// what was between them are one.
    ///
    /// - Parameters:
    ///   - now: the instant.
    ///   - zone: on whose clock ``start`` and ``end`` are.
    public func end(containing now: Timestamp, in zone: TimeZoneRules) -> Timestamp? {
        let now = now.seconds
        let today = GregorianCalendar.floor(now + zone.span(at: now).offset, by: Self.day)
        let endDay = end > start ? 0 : Self.day
        var found: Int64?
        // Two days to each side: a zone may skip or repeat one.
        for offset in -2...2 {
            let midnight = (today + Int64(offset)) * Self.day
            let first = zone.firstInstant(of: midnight + Int64(start.clampedToDay) * 60)
            let last = zone.firstInstant(of: midnight + endDay + Int64(end.clampedToDay) * 60)
            guard first < last else { continue }
            if first <= found ?? now, last > now { found = last }
        }
        return found.map(Timestamp.init(seconds:))
    }

    /// The same on the clock of a recipient.
    ///
    /// - Parameters:
    ///   - now: the instant.
    ///   - zones: the database, and the zone for whom none is known.
    ///   - local: the name of the recipient's zone, for quiet hours that name none; nil if it is unknown.
    package func end(containing now: Timestamp, in zones: TimeZones, local: String?) -> Timestamp? {
        let zone = (timeZone ?? local).flatMap { try? zones.database.rules(named: $0) } ?? zones.standard
        return end(containing: now, in: zone)
    }

    private static let day: Int64 = 86_400
}

extension Int {
    /// A minute of the day.
    fileprivate var clampedToDay: Int { Swift.min(Swift.max(self, 0), 1439) }
}

extension TimeZoneRules {
    /// The first instant at which the clock shows a time or has passed it; in seconds, as ``instants(of:)``.
    fileprivate func firstInstant(of wall: Int64) -> Int64 {
        switch instants(of: wall) {
        case .once(let instant): instant
        case .overlap(let first, _): first
        case .gap(let before, _): span(at: wall - before).start
        }
    }
}

extension QuietHours: JSONWritable {
    fileprivate enum Field: FieldName {
        case start, end, policy, timeZone
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.start, Self.text(start), &out)
        object.member(Field.end, Self.text(end), &out)
        if policy != .hold { object.member(Field.policy, policy.rawValue, &out) }
        object.member(Field.timeZone, timeZone, &out)
        object.end(&out)
    }

    /// `07:00`.
    private static func text(_ minute: Int) -> String {
        LocalDateTime.digits(minute / 60, 2) + ":" + LocalDateTime.digits(minute % 60, 2)
    }
}

extension JSONScanner {
    mutating func quietHours(_ origin: JSONOrigin) throws(ModelError) -> QuietHours {
        var (start, end): (Int?, Int?)
        var (policy, timeZone): (QuietHours.Policy?, String?)
        try object(of: QuietHours.Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .start: start = try scanner.minuteOfDay()
            case .end: end = try scanner.minuteOfDay()
            case .policy: policy = try scanner.choice(QuietHours.Policy.self)
            case .timeZone: timeZone = try scanner.timeZone(origin)
            }
        }
        let hours = QuietHours(
            start: try required(start, QuietHours.Field.start),
            end: try required(end, QuietHours.Field.end),
            policy: policy ?? .hold,
            timeZone: timeZone
        )
        guard hours.start != hours.end else {
            throw ModelError(.invalid, field: "end", "must not be the same time as start")
        }
        return hours
    }

    /// A time of the day without seconds: `22:00`.
    private mutating func minuteOfDay() throws(ModelError) -> Int {
        let text = try string()
        let minute = try withBytes(text) { bytes throws(ModelError) -> Int? in
            guard bytes.count == 5, bytes[2] == 0x3A else { return nil }
            let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - 0x30 }
            let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
            guard digits.allSatisfy((0...9).contains), hour < 24, minute < 60 else { return nil }
            return hour * 60 + minute
        }
        guard let minute else { throw value("must be a time from 00:00 to 23:59") }
        return minute
    }
}
