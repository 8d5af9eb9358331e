package import NotificationModel

/// What identifies a notification on a device: all that replaces each other there has the same.
///
/// 32 characters of Base64url, the first 24 bytes of SHA-256 over the encoded key: `apns-collapse-id` may have 64 bytes, the
/// `Topic` of Web Push 32 of these characters, while a key has up to 768 bytes and more when it is encoded.
package struct CollapseID: Hashable, Sendable, CustomStringConvertible {
    /// 32 characters.
    package let text: String

    /// - Parameter key: of the notification.
    package init(_ key: NotificationKey) {
        text = Base64URL.encode(SHA256Digest.of(key.encoded).prefix(24))
    }

    package var description: String { text }
}
