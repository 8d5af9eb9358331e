import NotificationDelivery
import NotificationModel
import Testing

@Suite("Sequences of operations")
struct OperationSequenceTests {
    @Test(
        "a sequence as text has its digits, and more where they do not suffice",
        arguments: [
            (OperationSequence(life: 0, offset: -1, time: Timestamp(rawValue: 0)), "0-000000000000-0000000000000"),
            (OperationSequence(life: 0, offset: -1, time: .earliest), "0-000000000000-0000000000000"),
            (OperationSequence(life: 10, offset: 8, time: Timestamp(rawValue: 1)), "10-000000000009-0000000000001"),
            (OperationSequence(life: 2, offset: 9, time: Timestamp(rawValue: 10)), "2-000000000010-0000000000010"),
            (
                OperationSequence(life: 1, offset: 999_999_999_998, time: Timestamp(rawValue: 9_999_999_999_999)),
                "1-999999999999-9999999999999"
            ),
            (
                OperationSequence(life: 1, offset: 999_999_999_999, time: Timestamp(rawValue: 10_000_000_000_000)),
                "1-1000000000000-10000000000000"
            ),
        ]
    )
    func text(_ sequence: OperationSequence, _ text: String) {
        #expect(sequence.text == text)
        var json: [UInt8] = []
        sequence.writeJSON(to: &json)
        #expect(json == Array("\"\(text)\"".utf8))
    }
}
