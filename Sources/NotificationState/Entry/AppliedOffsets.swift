import NotificationModel

/// How far the input topics were applied to an entry: reading records up to there again changes nothing.
package struct AppliedOffsets: Sendable, Hashable {
    /// A place in a topic, in the order in which records are applied.
    package struct Place: Sendable, Hashable, Comparable {
        /// The topic's life: 0, plus one each time the service found a new topic under the name.
        package var life: Int64
        /// The record's offset; -1 for none.
        package var offset: Int64

        /// A place; by default the one before every record.
        package init(life: Int64 = 0, offset: Int64 = -1) { (self.life, self.offset) = (life, offset) }

        /// Whether it comes first.
        package static func < (one: Place, other: Place) -> Bool {
            (one.life, one.offset) < (other.life, other.offset)
        }
    }

    private var requests = Place()
    private var signals = Place()

    /// Nothing was applied.
    package init() {}

    /// The last record of the topic that was applied.
    package subscript(input: InputTopic) -> Place {
        get {
            switch input {
            case .requests: requests
            case .signals: signals
            case .devices, .tokens: Place()
            }
        }
        set {
            switch input {
            case .requests: requests = newValue
            case .signals: signals = newValue
            case .devices, .tokens: break
            }
        }
    }
}

extension RecipientRecord {
    /// How far the input topics were applied to the record of a recipient. Entries, which are many, have no room for all of them.
    package struct Applied: Sendable, Hashable {
        private var requests = AppliedOffsets.Place()
        private var devices = AppliedOffsets.Place()
        private var tokens = AppliedOffsets.Place()

        /// Nothing was applied.
        package init() {}

        /// The last record of the topic that was applied.
        package subscript(input: InputTopic) -> AppliedOffsets.Place {
            get {
                switch input {
                case .requests: requests
                case .devices: devices
                case .tokens: tokens
                case .signals: AppliedOffsets.Place()
                }
            }
            set {
                switch input {
                case .requests: requests = newValue
                case .devices: devices = newValue
                case .tokens: tokens = newValue
                case .signals: break
                }
            }
        }
    }
}

extension AppliedOffsets.Place: JSONWritable {
    private enum Field: FieldName {
        case offset, life
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        self.init()
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .offset: offset = try scanner.integer(in: -1...Int64.max)
            case .life: life = try scanner.integer(in: 0...Int64.max)
            }
        }
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.offset, offset, &out)
        if life > 0 { object.member(Field.life, life, &out) }
        object.end(&out)
    }
}
