/// Where a device was: the value of a `carillon.signal.location.v1` record.
public struct LocationFix: Hashable, Sendable {
    /// The application whose regions it concerns; nil for all of the recipient's.
    public var application: String?
    /// The device; the fixes of each are in the order of ``at``.
    public var device: String
    /// Degrees, -90 to 90.
    public var latitude: Double
    /// Degrees, -180 to 180.
    public var longitude: Double
    /// The radius in metres of the circle in which the device is, at most ``ModelLimits/accuracy``. 0 is exact, and so is a
    /// fix without it.
    public var accuracy: Double
    /// When the device determined it, by the device's clock.
    public var at: Timestamp

    /// A fix.
    public init(
        application: String? = nil,
        device: String,
        latitude: Double,
        longitude: Double,
        accuracy: Double = 0,
        at: Timestamp
    ) {
        (self.application, self.device) = (application, device)
        (self.latitude, self.longitude, self.accuracy, self.at) = (latitude, longitude, accuracy, at)
    }
}

private enum FixField: FieldName {
    case application, device, latitude, longitude, accuracy, at
}

extension LocationFix {
    /// Reads the value of a record; ignores unknown fields. Throws `invalid` with the field, `too-large`, `not-utf8`.
    public init(json: [UInt8]) throws(ModelError) { try self.init(json, .record) }

    /// Reads the body of a call. Throws as ``init(json:)``, and `unknown-field`.
    public init(body json: [UInt8]) throws(ModelError) { try self.init(json, .body) }

    private init(_ json: [UInt8], _ origin: JSONOrigin) throws(ModelError) {
        self = try JSONScanner.read(json, atMost: ModelLimits.signalBytes) { scanner throws(ModelError) in
            try LocationFix(&scanner, origin)
        }
    }

    /// Reads a fix; the query of a call names the application, its body does not.
    private init(_ scanner: inout JSONScanner, _ origin: JSONOrigin) throws(ModelError) {
        var fix = LocationFix(device: "", latitude: 0, longitude: 0, at: Timestamp(rawValue: 0))
        let seen = try scanner.object(of: FixField.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .application where origin == .body: try scanner.passOver(origin)
            case .application: fix.application = try scanner.keyComponent()
            case .device: fix.device = try scanner.keyComponent()
            case .latitude: fix.latitude = try scanner.decimal(in: -90...90)
            case .longitude: fix.longitude = try scanner.decimal(in: -180...180)
            case .accuracy: fix.accuracy = try scanner.decimal(in: 0...ModelLimits.accuracy)
            case .at: fix.at = try scanner.timestamp()
            }
        }
        try seen.require(.device, .latitude, .longitude, .at)
        self = fix
    }

    /// Checks that the fix is not further ahead of the clock than ``Timestamp/deviceClockTolerance``: it would make all
    /// fixes until then late. Throws `in-future` at `at`.
    public func checkTime(at now: Timestamp) throws(ModelError) { try at.checkDeviceClock("at", at: now) }

    /// The value of a record.
    public var json: [UInt8] {
        var out: [UInt8] = []
        var object = JSONObjectWriter()
        object.member("application", application, &out)
        object.member("device", device, &out)
        object.member("latitude", latitude, &out)
        object.member("longitude", longitude, &out)
        object.member("accuracy", accuracy, &out)
        object.member("at", at, &out)
        object.end(&out)
        return out
    }
}
