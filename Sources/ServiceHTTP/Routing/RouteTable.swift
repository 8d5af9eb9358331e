import HTTPTypes
import Metrics

/// The routes of an HTTP interface, by path.
///
/// The framework's router is not suitable: it drops empty segments, so that `DELETE …/notifications/` would match
/// `…/notifications`; it leaves parameters encoded; and it answers 404 to an unsupported method.
struct RouteTable: Sendable {
    /// A path with its methods.
    struct Resource: Sendable {
        let path: RoutePath
        let routes: [Route]
        /// In the order of declaration, HEAD after GET.
        let methods: [HTTPRequest.Method]
        /// Whether all of its routes are public.
        var isPublic: Bool { routes.allSatisfy(\.isPublic) }
        fileprivate let durations: [HTTPRequest.Method: Timer]
        fileprivate let otherDurations: Timer

        /// - Throws: ``Problem`` 405 with the supported methods.
        func route(for method: HTTPRequest.Method) throws(Problem) -> Route {
            let wanted: HTTPRequest.Method = method == .head ? .get : method
            guard let route = routes.first(where: { $0.method == wanted }) else { throw .methodNotAllowed(methods) }
            return route
        }
    }

    private let resources: [Resource]
    private let otherDurations: Timer

    /// Creates the table, and `carillon_<name>_request_duration_seconds` by route and method.
    init(_ routes: [Route], metrics: ConnectionMetrics) {
        var paths: [String] = []
        for route in routes where !paths.contains(route.path.text) { paths.append(route.path.text) }
        resources = paths.map { path in
            let routes = routes.filter { $0.path.text == path }
            let methods = routes.flatMap { $0.method == .get ? [.get, .head] : [$0.method] }
            return Resource(
                path: RoutePath(path),
                routes: routes,
                methods: methods,
                durations: Dictionary(
                    methods.map { ($0, metrics.duration(route: path, method: $0.rawValue)) },
                    uniquingKeysWith: { first, _ in first }
                ),
                otherDurations: metrics.duration(route: path, method: "other")
            )
        }
        otherDurations = metrics.duration(route: "other", method: "other")
    }

    /// The first declared resource that matches.
    func resource(at target: RequestTarget) -> Resource? {
        resources.first { $0.path.matches(target.segments) }
    }

    /// Records the duration of a call.
    ///
    /// - Parameter resource: Nil if no resource matched the call's path.
    func record(_ duration: Duration, of resource: Resource?, _ method: HTTPRequest.Method) {
        let timer = resource.map { $0.durations[method] ?? $0.otherDurations } ?? otherDurations
        timer.recordNanoseconds(Int64(clamping: Int128(duration / .nanoseconds(1))))
    }
}
