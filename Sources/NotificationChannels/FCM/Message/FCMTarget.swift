/// Whom a message is for: the member of a message that names one installation of an app.
package enum FCMTarget: Hashable, Sendable {
    /// A registration token.
    case token(String)
    /// A Firebase installation id, which takes the place of tokens.
    case installation(String)

    /// The characters of an installation id: 17 bytes in Base64url, without the last bits.
    private static let installationCharacters = 22

    /// - Parameter token: of a registration: a token has a colon, an installation id is 22 characters of Base64url that begin
    ///   with the bits 0111.
    package init(_ token: String) {
        let bytes = token.utf8
        let isInstallation =
            bytes.count == Self.installationCharacters && (bytes.first.map { (0x63...0x66).contains($0) } ?? false)
            && bytes.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
        self = isInstallation ? .installation(token) : .token(token)
    }

    /// The name of the member, and its value.
    var member: (name: String, value: String) {
        switch self {
        case .token(let text): ("token", text)
        case .installation(let text): ("fid", text)
        }
    }
}

extension FCMTarget: CustomStringConvertible, CustomReflectable {
    /// Nothing of the token.
    package var description: String { "the \(member.name) of a device" }

    /// Nothing of the token.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
