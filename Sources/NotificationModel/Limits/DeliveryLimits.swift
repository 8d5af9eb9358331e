/// What holds a notification back or limits it, beside its trigger: the members `quietHours`, `cap` and `digest` of a
/// request.
///
/// A class, so that entries stay small; equal by value.
public final class DeliveryLimits: Sendable, Hashable {
    /// When the recipient must not be disturbed.
    public let quietHours: QuietHours?
    /// How many notifications the recipient may get.
    public let cap: DeliveryCap?
    /// How several notifications become one.
    public let digest: DigestPolicy?

    /// Limits; nil when all are nil.
    public convenience init?(
        quietHours: QuietHours? = nil,
        cap: DeliveryCap? = nil,
        digest: DigestPolicy? = nil
    ) {
        guard quietHours != nil || cap != nil || digest != nil else { return nil }
        self.init(quietHours, cap, digest)
    }

    private init(_ quietHours: QuietHours?, _ cap: DeliveryCap?, _ digest: DigestPolicy?) {
        (self.quietHours, self.cap, self.digest) = (quietHours, cap, digest)
    }

    /// Checks that a database has the zone that the quiet hours name. Throws `invalid` at `quietHours.timeZone`, and
    /// `internal` for a zone whose file is damaged.
    public func check(zones: TimeZoneDatabase) throws(ModelError) {
        guard let name = quietHours?.timeZone else { return }
        do throws(TimeZoneError) {
            _ = try zones.rules(named: name)
        } catch {
            throw error.modelError.inside("quietHours")
        }
    }

    /// Compares the values.
    public static func == (left: DeliveryLimits, right: DeliveryLimits) -> Bool {
        left === right
            || left.quietHours == right.quietHours && left.cap == right.cap && left.digest == right.digest
    }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(quietHours)
        hasher.combine(cap)
        hasher.combine(digest)
    }
}

extension DeliveryLimits: JSONWritable {
    private enum Field: FieldName {
        case quietHours, cap, digest
    }

    /// Reads an object of the changelog.
    package convenience init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (quietHours, cap, digest): (QuietHours?, DeliveryCap?, DigestPolicy?)
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .quietHours: quietHours = try scanner.quietHours(.state)
            case .cap: cap = try scanner.deliveryCap(.state)
            case .digest: digest = try scanner.digestPolicy(.state)
            }
        }
        self.init(quietHours, cap, digest)
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.quietHours, quietHours, &out)
        object.member(Field.cap, cap, &out)
        object.member(Field.digest, digest, &out)
        object.end(&out)
    }
}
