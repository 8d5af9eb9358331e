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

private enum FixField: UInt8 {
    case application, device, latitude, longitude, accuracy, at

    static func named(_ name: FieldName) -> FixField? {
        switch name {
        case "application": .application
        case "device": .device
        case "latitude": .latitude
        case "longitude": .longitude
        case "accuracy": .accuracy
        case "at": .at
        default: nil
        }
    }
}

extension LocationFix {
    /// Who wrote what is read.
    private enum Origin {
        /// A record of `signals`: a newer version may have added fields.
        case signal
        /// The body of a call: a misspelled field is refused, and the query names the application.
        case body
    }

    /// How far ahead of the clock a fix may be, in milliseconds: the clocks of devices are not exact. One that is further
    /// ahead would make all fixes until then late.
    public static let futureTolerance: Int64 = 5 * 60 * 1000

    /// Reads the value of a record; ignores unknown fields. Throws `invalid` with the field, `too-large`, `not-utf8`.
    public init(json: [UInt8]) throws(ModelError) { try self.init(json, .signal) }

    /// Reads the body of a call. Throws as ``init(json:)``, and `unknown-field`.
    public init(body json: [UInt8]) throws(ModelError) { try self.init(json, .body) }

    private init(_ json: [UInt8], _ origin: Origin) throws(ModelError) {
        guard json.count <= ModelLimits.signalBytes else {
            throw ModelError(
                .tooLarge,
                field: "",
                "has \(json.count) bytes, at most \(ModelLimits.signalBytes) are allowed"
            )
        }
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try LocationFix(&scanner, origin) }
        }
    }

    private init(_ scanner: inout JSONScanner, _ origin: Origin) throws(ModelError) {
        var seen = SeenFields()
        var fix = LocationFix(device: "", latitude: 0, longitude: 0, at: Timestamp(rawValue: 0))
        try scanner.object { scanner, name throws(ModelError) in
            guard let field = try scanner.field(name, FixField.named), field != .application || origin == .signal else {
                guard origin == .signal else { throw scanner.unknownField() }
                return try scanner.skipValue()
            }
            try seen.insert(field)
            switch field {
            case .application: fix.application = try scanner.keyComponent()
            case .device: fix.device = try scanner.keyComponent()
            case .latitude: fix.latitude = try scanner.decimal(in: -90...90)
            case .longitude: fix.longitude = try scanner.decimal(in: -180...180)
            case .accuracy: fix.accuracy = try scanner.decimal(in: 0...ModelLimits.accuracy)
            case .at: fix.at = try scanner.timestamp()
            }
        }
        let required: [(FixField, String)] = [
            (.device, "device"), (.latitude, "latitude"), (.longitude, "longitude"), (.at, "at"),
        ]
        for (field, label) in required where !seen.contains(field) { throw scanner.missing(label) }
        self = fix
    }

    /// Checks that the fix is not further ahead of the clock than ``futureTolerance``. Throws `in-future` at `at`.
    public func checkTime(at now: Timestamp) throws(ModelError) {
        guard at <= now.adding(milliseconds: Self.futureTolerance) else {
            throw ModelError(.inFuture, field: "at", "\(at) is in the future: check the device's clock")
        }
    }

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

extension JSONScanner {
    /// An application or a device: as a component of a key, not empty and without control characters.
    fileprivate mutating func keyComponent() throws(ModelError) -> String {
        let text = try string(bytes: 1...ModelLimits.keyComponentBytes)
        let bytes = try withBytes(text) { bytes throws(ModelError) in Array(bytes) }
        try PercentEncoding.checkText(bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
