#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The files of a directory of the time zone database, read within bounds.
struct TimeZoneFiles {
    let directory: String

    /// Names that a database may have, at most; that of 2025b has 598.
    static let names = 4096
    private static let listBytes = 4 * 1024 * 1024
    /// What is in the directory and has the form of a zone, but is none of the database or says nothing of a place.
    private static let excluded: Set<String> = ["localtime", "posixrules", "posix", "right", "Factory"]

    /// Whether a text has the form of a zone's name: one to four parts of letters, digits, `_`, `+` and `-`, separated by
    /// slashes, that begin with a letter; at most 64 bytes. No part can be `..`.
    static func isName(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count) else { return false }
        let parts = name.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        guard parts.count <= 4, let first = parts.first, let last = parts.last else { return false }
        for part in parts {
            guard let letter = part.first, (0x41...0x5A).contains(letter & 0xDF) else { return false }
            for byte in part {
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x5F: continue
                default: return false
                }
            }
        }
        return !excluded.contains(String(Substring(first))) && !excluded.contains(String(Substring(last)))
    }

    // MARK: - Names and version

    /// The names and the version in `tzdata.zi`; nil without that file.
    func listed() throws(TimeZoneError) -> (names: [String], version: String?)? {
        let bytes: [UInt8]
        switch read("tzdata.zi", atMost: Self.listBytes) {
        case .missing: return nil
        case .failed(let detail): throw .noDatabase(directory: directory, detail: "tzdata.zi: \(detail)")
        case .read(let read): bytes = read
        }
        var names: [String] = []
        for line in bytes.split(separator: 0x0A) {
            // `Z NAME …` is a zone and `L TARGET NAME` an alias; both words may be written out.
            let words = line.split(separator: 0x20, maxSplits: 3)
            guard let keyword = words.first, let position = Self.place(of: keyword), position < words.count else {
                continue
            }
            let name = String(decoding: words[position], as: UTF8.self)
            if Self.isName(name) { names.append(name) }
            guard names.count <= Self.names else {
                throw .noDatabase(directory: directory, detail: "tzdata.zi has more than \(Self.names) names")
            }
        }
        return (names, Self.version(inList: bytes))
    }

    private static func place(of keyword: ArraySlice<UInt8>) -> Int? {
        switch String(decoding: keyword, as: UTF8.self) {
        case "Z", "Zone": 1
        case "L", "Link": 2
        default: nil
        }
    }

    /// `# version 2025b` in the first line.
    private static func version(inList bytes: [UInt8]) -> String? {
        let line = bytes.prefix(128).prefix { $0 != 0x0A }
        let words = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, words[0] == "#", words[1] == "version" else { return nil }
        return checked(words[2])
    }

    /// The version in the file `+VERSION`, which some systems have.
    func plainVersion() -> String? {
        guard case .read(let bytes) = read("+VERSION", atMost: 128) else { return nil }
        return Self.checked(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self))
    }

    /// A version such as `2025b`, `2025b-rearguard`, `unknown-dirty`; nil for what is not fit for a log or a record.
    private static func checked(_ version: String) -> String? {
        let isPlain = version.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        return isPlain && (1...64).contains(version.utf8.count) ? version : nil
    }

    /// The names of all TZif files, by a walk over three levels of directories.
    func found() throws(TimeZoneError) -> [String] {
        var names: [String] = []
        var folders = [""]
        var visited = 0
        while let folder = folders.popLast() {
            guard let handle = opendir(folder.isEmpty ? directory : directory + "/" + folder) else {
                guard !folder.isEmpty else {
                    throw .noDatabase(directory: directory, detail: String(cString: strerror(errno)))
                }
                continue
            }
            defer { closedir(handle) }
            while let entry = readdir(handle) {
                visited += 1
                guard visited <= 4 * Self.names, names.count <= Self.names else {
                    throw .noDatabase(directory: directory, detail: "it has more than \(Self.names) names")
                }
                let file = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                let name = folder.isEmpty ? file : folder + "/" + file
                guard Self.isName(name) else { continue }
                if isFolder(name) {
                    if name.utf8.count(where: { $0 == 0x2F }) < 2 { folders.append(name) }
                } else if case .read(let bytes) = read(name, atMost: TimeZoneFile.bytes),
                    bytes.starts(with: [0x54, 0x5A, 0x69, 0x66])
                {
                    names.append(name)
                }
            }
        }
        return names
    }

    /// Whether there is a file of a zone's name.
    func hasFile(_ name: String) -> Bool {
        var info = stat()
        return stat(directory + "/" + name, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    private func isFolder(_ name: String) -> Bool {
        var info = stat()
        return stat(directory + "/" + name, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// What stands for the version where no file says it.
    func digest(of names: [String]) throws(TimeZoneError) -> String {
        var hash = Self.hash([])
        for name in names {
            hash = Self.hash(Array(name.utf8) + [0], from: hash)
            hash = Self.hash(try zone(name), from: hash)
        }
        let digits = String(hash, radix: 16)
        return "fnv1a-" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// FNV-1a in 64 bits: not against an attacker, who could write the files as well.
    static func hash(_ bytes: [UInt8], from start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    // MARK: - Reading

    /// The bytes of a zone's file; the name must have been checked.
    func zone(_ name: String) throws(TimeZoneError) -> [UInt8] {
        switch read(name, atMost: TimeZoneFile.bytes) {
        case .read(let bytes): return bytes
        case .missing: throw .unreadable(zone: name, detail: "it does not exist")
        case .failed(let detail): throw .unreadable(zone: name, detail: detail)
        }
    }

    private enum Reading {
        case read([UInt8])
        case missing
        case failed(String)
    }

    private func read(_ name: String, atMost limit: Int) -> Reading {
        // Without O_NONBLOCK a named pipe would block.
        let file = open(directory + "/" + name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            return errno == ENOENT || errno == ENOTDIR ? .missing : .failed(String(cString: strerror(errno)))
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return .failed("it is not a file") }
        guard info.st_size <= limit else { return .failed("it has \(info.st_size) bytes, more than \(limit)") }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                #if canImport(Glibc)
                return Glibc.read(file, base + count, buffer.count - count)
                #elseif canImport(Musl)
                return Musl.read(file, base + count, buffer.count - count)
                #else
                return Darwin.read(file, base + count, buffer.count - count)
                #endif
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return .failed(String(cString: strerror(errno))) }
            if read == 0 { break }
            count += read
        }
        guard count <= limit else { return .failed("it has more than \(limit) bytes") }
        return .read(Array(bytes.prefix(count)))
    }
}
