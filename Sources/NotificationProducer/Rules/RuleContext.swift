import NotificationModel

/// A variable of a rule, and the location of its value in events of the rule's type.
struct BoundVariable: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case id, source, type, subject, time
        /// An extension attribute with the variable's name.
        case other
        /// The index of a path into the event's data.
        case data(Int)
        /// The index of a path into the current recipient.
        case item(Int)
    }

    let place: Place
    /// The index of its name in ``EventPlan/names``.
    let name: Int
}

/// The values for a rule's variables: one event, the values found in its data, and the current recipient.
///
/// It borrows the event's bytes and must not outlive them.
struct RuleContext: TemplateValues {
    let event: BusinessEvent
    /// When the event arrived, used if the event has no time.
    var arrived = Timestamp(rawValue: 0)
    let names: [String]
    /// Empty when the event has no data or data that is not JSON.
    let data: FoundValues
    var item = FoundValues.none

    static var owner: String { "the event" }

    func value(of variable: BoundVariable) -> TemplateValue {
        let text: String?
        switch variable.place {
        case .data(let path): return data.value(path)
        case .item(let path): return item.value(path)
        case .id: text = event.id
        case .source: text = event.source
        case .type: text = event.type
        case .subject: text = event.subject
        case .time: text = event.time?.rfc3339
        case .other: text = event.extensions[names[variable.name]]
        }
        return text.map { .text($0) } ?? .missing
    }

    func name(of variable: BoundVariable) -> String {
        names[variable.name]
    }
}
