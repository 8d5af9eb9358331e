/// A signal that is read and written through the members that all types share.
protocol SignalValue: Sendable, Hashable {
    /// The members that the type may have.
    static var fields: [SignalMembers.Field] { get }
    var application: String? { get set }
    init(_ members: SignalMembers) throws(ModelError)
    var members: SignalMembers { get }
}

/// The members of every type of signal but a location, read once for all; each type takes its own.
struct SignalMembers {
    enum Field: FieldName {
        case application, identifier, requestID = "requestId", responseID = "responseId", device
        case actionIdentifier, userText, receipt, outcome, reason, state, badge, at, token, gone
    }

    var application: String?
    var identifier: String?
    var requestID: RequestID?
    var responseID: RequestID?
    var device: String?
    var actionIdentifier: String?
    var userText: String?
    var receipt: ReceiptSignal.Receipt?
    var outcome: ReportSignal.Outcome?
    var reason: String?
    var state: AppStateSignal.State?
    var badge: Int64?
    var at: Timestamp?
    var token: String?
    var gone: Timestamp?

    /// Reads a signal. Members that are not among the type's fields are unknown; so is `application` in a body, which the
    /// query of the call names.
    init(_ json: [UInt8], _ origin: JSONOrigin, fields: [Field]) throws(ModelError) {
        self = try JSONScanner.read(json, atMost: ModelLimits.signalBytes) { scanner throws(ModelError) in
            try SignalMembers(&scanner, origin, fields)
        }
    }

    private init(_ scanner: inout JSONScanner, _ origin: JSONOrigin, _ fields: [Field]) throws(ModelError) {
        var members = SignalMembers()
        try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
            guard fields.contains(field), field != .application || origin != .body else {
                return try scanner.passOver(origin)
            }
            try members.read(field, &scanner)
        }
        self = members
    }

    /// The members that several types have; set the others afterwards.
    init(
        application: String? = nil,
        identifier: String? = nil,
        requestID: RequestID? = nil,
        device: String? = nil
    ) {
        (self.application, self.identifier, self.requestID, self.device) = (application, identifier, requestID, device)
    }

    private mutating func read(_ field: Field, _ scanner: inout JSONScanner) throws(ModelError) {
        switch field {
        case .application: application = try scanner.keyComponent()
        case .identifier: identifier = try scanner.keyComponent()
        case .requestID: requestID = try scanner.requestID()
        case .responseID: responseID = try scanner.requestID()
        case .device: device = try scanner.keyComponent()
        case .actionIdentifier:
            actionIdentifier = try scanner.printable(bytes: 1...ModelLimits.actionIdentifierBytes)
        case .userText: userText = try scanner.userText()
        case .receipt: receipt = try scanner.choice(ReceiptSignal.Receipt.self)
        case .outcome: outcome = try scanner.choice(ReportSignal.Outcome.self)
        case .reason: reason = try scanner.printable(bytes: 0...ModelLimits.reportReasonBytes)
        case .state: state = try scanner.choice(AppStateSignal.State.self)
        case .badge: badge = try scanner.integer(in: 0...ModelLimits.badge)
        case .at: at = try scanner.timestamp()
        case .token: token = try scanner.printable(bytes: 1...ModelLimits.deviceTokenBytes)
        case .gone: gone = try scanner.timestamp()
        }
    }

    /// The JSON object.
    var json: [UInt8] {
        var out: [UInt8] = []
        var object = JSONObjectWriter()
        object.member(Field.application, application, &out)
        object.member(Field.identifier, identifier, &out)
        object.member(Field.requestID, requestID, &out)
        object.member(Field.responseID, responseID, &out)
        object.member(Field.device, device, &out)
        object.member(Field.actionIdentifier, actionIdentifier, &out)
        object.member(Field.userText, userText, &out)
        object.member(Field.receipt, receipt?.rawValue, &out)
        object.member(Field.outcome, outcome?.rawValue, &out)
        object.member(Field.reason, reason, &out)
        object.member(Field.state, state?.rawValue, &out)
        object.member(Field.badge, badge, &out)
        object.member(Field.at, at, &out)
        object.member(Field.token, token, &out)
        object.member(Field.gone, gone, &out)
        object.end(&out)
        return out
    }

    /// The value of a required member.
    static func required<Value>(_ value: Value?, _ field: Field) throws(ModelError) -> Value {
        guard let value else { throw ModelError(.invalid, field: field.rawValue.text, "is missing") }
        return value
    }
}

extension JSONScanner {
    /// What a person typed: tabs and line breaks are the only control characters.
    fileprivate mutating func userText() throws(ModelError) -> String {
        let token = try string()
        let text = materialise(token)
        guard text.utf8.count <= ModelLimits.userTextBytes else {
            throw ModelError(
                .tooLarge,
                field: "",
                "has \(text.utf8.count) bytes, at most \(ModelLimits.userTextBytes) are allowed"
            )
        }
        let isControl = { (scalar: Unicode.Scalar) in
            PrintableText.isControl(scalar) && scalar != "\t" && scalar != "\n" && scalar != "\r"
        }
        guard !text.unicodeScalars.contains(where: isControl) else {
            throw value("contains a control character: only tabs and line breaks are allowed")
        }
        return text
    }
}
