import Foundation
import Testing

@testable import ServiceHTTP

struct OpenFilesTests {
    @Test(arguments: [
        // Connections, files, the limit, and the possible connections.
        (16_384, 0, 100_000, 16_384), (16_384, 1000, 20_000, 16_384), (16_384, 0, 4096, 3840),
        (16_384, 1000, 4096, 2840), (16_384, 1000, 1024, 384), (10, 1000, 1024, 10), (16_384, 1000, 100, 1),
    ])
    func `connections and the files of their calls fit into the limit`(
        _ connections: Int,
        _ files: Int,
        _ limit: Int,
        _ possible: Int
    ) {
        let found = OpenFiles.possible(connections, files, within: limit)
        #expect(found == possible)
        #expect(found == 1 || found + min(files, found) + OpenFiles.reserve <= limit)
    }

    @Test(arguments: [
        (0, 100, false), (83, 100, false), (84, 100, true), (99, 100, true), (-1, 100, true), (3, 8, true),
    ])
    func `the last descriptors are not for connections`(_ next: Int32, _ limit: rlim_t, _ isLast: Bool) {
        #expect(OpenFiles.isLast(next, within: limit) == isLast)
        #expect(OpenFiles.isLast(next, within: .max) == (next < 0))
    }
}
