import Kafka
import Testing

struct KafkaHeaderBufferTests {
    @Test func `it has the headers in order, of constant and of any names, with text, bytes, nothing and null`() {
        var buffer = KafkaHeaderBuffer()
        buffer.append("ce_id") { $0.append(contentsOf: [1, 2]) }
        buffer.append(KafkaHeader(name: "naïve", value: nil))
        buffer.append("a", "1")
        buffer.append(KafkaHeader(name: "", value: []))
        buffer.append("ce_subject", [3])
        #expect(
            buffer.headers == [
                KafkaHeader(name: "ce_id", value: [1, 2]), KafkaHeader(name: "naïve", value: nil),
                KafkaHeader(name: "a", text: "1"), KafkaHeader(name: "", value: []),
                KafkaHeader(name: "ce_subject", value: [3]),
            ]
        )
        buffer.removeAll()
        #expect(buffer.headers.isEmpty && buffer.byteCount == 0)
    }
}
