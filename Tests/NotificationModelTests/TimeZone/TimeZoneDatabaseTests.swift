import Foundation
import Testing

@testable import NotificationModel

@Suite("The time zone database")
struct TimeZoneDatabaseTests {
    private let database: TimeZoneDatabase

    init() throws {
        database = try TimeZoneDatabase.system.get()
    }

    /// A directory of its own, removed after the test.
    private func withDirectory(_ work: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try work(folder)
    }

    private func write(_ bytes: [UInt8], _ name: String, _ folder: URL) throws {
        let file = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: file)
    }

    @Test("all zones are read, with a rule that agrees with their last transition")
    func all() {
        #expect(database.preload().isEmpty)
        #expect(database.identifiers.count > 500 && database.identifiers == database.identifiers.sorted())
    }

    @Test("the version is that of the data")
    func version() throws {
        let line = try String(contentsOfFile: "/usr/share/zoneinfo/tzdata.zi", encoding: .utf8).prefix { $0 != "\n" }
        #expect(line == "# version \(database.version)")
    }

    @Test(
        "names and aliases of the database are known",
        arguments: [
            "Asia/Shanghai", "America/Argentina/Buenos_Aires", "America/Indiana/Knox", "Asia/Saigon", "US/Pacific",
            "Japan",
            "UTC", "GMT", "Etc/GMT-8", "Etc/GMT+8", "EST5EDT", "America/Port-au-Prince", "NZ-CHAT",
        ]
    )
    func known(_ name: String) throws {
        #expect(database.contains(name))
        let rules = try database.rules(named: name)
        #expect(rules.name == name)
        #expect(try database.rules(named: name) === rules)
    }

    @Test(
        "what is no name of the database is refused, and no file is opened for it",
        arguments: [
            "", "/", ".", "..", "../zoneinfo/UTC", "America/../UTC", "/usr/share/zoneinfo/UTC", "./UTC", "UTC/", "/UTC",
            "America",
            "America/", "America//New_York", "tzdata.zi", "zone.tab", "zone1970.tab", "iso3166.tab", "leapseconds",
            "leap-seconds.list", "posix/UTC", "right/UTC", "posix/America/New_York", "localtime", "posixrules",
            "Factory",
            "+VERSION", "asia/shanghai", "ASIA/SHANGHAI", "Asia/Beijing", "CST", "GMT+8", "Asia/Shanghai\u{0}",
            "Asia/Shanghai ",
            "Asia\\Shanghai", "UTC\n", "~/UTC", "%2e%2e/UTC", "Ａsia/Shanghai",
            String(repeating: "A/", count: 500) + "A",
        ]
    )
    func refused(_ name: String) {
        #expect(!database.contains(name))
        let error = failure { () throws(TimeZoneError) in try database.rules(named: name) }
        guard case .unknown = error else {
            Issue.record("\(name): \(String(describing: error))")
            return
        }
        #expect(error?.modelError.reason == .invalid && error?.modelError.field == "timeZone")
        #expect(error?.description.utf8.count ?? 0 < 200)
    }

    @Test("offsets have the sign of the database: Etc/GMT-8 is eight hours east")
    func signs() throws {
        let now = try at("2026-06-01T00:00:00Z")
        #expect(try zone("Etc/GMT-8").offset(at: now) == 28_800)
        #expect(try zone("Asia/Saigon").offset(at: now) == 25_200)
        #expect(try zone("Asia/Kolkata").local(at: now).description == "2026-06-01T05:30:00")
        #expect(try zone("Africa/Monrovia").offset(at: at("1971-01-01T00:00:00Z")) == -2670)
    }

    @Test("without tzdata.zi the files themselves are the names, shadows and strangers left out")
    func walk() throws {
        try withDirectory { folder in
            let zone = TZifWriter().bytes()
            for name in [
                "Zone", "Area/Zone", "Area/Part/Zone", "posix/Zone", "right/Zone", "localtime", "posixrules", "Factory",
            ] {
                try write(zone, name, folder)
            }
            try write(Array("TZi".utf8), "Short", folder)
            try write(Array("# text".utf8), "zone.tab", folder)
            try write(Array("text".utf8), "Text", folder)
            try write(zone, "A/B/C/Deep", folder)
            try write(zone, "has space", folder)
            // A directory that contains itself ends the walk all the same.
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/Loop",
                withDestinationPath: folder.path
            )
            let found = try TimeZoneDatabase(directory: folder.path)
            #expect(found.identifiers.filter { !$0.hasPrefix("Loop") } == ["Area/Part/Zone", "Area/Zone", "Zone"])
            #expect(found.version.hasPrefix("fnv1a-") && found.version.count == 22)

            let version = found.version
            var other = TZifWriter()
            other.transitions[1].time += 1
            try write(other.bytes(), "Area/Zone", folder)
            #expect(try TimeZoneDatabase(directory: folder.path).version != version)
            try write(Array("2026a\n".utf8), "+VERSION", folder)
            #expect(try TimeZoneDatabase(directory: folder.path).version == "2026a")
        }
    }

    @Test("with tzdata.zi only its names count, and it says the version")
    func listed() throws {
        try withDirectory { folder in
            let list =
                "# version 2027c\nZ Area/Zone 1 - AAA\nL Area/Zone Alias\nZ ../../etc/passwd 0 - A\nR d 1 2\nZ\nL x\n"
            try write(Array(list.utf8), "tzdata.zi", folder)
            for name in ["Area/Zone", "Alias", "Other"] { try write(TZifWriter().bytes(), name, folder) }
            let found = try TimeZoneDatabase(directory: folder.path)
            #expect(found.version == "2027c" && found.identifiers == ["Alias", "Area/Zone"])
            #expect(!found.contains("Other"))
            #expect(try found.rules(named: "Alias") != found.rules(named: "Area/Zone"))
        }
    }

    @Test("a zone's file that cannot be used is an error that names the zone and what is wrong")
    func unusable() throws {
        try withDirectory { folder in
            let names = ["Missing", "Folder", "Empty", "Text", "Large", "Pipe", "Good"]
            let list = "# version 1\n" + names.map { "Z \($0) 0 - A\n" }.joined()
            try write(Array(list.utf8), "tzdata.zi", folder)
            try FileManager.default.createDirectory(
                at: folder.appending(path: "Folder"),
                withIntermediateDirectories: true
            )
            try write([], "Empty", folder)
            try write(Array("not a zone".utf8), "Text", folder)
            try write(Array(repeating: 0, count: TimeZoneFile.bytes + 1), "Large", folder)
            try write(TZifWriter().bytes(), "Good", folder)
            #expect(mkfifo(folder.path + "/Pipe", 0o600) == 0)
            let found = try TimeZoneDatabase(directory: folder.path)
            // As where the files of old names are in a package that is not installed.
            for name in ["Missing", "Folder", "Pipe"] {
                #expect(!found.contains(name))
                let error = failure { () throws(TimeZoneError) in try found.rules(named: name) }
                #expect(error == .unknown(zone: name) && error?.modelError.reason == .invalid)
            }
            let expected = [
                ("Empty", "ends inside the header"), ("Text", "does not begin with TZif"),
                ("Large", "more than 65536"),
            ]
            for (name, text) in expected {
                let error = failure { () throws(TimeZoneError) in try found.rules(named: name) }
                #expect(error?.description.contains(name) == true && error?.description.contains(text) == true)
                #expect(error?.modelError.reason == .internalError)
            }
            #expect(found.preload().count == expected.count)
        }
    }

    @Test("a directory without zones is refused, and so is a list with too many names")
    func noDatabase() throws {
        for directory in ["/nonexistent", "/dev/null", ""] {
            #expect(throws: TimeZoneError.self) { try TimeZoneDatabase(directory: directory) }
        }
        try withDirectory { folder in
            #expect(throws: TimeZoneError.self) { try TimeZoneDatabase(directory: folder.path) }
            let list = (0...TimeZoneFiles.names).map { "Z Zone\($0) 0 - A\n" }.joined()
            try write(Array(list.utf8), "tzdata.zi", folder)
            #expect(throws: TimeZoneError.self) { try TimeZoneDatabase(directory: folder.path) }
            try write(Array(repeating: 0x20, count: 5 << 20), "tzdata.zi", folder)
            #expect(throws: TimeZoneError.self) { try TimeZoneDatabase(directory: folder.path) }
        }
    }

    @Test("many tasks read one zone once")
    func concurrent() async throws {
        let database = try TimeZoneDatabase()
        let found = await withTaskGroup(of: TimeZoneRules?.self) { group in
            for _ in 0..<64 { group.addTask { try? database.rules(named: "Europe/Paris") } }
            return await group.reduce(into: [TimeZoneRules?]()) { $0.append($1) }
        }
        #expect(found.count == 64 && found.allSatisfy { $0 != nil && $0 === found[0] })
    }
}
