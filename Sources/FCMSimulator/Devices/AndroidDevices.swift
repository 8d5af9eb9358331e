import NotificationModel
import PushSimulation

/// The devices, and whose tokens are whose.
struct AndroidDevices: Sendable {
    /// More are refused.
    static let capacity = 1_000_000

    struct Token: Sendable {
        var device: String
        var package: String
        var project: String
        /// Whether the app is gone.
        var hasEnded = false
    }

    /// By name.
    private(set) var devices: [String: AndroidDevice] = [:] { didSet { revision &+= 1 } }
    /// Another one after each change of the devices.
    private(set) var revision = 0
    private(set) var tokens: [String: Token] = [:]

    mutating func register(
        _ token: String,
        device: String,
        package: String,
        project: String
    ) throws(SimulatorError) {
        guard (1...4_096).contains(token.utf8.count), token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SimulatorError("a token has 1 to 4096 printable characters of ASCII")
        }
        guard tokens.count < Self.capacity || tokens[token] != nil else {
            throw SimulatorError("there are \(Self.capacity) tokens already")
        }
        devices[device, default: AndroidDevice(name: device)].install(package)
        tokens[token] = Token(device: device, package: package, project: project)
    }

    /// The tokens of a device that are good.
    func tokens(of device: String) -> [String] {
        tokens.filter { $0.value.device == device && !$0.value.hasEnded }.keys.sorted()
    }

    /// - Returns: False without such a device or app.
    mutating func uninstall(_ package: String, from device: String) -> Bool {
        guard devices[device]?.packages.contains(package) == true else { return false }
        devices[device]?.uninstall(package)
        for (token, known) in tokens where known.device == device && known.package == package {
            tokens[token]?.hasEnded = true
        }
        return true
    }

    /// The person takes a notification away, or opens it.
    ///
    /// - Returns: False when the device does not show it.
    mutating func dismiss(_ tag: String, of package: String, on device: String) -> Bool {
        devices[device]?.dismiss(tag, of: package) ?? false
    }

    /// - Returns: False without such a device.
    mutating func setOnline(_ isOnline: Bool, _ device: String, at now: Timestamp) -> Bool {
        devices[device]?.setOnline(isOnline, at: now) != nil
    }

    mutating func deliver(_ message: SentMessage, to token: Token, at now: Timestamp) {
        devices[token.device]?.deliver(message, for: token.package, at: now)
    }
}
