import Foundation
import NotificationModel

/// A program that turns the requests into delivery events.
struct Subject {
    /// What a program is told of its work; loops take it as their arguments.
    struct Work {
        var bootstrapServers: String
        var topics: TopicNames
        var partitions: Int32
        var records: Int
        /// librdkafka properties that are the same for all subjects.
        var properties: [String: String]

        var arguments: [String] {
            [bootstrapServers, topics.requests, topics.deliveries, "\(partitions)", "\(records)"] + assignments
        }

        /// The same for a service.
        var settings: [String: String] {
            [
                "CARILLON_KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
                "CARILLON_KAFKA_PROPERTIES": assignments.joined(separator: ","),
                "CARILLON_OPS_PORT": "0",
            ]
        }

        private var assignments: [String] { properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } }
    }

    var name: String
    var executable: URL
    var arguments: (Work) -> [String]
    var environment: (Work) -> [String: String] = { _ in [:] }
    /// Too slow to be run again for a median.
    var runsOnce = false

    /// The consumer service as it ships, with one lane: a thread that reads, as the loops have.
    static func carillon() throws -> Subject {
        Subject(
            name: "carillon",
            executable: try executable("carillon-consumer", in: directory),
            arguments: { _ in [] },
            environment: { work in
                work.settings.merging(["CARILLON_CONSUMER_LANES": "1", "CARILLON_CONSUMER_START": "earliest"]) { $1 }
            }
        )
    }

    /// The same with committed entries on disk, in a directory of its own for each run.
    static func disk(in directory: URL) throws -> Subject {
        var subject = try carillon()
        subject.name = "disk"
        let environment = subject.environment
        subject.environment = { work in
            let store = directory.appendingPathComponent(UUID().uuidString)
            return environment(work).merging(["CARILLON_STORE_DIRECTORY": store.path]) { $1 }
        }
        return subject
    }

    /// The producer service with a file of rules.
    static func producer(rules: URL, port: Int = 0) throws -> Subject {
        Subject(
            name: "carillon-producer",
            executable: try executable("carillon-producer", in: directory),
            arguments: { _ in [] },
            environment: { work in
                work.settings.merging(["CARILLON_RULES_FILE": rules.path, "CARILLON_HTTP_PORT": "\(port)"]) { $1 }
            }
        )
    }

    /// The C++ program of this package.
    static func native() throws -> Subject {
        Subject(
            name: "native",
            executable: try executable("carillon-bench-native", in: directory),
            arguments: \.arguments
        )
    }

    /// The same program with another allocator loaded before libc's.
    func preloading(_ library: String) -> Subject {
        var subject = self
        subject.name += "-jemalloc"
        let environment = environment
        subject.environment = { environment($0).merging(["LD_PRELOAD": library]) { $1 } }
        return subject
    }

    /// Debian's library of the other allocator.
    ///
    /// - Throws: ``BenchmarkError`` when it is not installed, or the programs are linked with it.
    static func jemalloc() throws -> String {
        guard dlsym(nil, "mallctl") == nil else { throw BenchmarkError("all programs are linked with jemalloc") }
        #if arch(arm64)
        let library = "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"
        #else
        let library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
        #endif
        guard FileManager.default.fileExists(atPath: library) else {
            throw BenchmarkError("without jemalloc: apt-get install libjemalloc2")
        }
        return library
    }

    func start(_ work: Work) throws -> SubjectProcess {
        try SubjectProcess(executable, arguments(work), environment: environment(work))
    }

    /// Where this program lies, and the others of the package with it.
    static var directory: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    private static func executable(_ name: String, in directory: URL) throws -> URL {
        let url = directory.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw BenchmarkError("\(url.path) is not there: swift build -c release")
        }
        return url
    }
}
