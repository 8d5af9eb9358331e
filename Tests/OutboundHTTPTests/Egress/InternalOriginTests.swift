import Testing

@testable import OutboundHTTP

@Suite("Internal origins")
struct InternalOriginTests {
    private let policy: EgressPolicy

    init() throws {
        policy = try EgressPolicy(internalOrigins: ["http://media.internal:8080", "http://other.internal"])
    }

    @Test func `a redirect from a public origin does not enter an internal one`() throws {
        let outside = try policy.check("https://cdn.shop.com/a")
        for location in ["http://media.internal:8080/admin", "http://other.internal/"] {
            let refusal = #expect(throws: EgressRefusal.self) { try policy.check(location: location, from: outside) }
            #expect(refusal?.code == .hostRefused)
        }
        #expect(try policy.check(location: "https://img.shop.com/b", from: outside).host == "img.shop.com")
    }

    @Test func `one from an internal origin does, and leaves it for public ones only`() throws {
        let inside = try policy.check("http://media.internal:8080/a")
        #expect(try policy.check(location: "/b", from: inside).target == "/b")
        #expect(try policy.check(location: "http://other.internal/c", from: inside).host == "other.internal")
        #expect(try policy.check(location: "https://cdn.shop.com/d", from: inside).host == "cdn.shop.com")
        #expect(throws: EgressRefusal.self) { try policy.check(location: "http://third.internal/", from: inside) }
    }

    @Test func `a policy for one endpoint inside the network allows its origin, and nothing else that is not public`()
        throws
    {
        let policy = try EgressPolicy.inside("http://gateway:8080/hooks?a=b")
        let url = try policy.check("http://gateway:8080/hooks?a=b")
        try policy.check([IPAddress(v4: 0x0A00_0001)], of: url)
        for text in ["http://gateway:8081/", "https://gateway:8080/", "http://other:8080/", "http://10.0.0.1/"] {
            #expect(throws: EgressRefusal.self) { try policy.check(text) }
        }
    }

    @Test func `the host agent of Azure is refused, although the registries call it public`() throws {
        #expect(throws: EgressRefusal.self) { try EgressPolicy().check("https://168.63.129.16/") }
    }
}
