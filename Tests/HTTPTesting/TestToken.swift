package import Foundation
import OutboundHTTP

/// Recipient tokens as a back end makes them.
package struct TestToken {
    package let secret: [UInt8]
    package let header: String

    /// - Parameters:
    ///   - id: The `kid`.
    ///   - secret: Of HS256.
    package init(id: String, secret: [UInt8] = Array("0123456789abcdef0123456789abcdef".utf8)) {
        self.init(header: #"{"alg":"HS256","kid":"\#(id)"}"#, secret: secret)
    }

    package init(header: String, secret: [UInt8]) { (self.header, self.secret) = (header, secret) }

    /// The secret as a file of keys has it.
    package var key: String { Data(secret).base64EncodedString() }

    package func signed(_ claims: String) -> String {
        let signed = "\(Self.base64URL(Data(header.utf8))).\(Self.base64URL(Data(claims.utf8)))"
        return "\(signed).\(signature(of: signed))"
    }

    /// The token of a recipient for an hour.
    ///
    /// - Parameter seconds: Now, in seconds since 1970.
    package func signed(for recipient: String, at seconds: Int64) -> String {
        signed(#"{"sub":"\#(recipient)","iat":\#(seconds),"exp":\#(seconds + 3_600)}"#)
    }

    /// The HMAC in the form of a token.
    package func signature(of signed: String) -> String {
        // `v1,` and Base64.
        let code = String(RequestSigner(keys: [secret]).signatures(of: Array(signed.utf8)).dropFirst(3))
        return code.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    package static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
