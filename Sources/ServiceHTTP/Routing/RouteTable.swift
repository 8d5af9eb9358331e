import HTTPTypes
import Metrics

/// The routes of an HTTP interface, by their paths.
///
/// The framework's router does not do: it drops empty segments, so that `DELETE …/notifications/` would be a call of
/// `…/notifications`; it leaves parameters encoded; and it answers 404 to a method that a path does not take.
struct RouteTable: Sendable {
    /// A path with the methods that it takes.
    struct Resource: Sendable {
        let path: RoutePath
        let routes: [Route]
        /// In the order of their declaration, HEAD behind GET.
        let methods: [HTTPRequest.Method]
        fileprivate let durations: [HTTPRequest.Method: Timer]
        fileprivate let otherDurations: Timer

        /// - Throws: ``Problem`` 405 with the methods that it takes.
        func route(for method: HTTPRequest.Method) throws(Problem) -> Route {
            let wanted: HTTPRequest.Method = method == .head ? .get : method
            guard let route = routes.first(where: { $0.method == wanted }) else { throw .methodNotAllowed(methods) }
            return route
        }
    }

    private let resources: [Resource]
    private let otherDurations: Timer

    /// Makes the table, and `carillon_<name>_request_duration_seconds` by route and method.
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

    /// The first that was declared of those that match.
    func resource(at target: RequestTarget) -> Resource? {
        resources.first { $0.path.matches(target.segments) }
    }

    /// Records how long a call took.
    ///
    /// - Parameter resource: Nil when there is none at the call's path.
    func record(_ duration: Duration, of resource: Resource?, _ method: HTTPRequest.Method) {
        let timer = resource.map { $0.durations[method] ?? $0.otherDurations } ?? otherDurations
        timer.recordNanoseconds(Int64(clamping: Int128(duration / .nanoseconds(1))))
    }
}
