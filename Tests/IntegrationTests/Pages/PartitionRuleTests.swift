import Foundation
import Kafka
import Testing

@Suite("The partition rule of the contracts", .timeLimit(.minutes(10)))
struct PartitionRuleTests {
    private static let names = [
        "", "a", "ab", "abc", "abcd", "abcde", "ana", "ana/1", "user-42", "北京", "Zoë", "😀", "%41", " ",
        String(repeating: "x", count: 255),
    ]

    private static func expected(_ names: [String]) -> [String] {
        names.map { "\(KafkaPartitioner.partition(forKey: Array($0.utf8), count: 24))" }
    }

    /// A language of the page: how its lines become a program that prints the partitions of its arguments.
    struct Language: Sendable, CustomTestStringConvertible {
        let name: String
        let file: String
        /// The program that runs the file, and its arguments before it.
        let command: [String]
        let program: @Sendable (String) -> String

        var testDescription: String { name }
        var isInstalled: Bool { (try? Tools.program(command[0])) != nil }

        static let all = [
            Language(name: "java", file: "Names.java", command: ["java"]) {
                "class Names {\n\($0)\npublic static void main(String[] names) {\n"
                    + "for (String name : names) System.out.println(partition(name, 24));\n}\n}\n"
            },
            // Without its types it is JavaScript.
            Language(name: "typescript", file: "names.mjs", command: ["node"]) {
                $0.replacing(": string", with: "").replacing(": number", with: "")
                    + "\nfor (const name of process.argv.slice(2)) console.log(partition(name, 24))\n"
            },
            Language(name: "go", file: "names.go", command: ["go", "run"]) {
                "package main\n\nimport (\n\"encoding/binary\"\n\"fmt\"\n\"os\"\n)\n\n\($0)\n"
                    + "func main() {\nfor _, name := range os.Args[1:] {\nfmt.Println(partition(name, 24))\n}\n}\n"
            },
        ]
    }

    @Test("its lines of other languages agree with the client", arguments: Language.all.filter(\.isInstalled))
    func others(_ language: Language) async throws {
        let folder = try TemporaryFolder()
        let lines = try Page.contracts().block(language.name, containing: "partition(")
        let file = try folder.write(language.program(lines), to: language.file)
        let options = Array(language.command.dropFirst())
        let answer = try await ChildProcess.run(
            try Tools.program(language.command[0]),
            options + [file] + Self.names,
            environment: ["GOCACHE": folder.file("cache"), "GO111MODULE": "off", "LC_ALL": "C.UTF-8"]
        )
        #expect(answer.outputLines.map(String.init) == Self.expected(Self.names), "\(answer.errorText)")
    }

    @Test("its vectors are those of the client")
    func vectors() throws {
        let rows = try Page.contracts().table(under: "Keys and partitions")
        #expect(rows.count >= 3)
        for cells in rows {
            let name = try #require(Page.code(cells[0]))
            let key = Array(name.utf8)
            let murmur2 = KafkaPartitioner.partition(forKey: key, count: .max)
            #expect(cells[1] == "\(murmur2)" && [cells[2]] == Self.expected([name]), "\(name)")
        }
    }

    @Test("its lines of Python hold their own vectors and agree with the client, for every length of the last block")
    func python() async throws {
        let folder = try TemporaryFolder()
        let lines = try Page.contracts().block("python", containing: "def partition(")
        let names = Self.names
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
