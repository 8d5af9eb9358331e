import Foundation
import Testing
import TestSupport

/// Devices, categories and what comes back, for the scenarios.
extension Stack {
    /// A call to the producer service, for the application of the tests.
    func call(_ method: String, _ path: String, _ body: String? = nil) async throws -> HTTPAnswer {
        try await Curl.send(
            method,
            "\(try await producer.http)/v1/\(path)",
            headers: body == nil ? [] : [("content-type", "application/json")],
            body: body.map { Data($0.utf8) }
        )
    }

    /// Sets the categories `ORDER`, `KEEP`, `DISMISS`, `LIST` and `NONE`, and one more, and waits until the consumer service
    /// has them.
    ///
    /// - Parameters:
    ///   - more: the name of one more category; nil for none.
    ///   - action: its only action. Another one replaces it.
    func setCategories(more: String? = nil, action: String = "first") async throws {
        let last =
            more.map { #","# + #"{"identifier":"\#($0)","actions":[{"identifier":"\#(action)","title":"T"}]}"# } ?? ""
        let categories = """
            {"categories":[
            {"identifier":"ORDER","options":["customDismissAction"],"actions":[{"identifier":"track","title":"Track"},
             {"identifier":"reply","title":"Reply","textInput":{"buttonTitle":"Send","placeholder":"Message"}}]},
            {"identifier":"KEEP","actions":[{"identifier":"snooze","title":"Later"}],"response":"keep"},
            {"identifier":"DISMISS","actions":[{"identifier":"done","title":"Done"}],"response":"dismiss"},
            {"identifier":"LIST","presentation":["list"]},{"identifier":"NONE","presentation":null}\(last)]}
            """
        let answer = try await call("PUT", "categories", categories)
        #expect(answer.status == 202, "\(answer.text)")
        let probe = recipient("probe")
        var number = 0
        try await eventually("the consumer service has the categories", orSay: { self.consumer.child.lastWords }) {
            number += 1
            try await put(probe, "\(number)", more.map(DeviceScenarios.of) ?? DeviceScenarios.order)
            let actions = try await event("delivered", probe, "\(number)").object()["actions"] as? [[String: Any]]
            return more == nil ? actions != nil : actions?.first?["identifier"] as? String == action
        }
    }

    /// Registers a device and waits until the consumer service has it.
    ///
    /// - Parameters:
    ///   - token: one that no other device has, if not given.
    ///   - settings: more members of the registration.
    func register(_ device: String, of recipient: String, token: String? = nil, settings: String = "") async throws {
        try await put(device, of: recipient, token: token ?? "\(recipient)/\(device)", settings: settings)
        _ = try await self.device("registered", device, of: recipient)
    }

    /// Registers a device.
    func put(_ device: String, of recipient: String, token: String, settings: String = "") async throws {
        let body = #"{"platform":"fcm","token":"\#(token)"\#(settings)}"#
        let answer = try await call("PUT", "recipients/\(recipient)/devices/\(device)", body)
        #expect(answer.status == 202, "\(answer.text)")
    }

    /// What happened to a device: `registered` or `retired`.
    func device(_ name: String, _ device: String, of recipient: String) async throws -> KcatRecord {
        let found = try await deliveries.records(1, "\(device) of \(recipient) is \(name)") {
            $0.name == "carillon.device.\(name)" && $0["recipient"] == recipient && $0["device"] == device
        }
        return try #require(found.first)
    }

    /// The event of a response.
    func response(_ id: String) async throws -> KcatRecord {
        let found = try await responses.records(1, "response \(id)") { $0["responseId"] == id }
        return try #require(found.first)
    }

    /// A signal as a gateway or an app writes it.
    func signal(_ name: String, _ recipient: String, _ value: String) -> TestRecord {
        TestRecord(
            topic: cluster.topic("signals"),
            key: recipient,
            value: Data(value.utf8),
            headers: ["ce_specversion": "1.0", "ce_type": "carillon.signal.\(name).v1", "ce_id": UUID().uuidString],
            recipient: recipient
        )
    }

    /// The Python client that plays a recipient's gateway and phones.
    func gateway(of recipient: String) throws -> ChildProcess {
        try ChildProcess(
            try Tools.python(),
            [Tools.client("gateway.py"), cluster.bootstrapServers, cluster.prefix, recipient]
        )
    }
}
