import Foundation
import Kafka
import Testing

@Suite("The partition rule of the contracts", .timeLimit(.minutes(10)))
struct PartitionRuleTests {
    @Test("its lines of Python hold their own vectors and agree with the client, for every length of the last block")
    func python() async throws {
        let folder = try TemporaryFolder()
        let lines = try Page.contracts().block("python", containing: "def partition(")
        let names = [
            "a", "ab", "abc", "abcd", "abcde", "ana", "ana/1", "user-42", "北京", "Zoë", "😀", "%41", " ",
            String(repeating: "x", count: 255),
        ]
        let question =
            "import json, sys\nfor name in json.load(sys.stdin):\n    print(partition(name, 24), partition(name, 2**31 - 1))\n"
        let answer = try await ChildProcess.run(
            try Tools.python(),
            [try folder.write(lines + question, to: "partition.py")],
            input: try JSONEncoder().encode(names)
        )
        #expect(
            answer.outputLines
                == names.map { name in
                    let key = Array(name.utf8)
                    return "\(KafkaPartitioner.partition(forKey: key, count: 24)) "
                        + "\(KafkaPartitioner.partition(forKey: key, count: .max))"
                }
        )
    }
}
