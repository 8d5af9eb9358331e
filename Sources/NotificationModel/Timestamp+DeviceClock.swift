extension Timestamp {
    /// How far ahead of the clock a device's instant may be, in milliseconds: the clocks of devices are not exact.
    public static let deviceClockTolerance: Int64 = 5 * 60 * 1000

    /// Throws `in-future` at the field if it is further ahead of the clock than ``deviceClockTolerance``.
    func checkDeviceClock(_ field: String, at now: Timestamp) throws(ModelError) {
        guard self <= now.adding(milliseconds: Self.deviceClockTolerance) else {
            throw ModelError(.inFuture, field: field, "\(self) is in the future: check the device's clock")
        }
    }
}
