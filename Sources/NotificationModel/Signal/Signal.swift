/// What a device, an app or a gateway tells about a recipient: a value of the topic `signals`. The record's key is the
/// recipient (``SignalKey``), its header `ce_type` the type.
public enum Signal: Sendable, Hashable {
    /// What a person did with a notification.
    case response(ResponseSignal)
    /// How far a notification came on a device.
    case receipt(ReceiptSignal)
    /// What a gateway says about its attempt at a device.
    case report(ReportSignal)
    /// Where a device is.
    case location(LocationFix)
    /// Where an app is on a device.
    case appState(AppStateSignal)
    /// A token that its platform calls gone.
    case retirement(RetirementSignal)

    /// Reads the value of a record; ignores unknown fields.
    ///
    /// Throws `invalid` with the missing or wrong field, `too-large`, `not-utf8`.
    public init(_ type: SignalType, json: [UInt8]) throws(ModelError) {
        switch type {
        case .response: self = .response(try Self.read(json))
        case .receipt: self = .receipt(try Self.read(json))
        case .report: self = .report(try Self.read(json))
        case .location: self = .location(try LocationFix(json: json))
        case .appState: self = .appState(try Self.read(json))
        case .retirement: self = .retirement(try Self.read(json))
        }
    }

    /// Reads the body of a call, which has no `application`: the query names it. Throws as ``init(_:json:)``, and
    /// `unknown-field`.
    public init(_ type: SignalType, body: [UInt8]) throws(ModelError) {
        try self.init(type, body: body, responseID: RequestID.random())
    }

    /// Reads the body of a call, as ``init(_:body:)``.
    ///
    /// - Parameters:
    ///   - type: the type, which the path of the call names.
    ///   - json: the body.
    ///   - responseID: the id of a response that has none.
    public init(_ type: SignalType, body json: [UInt8], responseID: @autoclosure () -> RequestID) throws(ModelError) {
        switch type {
        case .response:
            var members = try SignalMembers(json, .body, fields: ResponseSignal.fields)
            members.responseID = members.responseID ?? responseID()
            self = .response(try ResponseSignal(members))
        case .receipt: self = .receipt(try Self.read(json, .body))
        case .report: self = .report(try Self.read(json, .body))
        case .location: self = .location(try LocationFix(body: json))
        case .appState: self = .appState(try Self.read(json, .body))
        case .retirement: self = .retirement(try Self.read(json, .body))
        }
    }

    private static func read<Value: SignalValue>(
        _ json: [UInt8],
        _ origin: JSONOrigin = .record
    ) throws(ModelError) -> Value {
        try Value(SignalMembers(json, origin, fields: Value.fields))
    }

    /// The type of the record.
    public var type: SignalType {
        switch self {
        case .response: .response
        case .receipt: .receipt
        case .report: .report
        case .location: .location
        case .appState: .appState
        case .retirement: .retirement
        }
    }

    /// The application; nil for the service's default one, and for a location, which then concerns all of the recipient's.
    public var application: String? {
        get {
            switch self {
            case .response(let signal): signal.application
            case .receipt(let signal): signal.application
            case .report(let signal): signal.application
            case .location(let fix): fix.application
            case .appState(let signal): signal.application
            case .retirement(let signal): signal.application
            }
        }
        set {
            switch self {
            case .response(var signal):
                signal.application = newValue
                self = .response(signal)
            case .receipt(var signal):
                signal.application = newValue
                self = .receipt(signal)
            case .report(var signal):
                signal.application = newValue
                self = .report(signal)
            case .location(var fix):
                fix.application = newValue
                self = .location(fix)
            case .appState(var signal):
                signal.application = newValue
                self = .appState(signal)
            case .retirement(var signal):
                signal.application = newValue
                self = .retirement(signal)
            }
        }
    }

    /// Checks that an instant of the device is not further ahead of the clock than ``Timestamp/deviceClockTolerance``.
    /// Throws `in-future` at `at` or `gone`.
    public func checkTime(at now: Timestamp) throws(ModelError) {
        switch self {
        case .location(let fix): try fix.checkTime(at: now)
        case .appState(let signal): try signal.at?.checkDeviceClock("at", at: now)
        case .retirement(let signal): try signal.gone.checkDeviceClock("gone", at: now)
        case .response, .receipt, .report: break
        }
    }

    /// The value of a record.
    public var json: [UInt8] {
        switch self {
        case .response(let signal): signal.members.json
        case .receipt(let signal): signal.members.json
        case .report(let signal): signal.members.json
        case .location(let fix): fix.json
        case .appState(let signal): signal.members.json
        case .retirement(let signal): signal.members.json
        }
    }
}
