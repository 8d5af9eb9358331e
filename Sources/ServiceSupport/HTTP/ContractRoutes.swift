import Hummingbird
import NIOCore
package import ServiceHTTP

/// The contracts of a service, for programs that make clients of them. Everybody may read them.
package enum ContractRoutes {
    /// `GET /openapi.json`, the interface itself, and `GET /asyncapi.json`, the topics.
    ///
    /// - Parameter openAPI: The document of the interface that these routes are part of, as JSON.
    package static func routes(openAPI: [UInt8]) -> [Route] {
        [("/openapi.json", openAPI), ("/asyncapi.json", PackageResources.asyncapi_json)].map { path, document in
            Route(.get, path, role: nil, isPublic: true) { call, _ in
                _ = try call.target.parameters(allowed: [])
                return Response(
                    status: .ok,
                    headers: [.contentType: "application/json"],
                    body: .init(byteBuffer: ByteBuffer(bytes: document))
                )
            }
        }
    }
}
