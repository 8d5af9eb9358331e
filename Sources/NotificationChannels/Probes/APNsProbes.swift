import NotificationModel

extension APNsSenders {
    /// The servers of each environment, once for all provider tokens and once for each certificate; and a token of each key.
    func probes(now: @escaping @Sendable () -> Timestamp) -> [ChannelProbe] {
        var (probes, seen): ([ChannelProbe], Set<String>) = ([], [])
        for sender in all {
            let environment = sender.environment.rawValue
            switch sender.credentials {
            case .certificate:
                probes.append(Self.servers("with a certificate, \(environment)", of: sender))
            case .tokens(let tokens):
                if seen.insert(environment).inserted { probes.append(Self.servers(environment, of: sender)) }
                guard seen.insert("\(tokens.teamID) \(tokens.keyID)").inserted else { continue }
                probes.append(
                    ChannelProbe("a provider token of the key \(tokens.keyID)") { _ in
                        tokens.token(at: now()) == nil
                            ? .refused("OpenSSL cannot sign with it: use the .p8 file from Apple's developer pages")
                            : .reached("signed for the team \(tokens.teamID)")
                    }
                )
            }
        }
        return probes
    }

    private static func servers(_ which: String, of sender: Sender) -> ChannelProbe {
        ChannelProbe("the servers of APNs, \(which)") { await sender.pool.probe(sender.origin, within: $0) }
    }
}
