import ArgumentParser
import NotificationModel

/// `carillon device add`.
struct DeviceAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Register a device, or replace its registration.",
        discussion: """
            Examples:

              carillon device add --recipient ana --device phone --platform fcm \\
                --token "$token"
              carillon device add --recipient ana --device phone --platform apns \\
                --token "$token" --status provisional --time-zone Asia/Shanghai \\
                --locale zh-Hans-CN --setting sound=disabled --setting alertStyle=banner

            A token belongs to one device: registered for another recipient, it moves there.
            """
    )

    @OptionGroup(title: "Device") var options: DeviceOptions

    @Option(help: ArgumentHelp("Whose token it is: apns, fcm or another name in lower case.", valueName: "name"))
    var platform: String

    @Option(help: ArgumentHelp("The token; for apns its bytes in hexadecimal.", valueName: "token"))
    var token: String

    @Option(help: "What the token is for; only devices with the ordinary one get notifications.")
    var kind = TokenKind.device

    @Option(help: ArgumentHelp("Of liveActivityStart: the type of activities that it starts.", valueName: "name"))
    var attributesType: String?

    @Option(help: ArgumentHelp("Of liveActivity: the identifier of the activity.", valueName: "identifier"))
    var activity: String?

    @Option(help: ArgumentHelp("Of liveActivity: the device with the token that starts them.", valueName: "device"))
    var pushToStart: String?

    @Option(help: "The platform's servers that know the token.")
    var environment: DeviceRegistration.Environment?

    @Option(help: ArgumentHelp("The app's bundle identifier.", valueName: "name"))
    var bundleIdentifier: String?

    @Option(help: ArgumentHelp("The person's language and region, such as zh-Hans-CN.", valueName: "locale"))
    var locale: String?

    @Option(help: ArgumentHelp("The device's time zone, such as Asia/Shanghai.", valueName: "zone"))
    var timeZone: String?

    @Option(help: ArgumentHelp("The app's version.", valueName: "version"))
    var appVersion: String?

    @Option(help: "What the person has allowed.")
    var status = AuthorizationStatus.authorized

    @Option(
        help: ArgumentHelp(
            "A notification setting; repeatable. \(SettingArgument.help)",
            valueName: "name=value"
        )
    )
    var setting: [String] = []

    @Option(help: ArgumentHelp("When the app obtained the token, in RFC 3339. Now if not given.", valueName: "instant"))
    var registeredAt: Timestamp?

    @Flag(help: "The service's answer as JSON.")
    var json = false

    @OptionGroup(title: "Service") var service: ServiceOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        do throws(ModelError) {
            _ = try registration()
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon device add") {
            let answer = try await options.call(service.client(), "PUT", body: registration().json)
            DeviceCommand.tell(answer, "registered \(options.device) of \(options.recipient)", json: json)
        }
    }

    /// The registration, checked as the service does, except for what needs its clock and its time zones.
    func registration() throws(ModelError) -> DeviceRegistration {
        var device = try DeviceRegistration(platform: platform, token: token, kind: kind)
        device.liveActivity = try LiveActivityToken(
            kind,
            attributesType: attributesType,
            activity: activity,
            pushToStart: pushToStart
        )
        (device.environment, device.bundleIdentifier, device.locale) = (environment, bundleIdentifier, locale)
        (device.timeZone, device.appVersion, device.registeredAt) = (timeZone, appVersion, registeredAt)
        device.authorizationStatus = status
        for item in setting { try SettingArgument.set(item, in: &device.settings) }
        return try DeviceRegistration(body: device.json)
    }
}
