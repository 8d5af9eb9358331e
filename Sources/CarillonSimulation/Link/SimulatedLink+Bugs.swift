import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import ServiceSupport

/// The places where planted bugs change a lane's calls; without a bug nothing changes.
extension SimulatedLink {
    private var bugs: Set<PlantedBug> { configuration.bugs }

    /// Bugs that remove the fence also remove this check, because it would hide the missing fence.
    var noticesSuspension: Bool {
        configuration.noticesSuspension && bugs.isDisjoint(with: [.dropsFence, .leavesOutUnchanged])
    }

    // MARK: - Taking over

    /// The end for reading the changelog.
    func rewrite(stateEnd end: Int64, from start: Int64) -> Int64 {
        bugs.contains(.firesBeforeRestored) ? max(start + 1, end - 4) : end
    }

    /// The reported bounds of the changelog.
    func rewrite(stateBounds bounds: (low: Int64, high: Int64), of partition: Int32) -> (low: Int64, high: Int64) {
        guard bugs.contains(.readsToLastStable) else { return bounds }
        return (bounds.low, broker.log(configuration.topics.state, partition).lastStable)
    }

    /// The offset at which reading starts.
    func rewrite(start: Int64, of partition: InputPartition) -> Int64 {
        bugs.contains(.resumesFromGroup) ? committed(partition) ?? start : start
    }

    /// Whether the replay leaves out a record.
    func leavesOut(_ record: LogRecord) -> Bool { bugs.contains(.replaysPart) && record.offset % 2 == 1 }

    // MARK: - The inputs

    /// The record as the center gets it.
    func rewrite(input record: LogRecord, of partition: InputPartition) -> LogRecord {
        if partition.input == .signals { return rewrite(signal: record) }
        if partition.input == .devices { return rewrite(device: record) }
        guard !bugs.isEmpty, partition.input == .requests, let value = record.value else { return record }
        var (record, text) = (record, String(decoding: value, as: UTF8.self))
        if bugs.contains(.ignoresVersions) { text = text.removing(from: "\"version\":", through: ",") }
        if bugs.contains(.ignoresExpiration) { text = text.expiringLater() }
        if bugs.contains(.widensRemovals) {
            text = text.replacing("\"remove\":\"pending\"", with: "\"remove\":\"all\"")
        }
        if bugs.contains(.ignoresCollapseWindows) {
            text = text.replacing("\"collapseWindow\":", with: "\"unknownWindow\":")
        }
        if bugs.contains(.endsRepeats) { text = text.replacing("\"repeats\":true", with: "\"repeats\":false") }
        if bugs.contains(.ignoresChannels) { text = text.replacing(",\"channel\":\"events\"", with: "") }
        if bugs.contains(.swapsCrossings) {
            text = text.replacing("notifyOnEntry", with: "other").replacing("notifyOnExit", with: "notifyOnEntry")
                .replacing("other", with: "notifyOnExit")
        }
        if bugs.contains(.suppressesHeld) { text = text.replacing("\"hold\"", with: "\"suppress\"") }
        if bugs.contains(.ignoresCaps) { text = text.replacing("\"cap\":{\"count\":1,", with: "\"cap\":{\"count\":9,") }
        if bugs.contains(.invertsQuietHours) {
            text = text.replacing("\"start\":", with: "\"other\":").replacing("\"end\":", with: "\"start\":")
                .replacing("\"other\":", with: "\"end\":")
        }
        if bugs.contains(.anchorsAtReading) { record.timestamp = process.clock.wall.rawValue }
        record.value = Array(text.utf8)
        return record
    }

    private func rewrite(device record: LogRecord) -> LogRecord {
        guard bugs.contains(.losesActivityTokens), let value = record.value else { return record }
        var record = record
        // As of another identifier.
        let text = String(decoding: value, as: UTF8.self)
        record.value = Array(text.replacing("\"activity\":\"", with: "\"activity\":\"not-").utf8)
        return record
    }

