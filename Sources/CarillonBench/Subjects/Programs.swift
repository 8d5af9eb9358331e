import Foundation

/// Files next to this program: the other programs of the package, and the files of `Resources`.
enum Programs {
    /// This program.
    static var own: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }

    private static var directory: URL { own.deletingLastPathComponent() }

    static func executable(_ name: String) throws -> URL {
        let url = directory.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw BenchmarkError("\(url.path) is missing: build all programs with swift build -c release")
        }
        return url
    }

    static func resource(_ name: String) throws -> URL {
        let url = directory.appendingPathComponent("carillon_CarillonBench.resources/Resources/\(name)")
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw BenchmarkError("\(url.path) is missing: run carillon-bench where swift build put it")
        }
        return url
    }

    /// Whether all programs are linked with jemalloc, as `LINK_JEMALLOC=1 swift build` does.
    private static var areLinkedWithJemalloc: Bool { dlsym(nil, "mallctl") != nil }

    /// The kind of build, for the names of workloads: it affects ratios.
    static var build: String {
        #if DEBUG
        let mode = ", debug build"
        #else
        let mode = ""
        #endif
        return (areLinkedWithJemalloc ? ", linked with jemalloc" : "") + mode
    }

    /// Debian's jemalloc library, to preload before libc's allocator.
    ///
    /// - Throws: ``MissingProgram`` if it is not installed, or the programs are linked with it.
    static func jemalloc() throws -> String {
        guard !areLinkedWithJemalloc else {
            throw MissingProgram("all programs are linked with jemalloc: to compare, build without LINK_JEMALLOC")
        }
        #if arch(arm64)
        let library = "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"
        #else
        let library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
        #endif
        guard FileManager.default.fileExists(atPath: library) else {
            throw MissingProgram(library, remedy: "apt-get install libjemalloc2")
        }
        return library
    }
}

/// A port that was free a moment ago.
enum FreePort {
    static func find() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError("no socket: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        guard code == 0 else { throw BenchmarkError("no free port on loopback: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
