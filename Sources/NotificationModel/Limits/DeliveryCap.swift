/// How many notifications of a category a recipient may get: `{"count":3,"period":86400}`.
///
/// At most ``count`` are delivered in any ``period``; further ones are suppressed as `capped`. The cap of a notification
/// without a category counts all of the recipient's without one.
public struct DeliveryCap: Sendable, Hashable {
    /// Delivered notifications, 1 to ``ModelLimits/capCount``.
    public var count: Int
    /// Milliseconds, from 1 second to ``ModelLimits/capPeriod``. In JSON seconds.
    public var period: Int64

    /// A cap.
    ///
    /// - Parameters:
    ///   - count: how many are delivered.
    ///   - period: in how many milliseconds.
    public init(count: Int, period: Int64) {
        (self.count, self.period) = (count, period)
    }
}

extension DeliveryCap: JSONWritable {
    fileprivate enum Field: FieldName {
        case count, period
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.count, Int64(count), &out)
        object.member(Field.period, Double(period) / 1000, &out)
        object.end(&out)
    }
}

extension JSONScanner {
    mutating func deliveryCap(_ origin: JSONOrigin) throws(ModelError) -> DeliveryCap {
        var (count, period): (Int64?, Double?)
        try object(of: DeliveryCap.Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .count: count = try scanner.integer(in: 1...ModelLimits.capCount)
            case .period: period = try scanner.decimal(in: 1...ModelLimits.capPeriod)
            }
        }
        return DeliveryCap(
            count: Int(try required(count, DeliveryCap.Field.count)),
            period: NotificationTrigger.milliseconds(try required(period, DeliveryCap.Field.period))
        )
    }
}
