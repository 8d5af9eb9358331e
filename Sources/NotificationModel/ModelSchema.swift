import Foundation

/// The JSON Schemas (draft 2020-12) of all records and HTTP bodies, shipped with the module.
///
/// They count characters where the codec counts bytes of UTF-8, and leave to the codec what a schema cannot express:
/// unique identifiers, known time zones, existing dates.
public enum ModelSchema: String, CaseIterable, Sendable {
    /// A request's value.
    case request = "request"
    /// A request as an HTTP body.
    case requestBody = "request-body"
    /// A removal's value.
    case removal = "removal"
    /// A delivery event's value.
    case deliveryEvent = "delivery-event"
    /// A business event in structured mode.
    case businessEvent = "business-event"
    /// A response event's value.
    case responseEvent = "response-event"
    /// A device registration.
    case device = "device"
    /// A device event's value.
    case deviceEvent = "device-event"
    /// A channel event's value.
    case channelEvent = "channel-event"
    /// Whose token it is, in `tokens`.
    case tokenClaim = "token-claim"
    /// A category set.
    case categories = "categories"
    /// A signal.
    case signals = "signals"
    /// The marker of a partition of `state`.
    case stateMarker = "state-marker"
    /// The state of one identifier, in `state`.
    case stateEntry = "state-entry"

    /// The schema's text, from the resource bundle that the build puts next to the program; install the bundle with it.
    public func json() throws -> [UInt8] {
        let url = Bundle.module.bundleURL.appendingPathComponent("Schemas/\(rawValue).json")
        return Array(try Data(contentsOf: url))
    }
}
