#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a service promises of the records that it makes of others.
public enum DeliveryGuarantee: String, Sendable, Hashable, CaseIterable {
    /// None is lost; after a failure some are there twice, under the same ids.
    case atLeastOnce = "at-least-once"
    /// None is lost and none is there twice, for readers with `isolation.level=read_committed`.
    case exactlyOnce = "exactly-once"
}

extension ServiceSettings {
    /// `delivery.guarantee`.
    ///
    /// - Returns: nil when it is not given: `exactly-once`, where the cluster can.
    public mutating func deliveryGuarantee(about: String = "") -> DeliveryGuarantee? {
        optionalOneOf("delivery.guarantee", about: about)
    }

    /// `instance.id`: tells this instance from those that run at the same time, and is the same at its next start; the name
    /// of the host when it is not given.
    public mutating func instanceID(about: String = "") -> String {
        string("instance.id", default: Self.hostName, about: about)
    }

    /// `deployment`: part of the source of everything that is published, so at most 256 bytes.
    public mutating func deployment(default usual: String, about: String) -> String {
        let text = string("deployment", default: usual, about: about)
        guard text.utf8.count <= 256 else {
            reject("deployment", "must have at most 256 bytes")
            return usual
        }
        return text
    }

    /// What the system calls itself, without asking a name server; `localhost` when it does not say.
    public static var hostName: String {
        var text = [CChar](repeating: 0, count: 256)
        guard gethostname(&text, text.count - 1) == 0, text[0] != 0 else { return "localhost" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
