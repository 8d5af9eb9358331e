import Foundation
import NotificationModel

/// Checks that each request became one delivery event, which lists the devices of its recipient and the actions of its
/// category.
struct DeliveredDevicesCheck {
    private struct Device: Decodable {
        var outcome: String
    }

    private let workload: DeviceWorkload
    private let actions: ArraySlice<UInt8>?
    private var requests: Set<RequestID> = []
    /// Lists that were read before: those of most recipients are equal.
    private var known: Set<ArraySlice<UInt8>> = []

    init(of workload: DeviceWorkload) throws {
        self.workload = workload
        let category = try CategorySet(json: DeviceWorkload.categories).categories.first
        actions = workload.devices > 0 ? category?.actionsJSON : nil
    }

    /// - Parameters:
    ///   - value: of a record on `deliveries`.
    ///   - type: its `ce_type`.
    /// - Throws: ``BenchmarkError`` when it is none of these events, or a repeated one.
    mutating func check(_ value: [UInt8], type: [UInt8]) throws {
        guard DeliveryEventName(type: type) == .delivered else {
            throw BenchmarkError("a request became \(String(decoding: type, as: UTF8.self))")
        }
        let event = try DeliveryEvent(json: value, name: .delivered)
        guard requests.insert(event.requestID).inserted else {
            throw BenchmarkError("a request was delivered twice")
        }
        guard event.actions == actions else { throw BenchmarkError("a notification has other actions") }
        let list = event.devices ?? []
        guard !known.contains(list) else { return }
        let devices = list.isEmpty ? [] : try JSONDecoder().decode([Device].self, from: Data(list))
        let accepted = devices.filter { $0.outcome == "accepted" }.count
        guard accepted == workload.devices else {
            throw BenchmarkError("a notification is for \(accepted) devices, not for \(workload.devices)")
        }
        known.insert(list)
    }

    /// - Throws: ``BenchmarkError`` when a request is missing.
    func requireAll() throws {
        guard requests.count == workload.requests.records else {
            throw BenchmarkError("\(requests.count) of \(workload.requests.records) requests were delivered")
        }
    }
}

/// What the changelog keeps for devices: the newest record of each recipient, and of each token, as compaction leaves them.
struct DeviceState {
    private var recipients: [[UInt8]: Int] = [:]
    private var tokens: [[UInt8]: Int] = [:]

    /// Records of recipients, and of tokens.
    var counts: (recipients: Int, tokens: Int) { (recipients.count, tokens.count) }

    /// Keys and values.
    var bytes: Int { recipients.values.reduce(0, +) + tokens.values.reduce(0, +) }

    /// Notes a record of `state`, in the order of the log; others than those of recipients and tokens do not count.
    mutating func note(_ key: [UInt8], _ value: [UInt8]?) {
        guard let owner = try? NotificationKey(encoded: key), owner.isWholeRecipient else { return }
        let bytes = value.map { key.count + $0.count }
        // A token is kept under its hash, 64 hexadecimal digits.
        if owner.recipient.utf8.count == 64 { tokens[key] = bytes } else { recipients[key] = bytes }
    }

    /// The bytes of each device of a workload.
    ///
    /// - Throws: ``BenchmarkError`` when not all recipients and tokens are kept.
    func bytesPerDevice(of workload: DeviceWorkload) throws -> Double {
        let devices = workload.recipients * workload.devices
        guard counts == (workload.recipients, devices) else {
            throw BenchmarkError(
                "state has \(counts.recipients) recipients and \(counts.tokens) tokens of \(workload.recipients) "
                    + "recipients with \(devices) devices"
            )
        }
        return Double(bytes) / Double(devices)
    }
}