    private func rewrite(signal record: LogRecord) -> LogRecord {
        guard bugs.contains(.countsLateFixes), let value = record.value, var fix = try? LocationFix(json: value) else {
            return record
        }
        var record = record
        fixesRead += 1
        fix.at = Timestamp(rawValue: process.clock.wall.rawValue - 200_000 + fixesRead)
        record.value = fix.json
        return record
    }

    /// A fix that comes before another one, from the other side of the boundary; nil without the bug.
    func invented(before record: LogRecord, of partition: InputPartition) -> LogRecord? {
        guard bugs.contains(.countsInitialSide), partition.input == .signals, let value = record.value,
            var fix = try? LocationFix(json: value)
        else { return nil }
        var record = record
        fix.latitude = fix.latitude > 10.005 ? 10 : 10.01
        fix.accuracy = 0
        fix.at = fix.at.adding(milliseconds: -1)
        record.value = fix.json
        return record
    }

    /// Whether a restore leaves out a record of the changelog.
    func leavesOut(stateKey key: [UInt8]?) -> Bool {
        !bugs.isDisjoint(with: [.forgetsSides, .forgetsDevices]) && key?.last == UInt8(ascii: "/")
    }

    /// A value of the changelog as a restore reads it.
    func rewrite(stateValue value: [UInt8], of key: [UInt8]?) -> [UInt8] {
        if bugs.contains(.forgetsChannels) {
            return Array(String(decoding: value, as: UTF8.self).replacing(",\"channel\":\"events\"", with: "").utf8)
        }
        if bugs.contains(.keepsEndedTokens), key?.last == UInt8(ascii: "/"),
            var recipient = try? RecipientRecord(json: value)
        {
            for place in recipient.registrations.indices
            where recipient.registrations[place].registration.kind == .liveActivity {
                recipient.registrations[place].retiredAt = nil
            }
            return recipient.json
        }
        guard !bugs.isDisjoint(with: PlantedBug.ofEntries), key != StateMarker.key, key?.last != UInt8(ascii: "/"),
            var entry = try? StateEntry(json: value, zones: nil)
        else { return value }
        if bugs.contains(.forgetsHandovers) { entry.handover = nil }
        if bugs.contains(.forgetsScreens) { entry.screen = nil }
        if bugs.contains(.forgetsDelivered) { entry.delivered = nil }
        if bugs.contains(.forgetsClosed) { entry.known = [] }
        if bugs.contains(.forgetsVersions) { entry.version = nil }
        if bugs.contains(.forgetsReceipts) { entry.marks = [] }
        return entry.json
    }

    /// The end of the replay.
    func rewrite(replayEnd end: Int64, from start: Int64) -> Int64 {
        bugs.contains(.skipsReplay) ? start : end
    }

    // MARK: - The checkpoint

    /// nil if the transaction gets no offsets.
    func rewrite(offsets: InputOffsets) -> InputOffsets? {
        if bugs.contains(.leavesOutUnchanged) {
            let moved = offsets.filter { committed($0.key) != $0.value }
            return moved.isEmpty ? nil : moved
        }
        return bugs.contains(.dropsFence) ? nil : offsets
    }

    func publish(_ record: LogRecord, to topic: LaneTopic, _ partition: Int32, tag: UInt) throws(KafkaError) {
        var record = record
        let isMarker = topic == .state && record.key == StateMarker.key
        // A record that is held back is reported as written, as by a producer without acknowledgements.
        let isHeldBack =
            bugs.contains(.offsetsFirst) && topic == .deliveries
            || bugs.contains(.markerBeforeEntries) && topic == .state && !isMarker
        if isLost(record, topic, isMarker) { return pretend(tag, partition) }
        if isHeldBack {
            heldBack.append((record, topic, partition))
            return pretend(tag, partition)
        }
        if bugs.contains(.forgetsFiredThrough), isMarker, let value = record.value,
            var marker = try? StateMarker(json: value)
        {
            marker.firedThrough = marker.wallTime.adding(milliseconds: -600_000)
            record.value = marker.json
        }
        if bugs.contains(.replaysTooLate), isMarker, let value = record.value,
            var marker = try? StateMarker(json: value)
        {
            for (name, offset) in marker.replay {
                marker.replay[name] = (offset + (marker.offsets[name] ?? offset) + 1) / 2
            }
            record.value = marker.json
        }
        try enqueueInOrder(record, topic, partition, tag)
        if bugs.contains(.duplicatesDelivery) && topic == .deliveries && Self.isDelivery(record)
            || bugs.contains(.repeatsResponses) && topic == .responses
        {
            try producer.enqueue(record, to: topicName(topic), partition, tag: Self.heldBackTag)
        }
    }

