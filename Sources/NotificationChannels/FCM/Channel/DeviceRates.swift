import NotificationModel

/// How many messages devices have got in this minute and this hour: FCM refuses more to one device. A value.
///
/// Of so many devices that all cannot be counted, those that come late are not: FCM itself refuses what is too much for them.
struct DeviceRates: Sendable {
    /// What FCM allows a device in a minute, and in an hour.
    static let inMinute = 240
    static let inHour = 5000
    /// Devices that are counted in a minute or hour.
    static let capacity = 100_000

    private struct Window {
        let length: Int64
        let limit: Int
        /// Number of the minute or hour.
        var number: Int64 = .min
        /// By the hash of the token.
        var counts: [Int: UInt16] = [:]

        /// The milliseconds until it ends, for a device that has got as many as it may; else nil.
        mutating func pause(of device: Int, at now: Int64) -> Int64? {
            if number != now / length { (number, counts) = (now / length, [:]) }
            guard let count = counts[device], count >= limit else { return nil }
            return (number + 1) * length - now
        }

        mutating func count(_ device: Int) {
            guard counts.count < DeviceRates.capacity || counts[device] != nil else { return }
            counts[device, default: 0] += 1
        }
    }

    private var minute: Window
    private var hour: Window

    /// - Parameters:
    ///   - inMinute: The most messages to a device in a minute.
    ///   - inHour: The most messages to a device in an hour, up to 65,535.
    init(inMinute: Int = inMinute, inHour: Int = inHour) {
        minute = Window(length: 60_000, limit: inMinute)
        hour = Window(length: 3_600_000, limit: inHour)
    }

    /// Counts a message to a device, if it may get one now.
    ///
    /// - Returns: nil when it may; else the milliseconds until the next one may be sent.
    mutating func pause(of token: String, at now: Timestamp) -> Int64? {
        let device = token.hashValue
        let pauses = [minute.pause(of: device, at: now.rawValue), hour.pause(of: device, at: now.rawValue)]
        if let longest = pauses.compactMap({ $0 }).max() { return longest }
        minute.count(device)
        hour.count(device)
        return nil
    }
}
