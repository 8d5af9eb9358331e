/// Host names and addresses, and patterns for all names below one.
///
///     cdn.example.com      this name
///     *.example.com        all names below example.com at any depth, not itself
///     8.8.8.8              this address; an IPv6 address in brackets
struct HostPatterns: Sendable {
    private var hosts: Set<String> = []
    private var parents: Set<String> = []

    var isEmpty: Bool { hosts.isEmpty && parents.isEmpty }

    /// Adds an entry of a policy's list.
    ///
    /// - Returns: The host; for a pattern, one that it matches.
    @discardableResult
    mutating func insert(_ entry: String, of list: EgressPolicyError.List) throws(EgressPolicyError) -> EgressHost {
        do throws(EgressRefusal) {
            guard entry.hasPrefix("*.") else {
                let host = try EgressHost(entry)
                hosts.insert(host.name)
                return host
            }
            let parent = try EgressHost(String(entry.dropFirst(2)))
            guard parent.address == nil else { throw .malformed("there are no names below an address") }
            parents.insert(parent.name)
            return try EgressHost("any.\(parent.name)")
        } catch {
            throw EgressPolicyError(list: list, entry: entry, message: error.detail)
        }
    }

    /// - Parameter host: In the form of ``EgressURL/host``.
    func contain(_ host: String) -> Bool {
        if hosts.contains(host) { return true }
        guard !parents.isEmpty else { return false }
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if parents.contains(String(rest)) { return true }
        }
        return false
    }
}