    /// Whether a record is reported as written without being written.
    private func isLost(_ record: LogRecord, _ topic: LaneTopic, _ isMarker: Bool) -> Bool {
        switch topic {
        case .deadLetters: bugs.contains(.losesDeadLetter)
        case .state where isMarker: false
        case .state:
            bugs.contains(.swallowsTombstones) && record.value == nil
                || bugs.contains(.losesEntry) && random.chance(100)
        case .responses: bugs.contains(.losesResponses) && random.chance(200)
        case .signals, .tokens: bugs.contains(.losesRetirements) && random.chance(200)
        case .deliveries: false
        }
    }

    private static func isDelivery(_ record: LogRecord) -> Bool {
        record.headers.contains {
            $0.name == "ce_type"
                && $0.value.map { String(decoding: $0, as: UTF8.self) } == "\(DeliveryEventName.delivered.type)"
        }
    }

    /// With a planted bug, some events are written after the next one.
    private func enqueueInOrder(
        _ record: LogRecord,
        _ topic: LaneTopic,
        _ partition: Int32,
        _ tag: UInt
    ) throws(KafkaError) {
        let waiting = overtaken
        if bugs.contains(.reordersEvents), waiting == nil, topic == .deliveries, random.chance(300) {
            overtaken = (record, partition, tag)
            return
        }
        try producer.enqueue(record, to: topicName(topic), partition, tag: tag)
        guard let waiting else { return }
        overtaken = nil
        try producer.enqueue(waiting.record, to: topicName(.deliveries), waiting.partition, tag: waiting.tag)
    }

    /// After the marker is written, writes the records that were held back.
    func noteReport(_ report: KafkaDeliveryReport) {
        guard !heldBack.isEmpty, report.error == nil, !isHeldBackReport(report) else { return }
        let records = heldBack
        heldBack = []
        timeline.add(after: 300_000) { [weak self] in
            guard let self, !isDead, !isClosed else { return }
            for (record, topic, partition) in records {
                try? producer.enqueue(record, to: topicName(topic), partition, tag: Self.heldBackTag)
            }
        }
    }

    static var heldBackTag: UInt { .max }

    func isHeldBackReport(_ report: KafkaDeliveryReport) -> Bool { report.tag == Self.heldBackTag }

    private func pretend(_ tag: UInt, _ partition: Int32) {
        pretended.append(KafkaDeliveryReport(tag: tag, error: nil, partition: partition, offset: -1))
    }

    // MARK: - The end of a transaction

    var trustsUnknownCommit: Bool { bugs.contains(.trustsUnknownCommit) }
    var commitsAborts: Bool { bugs.contains(.commitsInsteadOfAborting) }
}

extension String {
    /// With an expiration one hour later: without expiration a repeating request would never end.
    fileprivate func expiringLater() -> String {
        let member = "\"expiration\":\""
        guard let first = firstRange(of: member), let last = self[first.upperBound...].firstRange(of: "\""),
            let instant = Timestamp(rfc3339: String(self[first.upperBound..<last.lowerBound]))
        else { return self }
        let later = instant.adding(milliseconds: 3_600_000).rfc3339
        return String(self[..<first.upperBound]) + later + String(self[last.lowerBound...])
    }

    /// Without the first range from one text through another.
    fileprivate func removing(from start: String, through end: String) -> String {
        guard let first = firstRange(of: start), let last = self[first.upperBound...].firstRange(of: end) else {
            return self
        }
        return String(self[..<first.lowerBound] + self[last.upperBound...])
    }
}
