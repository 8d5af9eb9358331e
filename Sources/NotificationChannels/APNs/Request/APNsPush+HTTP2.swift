package import NIOHPACK
package import OutboundHTTP

extension APNsPush {
    /// The fields of the request that sends it.
    ///
    /// What differs for nearly every push does not enter the table of the compression, as Apple asks.
    ///
    /// - Parameters:
    ///   - token: of the device, in hexadecimal.
    ///   - shared: of the headers, by `APNsHeaders.shared`.
    ///   - authorization: of the provider token; nil with a certificate.
    package func fields(to token: String, _ shared: HTTP2Fields.Shared, authorization: String?) -> HTTP2Fields {
        let size = (authorization?.utf8.count ?? 0) + 256
        var fields =
            headers.broadcastChannel == nil
            ? HTTP2Fields(shared, path: Self.devicePath, token, size: size)
            : HTTP2Fields(
                shared,
                path: "/4/broadcasts/apps/",
                String(headers.topic.dropLast(headers.pushType.topicSuffix.count)),
                size: size
            )
        if let authorization { fields.authorize(authorization) }
        headers.forEachField(shared: false) { name, value in fields.add(name, value) }
        return fields
    }

    private static let devicePath: StaticString = "/3/device/"

    /// The path of a device.
    ///
    /// - Parameter token: in hexadecimal.
    package static func path(to token: String) -> String { "\(devicePath)\(token)" }
}

extension APNsHeaders {
    /// The fields that many pushes share.
    ///
    /// - Parameter beginning: the pseudo-header fields of the server, without `:path`.
    package func shared(after beginning: HPACKHeaders) -> HTTP2Fields.Shared {
        var rest = HPACKHeaders()
        forEachField(shared: true) { name, value in rest.add(name: "\(name)", value: value) }
        return HTTP2Fields.Shared(beginning, rest)
    }
}
