/// A rule that a run broke.
package struct Violation: Error, Equatable, CustomStringConvertible {
    /// What should hold.
    package enum Rule: String, CaseIterable, Sendable {
        case exactlyOnce = "an event comes once"
        case eventIdentity = "an event's id follows from its request, occurrence, name and device"
        case known = "events tell of requests that were published, under their key"
        case oneClosing = "exactly one event closes a request"
        case nothingAfterClosing = "nothing is sent after the closing event"
        case closingReason = "a request is closed by something that may close it"
        case neverEarly = "nothing is handed over before its time"
        case timing = "what is sent, missed or expired is so by the clock and the policy"
        case order = "requests of one key take effect in the order of the log"
        case occurrences = "each occurrence of a repeat is delivered or missed, once"
        case removalAnswered = "a removal is answered"
        case removal = "what is removed was delivered"
        case deadLetters = "exactly the bad records become dead letters"
        case content = "what is delivered is what was requested"
        case nothingLost = "every request is closed, or waits"
        case open = "what is counted as open is what is not closed"
        case state = "the changelog holds what is open, as of its marker"
        case marker = "the marker moves forward, and not beyond the log"
        case firedThrough = "nothing fires beyond a committed firedThrough"
        case overlap = "sends of one key do not overlap"
        case channel = "a notification leaves through the channel that it names"
        case device = "each device shows what was delivered last"
        case activity = "a Live Activity is started once, and its updates and its end reach it by its own token"
        case quiet = "nothing is delivered in quiet hours"
        case cap = "no more than its cap is delivered of a category"
        case digest = "exactly one event closes a digest"
        case response = "each response comes out once, or is refused"
        case badge = "a badge counts each notification once"
        case addressee = "a notification goes to registered devices"
        case token = "a token belongs to one recipient"
        case punctual = "while nothing is wrong what is due is handed over soon, and no lane fails"
        case rest = "the pipeline comes to rest"
        case refusal = "a lane goes on"
        case events = "what the ingest writes is what the rules make of an event"
        case eventOnce = "an effect of an event comes once"
        case eventOrder = "effects of one key come in the order of their events"
        case eventOffsets = "an offset is committed only with the effects of the events before it"
        case partitionCount = "nobody works with another partition count than before"
    }

    package var rule: Rule
    package var detail: String

    package init(_ rule: Rule, _ detail: String) {
        (self.rule, self.detail) = (rule, detail)
    }

    package var description: String { "\(rule.rawValue): \(detail)" }
}
