import Foundation
import NotificationModel
import Testing

@testable import CarillonBench

@Suite("The benchmark with devices")
struct DevicesBenchmarkTests {
    private static let workload = DeviceWorkload(
        requests: RequestWorkload(records: RequestWorkload.identifiers + 10, partitions: 8),
        devices: 3
    )
    private static let category = try? CategorySet(json: DeviceWorkload.categories).categories.first

    // MARK: - The workload

    @Test("the newest requests are one of each identifier, and no later one replaces them")
    func newest() throws {
        let requests = Self.workload.requests
        #expect(requests.newest == 10..<requests.records)
        #expect(Set(requests.newest.map(requests.identifier)).count == RequestWorkload.identifiers)
        for records in [1, 1_000, 7_919, 15_838] {
            let distinct = RequestWorkload(distinct: records, partitions: 8)
            #expect(distinct.newest == 0..<records)
            #expect(Set(distinct.newest.map(distinct.identifier)).count == records, "\(records)")
        }
    }

    @Test("each device has its own key and token, and a registration without a time")
    func registrations() throws {
        var (keys, tokens): (Set<NotificationKey>, Set<String>) = ([], [])
        for index in 10..<20 {
            for device in 0..<Self.workload.devices {
                let registration = try DeviceRegistration(
                    body: Self.workload.registration(ofDevice: device, index: index)
                )
                #expect(registration.registeredAt == nil && registration.settings.allows(.alert))
                tokens.insert(registration.token)
                keys.insert(try Self.workload.key(ofDevice: device, index: index))
            }
        }
        #expect(keys.count == 30 && tokens.count == 30)
        #expect(tokens.allSatisfy { $0.utf8.count == 64 })
    }

    @Test("a response names the newest request of its notification, and an action with text of the category")
    func responses() throws {
        let (one, other) = (try Self.workload.response(to: 10), try Self.workload.response(to: 11))
        #expect(one.identifier == "order-\(Self.workload.requests.identifier(of: 10))")
        #expect(try one.requestID == Self.workload.requests.requestID(of: 10))
        #expect(one.responseID != other.responseID && one.responseID != one.requestID)
        let category = try #require(Self.category)
        #expect(category.identifier == "ORDER" && category.response == .forward)
        #expect(category.kept.action(one.actionIdentifier) == .textInput)
        // As a record it is accepted.
        guard case .response(one) = try Signal(.response, json: Signal.response(one).json) else {
            Issue.record("another signal")
            return
        }
    }

    // MARK: - What is checked

    private static func event(
        of index: Int,
        _ devices: String?,
        actions: ArraySlice<UInt8>?
    ) throws -> [UInt8] {
        var event = DeliveryEvent(
            name: .delivered,
            requestID: try workload.requests.requestID(of: index),
            key: try workload.requests.key(of: index),
            closes: true
        )
        event.content = Array(#"{"title":"a"}"#.utf8)[...]
        event.devices = devices.map { Array($0.utf8)[...] }
        event.actions = actions
        return event.json
    }

    private static let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
    private static let one = #"[{"device":"a","outcome":"accepted"},{"device":"b","outcome":"suppressed"}]"#
    private static let two = #"[{"device":"a","outcome":"accepted"},{"device":"b","outcome":"accepted"}]"#

    @Test("each request is delivered once, for all devices of its recipient and with the actions of its category")
    func devices() throws {
        let actions = try #require(Self.category?.actionsJSON)
        let requests = RequestWorkload(records: 2, partitions: 8)
        var check = try DeliveredDevicesCheck(of: DeviceWorkload(requests: requests, devices: 2))
        try check.check(Self.event(of: 0, Self.two, actions: actions), type: Self.delivered)
        #expect(throws: BenchmarkError.self) { try check.requireAll() }
        let wrong: [(reason: String, event: [UInt8])] = [
            ("twice", try Self.event(of: 0, Self.two, actions: actions)),
            ("no devices", try Self.event(of: 1, nil, actions: actions)),
            ("one of two devices", try Self.event(of: 1, Self.one, actions: actions)),
            ("no actions", try Self.event(of: 1, Self.two, actions: nil)),
            ("other actions", try Self.event(of: 1, Self.two, actions: Array("[]".utf8)[...])),
        ]
        for (reason, event) in wrong {
            var check = check
            #expect(throws: BenchmarkError.self, "\(reason)") { try check.check(event, type: Self.delivered) }
        }
        let event = try Self.event(of: 1, Self.two, actions: actions)
        let suppressed = Array("\(DeliveryEventName.suppressed.type)".utf8)
        #expect(throws: BenchmarkError.self) { try check.check(event, type: suppressed) }
        try check.check(event, type: Self.delivered)
        try check.requireAll()
    }

    @Test("without devices an event lists none, and no actions")
    func withoutDevices() throws {
        var check = try DeliveredDevicesCheck(of: DeviceWorkload(requests: Self.workload.requests, devices: 0))
        try check.check(Self.event(of: 0, nil, actions: nil), type: Self.delivered)
        let event = try Self.event(of: 1, Self.two, actions: nil)
        #expect(throws: BenchmarkError.self) { try check.check(event, type: Self.delivered) }
    }

    // MARK: - The state

    @Test("the newest records of recipients and tokens count, with their keys; those of notifications do not")
    func state() throws {
        let workload = DeviceWorkload(requests: RequestWorkload(distinct: 1, partitions: 8), devices: 2)
        let tokens = ["a", "b"].map { Array("shop/\(String(repeating: $0, count: 64))/".utf8) }
        var state = DeviceState()
        state.note(Array("shop/user-1/".utf8), Array("older, and longer".utf8))
        state.note(Array("shop/user-1/".utf8), Array("newest".utf8))
        state.note(Array("shop/user-1/order-1".utf8), Array("an entry".utf8))
        state.note(Array("marker".utf8), Array("a marker".utf8))
        state.note(tokens[0], Array("owner".utf8))
        #expect(throws: BenchmarkError.self) { try state.bytesPerDevice(of: workload) }
        state.note(tokens[1], Array("owner".utf8))
        // Two keys of 70 bytes with 5 bytes each, and one of 12 with 6.
        #expect(state.bytes == 168)
        #expect(try state.bytesPerDevice(of: workload) == 84)
        state.note(tokens[1], nil)
        #expect(state.bytes == 93 && state.counts == (1, 1))
    }

    // MARK: - The report

    @Test("the report has both ratios and the bytes of state; less CPU and more responses are better")
    func report() throws {
        func rate(_ rate: Double, cpu: Double) -> ProgramRate {
            ProgramRate(messagesPerSecond: rate, cpuSecondsPerMillion: cpu, peakResidentBytes: 1)
        }
        let result = DevicesBenchmark.Result(
            without: rate(1_000, cpu: 10),
            with: rate(800, cpu: 14),
            responses: rate(600, cpu: 20),
            stateBytesPerDevice: 512
        )
        let report = DevicesBenchmark.workload(of: result, Self.workload, rounds: 3)
        #expect(report.name.hasPrefix("50010 requests over 8 partitions, 3 devices each"))
        #expect(report.ratios == [.cpuVersusWithoutDevices: 1.4, .responsesVersusPipeline: 0.75])
        #expect(!Ratio.cpuVersusWithoutDevices.isBetterWhenHigher && Ratio.responsesVersusPipeline.isBetterWhenHigher)
        #expect(report.figures.first { $0.name == "state_bytes_per_device" }?.value == 512)
        #expect(report.subjects.map(\.name) == ["without_devices", "with_devices", "responses"])
    }
}
