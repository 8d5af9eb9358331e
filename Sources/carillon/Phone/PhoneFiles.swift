import HTTPTypes
import Hummingbird
import NIOCore
import ServiceHTTP

/// The page: plain HTML, CSS and modules, in the program itself.
enum PhoneFiles {
    /// Only the page's own files run and are called. Pictures are those of notifications: over `https`, or of a media store on
    /// this machine.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "worker-src 'self'",
        "img-src 'self' https: http://127.0.0.1:* http://localhost:*", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let script = "text/javascript; charset=utf-8"

    /// By their paths.
    static let all: [(path: String, type: String, bytes: [UInt8])] = [
        ("/", "text/html; charset=utf-8", PackageResources.index_html),
        ("/phone.css", "text/css; charset=utf-8", PackageResources.phone_css),
        ("/phone.js", script, PackageResources.phone_js),
        ("/screen.js", script, PackageResources.screen_js),
        ("/notification.js", script, PackageResources.notification_js),
        ("/timeline.js", script, PackageResources.timeline_js),
        ("/controls.js", script, PackageResources.controls_js),
        ("/elements.js", script, PackageResources.elements_js),
        ("/carillon.js", script, PackageResources.carillon_js),
        ("/carillon-subscribe.js", script, PackageResources.carillon_subscribe_js),
        ("/carillon-worker.js", script, PackageResources.carillon_worker_js),
    ]

    static var routes: [Route] {
        all.map { path, type, bytes in
            Route(.get, path, role: nil) { _, _ in
                var response = Response(status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
                response.headers[.contentType] = type
                response.headers[.cacheControl] = "no-cache"
                protect(&response, policy: policy)
                return response
            }
        }
    }

    /// Says what a page may do, and who may use it.
    static func protect(_ response: inout Response, policy: String) {
        for (name, value) in [
            ("content-security-policy", policy), ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"), ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
    }
}
