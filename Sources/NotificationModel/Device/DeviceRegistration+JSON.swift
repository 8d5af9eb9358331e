extension DeviceRegistration: JSONWritable {
    private enum Field: FieldName {
        case platform, token, environment, bundleIdentifier, locale, timeZone, appVersion, authorizationStatus
        case settings, registeredAt, kind, attributesType, activity, pushToStart
    }

    /// Reads the value of a record; ignores unknown fields.
    ///
    /// Throws `invalid` with the missing or wrong field, `too-large`, `not-utf8`.
    public init(json: [UInt8]) throws(ModelError) { try self.init(json, .record) }

    /// Reads the body of a call. Throws as ``init(json:)``, and `unknown-field`.
    public init(body json: [UInt8]) throws(ModelError) { try self.init(json, .body) }

    private init(_ json: [UInt8], _ origin: JSONOrigin) throws(ModelError) {
        self = try JSONScanner.read(json, atMost: ModelLimits.deviceBytes) { scanner throws(ModelError) in
            try DeviceRegistration(&scanner, origin)
        }
    }

    /// Reads a registration inside another record, which was accepted before; ignores unknown fields.
    package init(_ scanner: inout JSONScanner) throws(ModelError) { try self.init(&scanner, .record, isKept: true) }

    private init(_ scanner: inout JSONScanner, _ origin: JSONOrigin, isKept: Bool = false) throws(ModelError) {
        var (platform, token, bundleIdentifier): (String?, String?, String?)
        var (locale, timeZone, appVersion): (String?, String?, String?)
        var kind: TokenKind?
        var (attributesType, activity, pushToStart): (String?, String?, String?)
        var environment: Environment?
        var status: AuthorizationStatus?
        var settings: DeviceSettings?
        var registeredAt: Timestamp?
        try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .platform: platform = try scanner.materialise(scanner.string())
            case .token: token = try scanner.materialise(scanner.string())
            case .kind: kind = try scanner.choice(TokenKind.self)
            case .attributesType:
                let bytes = 1...ModelLimits.attributesTypeBytes
                attributesType = try scanner.printable(bytes: bytes)
            case .activity:
                activity = try scanner.keyComponent()
            case .pushToStart:
                pushToStart = try scanner.keyComponent()
            case .environment: environment = try scanner.choice(Environment.self)
            case .bundleIdentifier:
                bundleIdentifier = try scanner.printable(bytes: 1...ModelLimits.bundleIdentifierBytes)
            case .locale: locale = try scanner.locale()
            case .timeZone: timeZone = try scanner.printable(bytes: 1...ModelLimits.timeZoneBytes)
            case .appVersion: appVersion = try scanner.printable(bytes: 1...ModelLimits.appVersionBytes)
            case .authorizationStatus: status = try scanner.choice(AuthorizationStatus.self)
            case .settings: settings = try DeviceSettings(&scanner, origin)
            case .registeredAt: registeredAt = try scanner.timestamp()
            }
        }
        try self.init(
            platform: scanner.required(platform, Field.platform),
            token: scanner.required(token, Field.token),
            kind: kind ?? .device,
            isKept: isKept
        )
        liveActivity = try LiveActivityToken(
            self.kind,
            attributesType: attributesType,
            activity: activity,
            pushToStart: pushToStart
        )
        (self.environment, self.bundleIdentifier, self.locale) = (environment, bundleIdentifier, locale)
        (self.timeZone, self.appVersion, self.registeredAt) = (timeZone, appVersion, registeredAt)
        authorizationStatus = status ?? .authorized
        self.settings = settings ?? DeviceSettings()
    }

    /// The value of a record.
    public var json: [UInt8] {
        var out: [UInt8] = []
        writeJSON(to: &out)
        return out
    }

    /// Appends the JSON object.
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        writeMembers(to: &out, &object)
        object.end(&out)
    }

    /// Appends its members to an object.
    ///
    /// - Parameter showsToken: Whether ``token`` is among them.
    package func writeMembers(to out: inout [UInt8], _ object: inout JSONObjectWriter, showsToken: Bool = true) {
        object.member(Field.platform, platform, &out)
        if showsToken { object.member(Field.token, token, &out) }
        if kind != .device { object.member(Field.kind, kind.rawValue, &out) }
        switch liveActivity {
        case .start(let type)?: object.member(Field.attributesType, type, &out)
        case .activity(let identifier, let pushToStart)?:
            object.member(Field.activity, identifier, &out)
            object.member(Field.pushToStart, pushToStart, &out)
        case nil: break
        }
        object.member(Field.environment, environment?.rawValue, &out)
        object.member(Field.bundleIdentifier, bundleIdentifier, &out)
        object.member(Field.locale, locale, &out)
        object.member(Field.timeZone, timeZone, &out)
        object.member(Field.appVersion, appVersion, &out)
        object.member(Field.authorizationStatus, authorizationStatus.rawValue, &out)
        if !settings.isEmpty { object.member(Field.settings, settings, &out) }
        object.member(Field.registeredAt, registeredAt, &out)
    }
}

extension JSONScanner {
    /// Text of the shape of BCP 47.
    fileprivate mutating func locale() throws(ModelError) -> String {
        let text = try printable(bytes: 1...ModelLimits.localeBytes)
        let isTag = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        guard isTag else { throw value("must be letters, digits, '-' and '_' as in zh-Hans-CN") }
        return text
    }
}
