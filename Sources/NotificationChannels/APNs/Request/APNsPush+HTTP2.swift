package import NIOHPACK

extension APNsPush {
    /// The fields of the request that sends it.
    ///
    /// What differs for nearly every push does not enter the table of the compression, as Apple asks.
    ///
    /// - Parameters:
    ///   - token: of the device, in hexadecimal.
    ///   - beginning: the pseudo-header fields of the server, without `:path`.
    ///   - authorization: of the provider token; nil with a certificate.
    package func fields(to token: String, beginning: HPACKHeaders, authorization: String?) -> HPACKHeaders {
        var fields = HPACKHeaders()
        fields.reserveCapacity(beginning.count + 8)
        fields.add(contentsOf: beginning)
        fields.add(name: ":path", value: path(to: token), indexing: .nonIndexable)
        if let authorization { fields.add(name: "authorization", value: authorization, indexing: .nonIndexable) }
        headers.forEachField { name, value, isShared in
            fields.add(name: name, value: value, indexing: isShared ? .indexable : .nonIndexable)
        }
        return fields
    }

    /// The path of a device, or of the app of a broadcast.
    ///
    /// - Parameter token: in hexadecimal; of no account for a broadcast.
    private func path(to token: String) -> String {
        guard headers.broadcastChannel != nil else { return Self.path(to: token) }
        return "/4/broadcasts/apps/\(headers.topic.dropLast(headers.pushType.topicSuffix.count))"
    }

    /// The path of a device.
    ///
    /// - Parameter token: in hexadecimal.
    package static func path(to token: String) -> String { "/3/device/\(token)" }
}
