import NotificationModel
import PushSimulation

/// A service account of a project.
struct SimulatedAccount: Sendable {
    let project: String
    let keyID: String
    let key: RSAKeyPair
    /// Whether access tokens for it are refused.
    var isDisabled = false

    var email: String { "carillon@\(project).iam.gserviceaccount.com" }

    init(project: String, keyID: String, key: RSAKeyPair) {
        (self.project, self.keyID, self.key) = (project, keyID, key)
    }

    /// The key file, as Google's console gives it.
    func json(tokenURL: String) throws(SimulatorError) -> [UInt8] {
        JSONValue.object([
            .init("type", .string("service_account")), .init("project_id", .string(project)),
            .init("private_key_id", .string(keyID)),
            .init("private_key", .string(String(decoding: try key.pem(), as: UTF8.self))),
            .init("client_email", .string(email)), .init("client_id", .string("100000000000000000000")),
            .init("auth_uri", .string("https://accounts.google.com/o/oauth2/auth")),
            .init("token_uri", .string(tokenURL)),
        ]).json
    }

    /// The account of a key file of an earlier run.
    init?(json: [UInt8], project: String) {
        guard let value = try? JSONValue.parse(json), value["project_id"]?.stringValue == project,
            let keyID = value["private_key_id"]?.stringValue, let pem = value["private_key"]?.stringValue,
            let key = RSAKeyPair(pem: Array(pem.utf8))
        else { return nil }
        self.init(project: project, keyID: keyID, key: key)
    }
}
