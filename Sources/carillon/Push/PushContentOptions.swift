import ArgumentParser
import NotificationChannels
import NotificationModel

/// The payload of a push, as a content or as it is.
struct PushContentOptions: ParsableArguments {
    @Option(help: ArgumentHelp("First line.", valueName: "text"))
    var title: String?

    @Option(help: ArgumentHelp("Second line.", valueName: "text"))
    var subtitle: String?

    @Option(help: ArgumentHelp("The text.", valueName: "text"))
    var body: String?

    @Option(help: ArgumentHelp("The title as a key of the app's strings.", valueName: "key"))
    var titleKey: String?

    @Option(help: ArgumentHelp("An argument of --title-key; repeatable.", valueName: "text"))
    var titleArgument: [String] = []

    @Option(help: ArgumentHelp("The subtitle as a key of the app's strings.", valueName: "key"))
    var subtitleKey: String?

    @Option(help: ArgumentHelp("An argument of --subtitle-key; repeatable.", valueName: "text"))
    var subtitleArgument: [String] = []

    @Option(help: ArgumentHelp("The text as a key of the app's strings.", valueName: "key"))
    var bodyKey: String?

    @Option(help: ArgumentHelp("An argument of --body-key; repeatable.", valueName: "text"))
    var bodyArgument: [String] = []

    @Option(help: ArgumentHelp("Number on the icon; 0 removes it.", valueName: "n"))
    var badge: Int64?

    @Option(help: ArgumentHelp("Sound to play; 'default' is the system's default.", valueName: "name"))
    var sound: String?

    @Flag(help: "The sound is a critical one.")
    var critical = false

    @Option(help: ArgumentHelp("Volume of a critical sound, 0 to 1.", valueName: "n"))
    var volume: Double?

    @Option(help: ArgumentHelp("Category, which selects the actions.", valueName: "name"))
    var category: String?

    @Option(help: ArgumentHelp("Thread, which groups related notifications.", valueName: "name"))
    var thread: String?

    @Option(help: ArgumentHelp("How much it may interrupt.", valueName: "level"))
    var interruptionLevel: InterruptionLevel?

    @Option(help: ArgumentHelp("Its place in a summary, 0 to 1; of a Live Activity any number.", valueName: "n"))
    var relevanceScore: Double?

    @Option(help: ArgumentHelp("Image or storyboard shown while the app launches.", valueName: "name"))
    var launchImage: String?

    @Option(help: ArgumentHelp("Selects the scene that opens.", valueName: "text"))
    var targetContent: String?

    @Option(help: ArgumentHelp("Read by Focus filters.", valueName: "text"))
    var filterCriteria: String?

    @Flag(help: "Run the app's service extension.")
    var mutableContent = false

    @Option(
        help: ArgumentHelp("Data for the app: a JSON object, or name=value for a text; repeatable.", valueName: "json")
    )
    var userInfo: [String] = []

    @Option(
        help: ArgumentHelp("In the place of these options: a content, as in requests, in JSON.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var content: String?

    @Option(
        help: ArgumentHelp(
            "In the place of these options: a payload of APNs, sent as it is; - is standard input.",
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var payload: String?

    @Option(
        help: ArgumentHelp(
            "What to do about a payload that is too large: refuse, shorten, drop-media; repeatable. Default: that of "
                + "--application, else shorten.",
            valueName: "step"
        )
    )
    var tooLarge: [String] = []

    /// Whether any option of a content is given.
    var hasContent: Bool {
        let texts = [title, subtitle, body, titleKey, subtitleKey, bodyKey, sound, category, thread, launchImage]
        return (texts + [targetContent, filterCriteria]).contains { $0 != nil } || badge != nil || volume != nil
            || interruptionLevel != nil || relevanceScore != nil || critical || mutableContent || !userInfo.isEmpty
    }

    func validate() throws {
        guard !Validation.isLater else { return }
        guard content == nil || payload == nil else {
            throw ValidationError("--content and --payload exclude each other")
        }
        guard !hasContent || (content == nil && payload == nil) else {
            throw ValidationError("--content and --payload are in the place of the options of a content")
        }
        for (arguments, key, name) in [
            (titleArgument, titleKey, "title"), (subtitleArgument, subtitleKey, "subtitle"),
            (bodyArgument, bodyKey, "body"),
        ] where !arguments.isEmpty && key == nil {
            throw ValidationError("--\(name)-argument needs --\(name)-key")
        }
        guard sound != nil || critical || volume == nil else { throw ValidationError("--volume needs --critical") }
        _ = try policy
    }

    /// Nil without an option.
    var policy: OversizePolicy? {
        get throws {
            guard !tooLarge.isEmpty else { return nil }
            guard let policy = OversizePolicy(texts: tooLarge) else {
                throw ValidationError("--too-large takes refuse alone, or shorten and drop-media, each once")
            }
            return policy
        }
    }

    /// A content object of the options, or of the file.
    ///
    /// - Throws: ``CommandFailure`` for a file, or values, that are no content.
    func contentJSON() throws -> [UInt8] {
        let file = try content.map { try InputFile.read($0, upTo: ModelLimits.requestBytes) }
        do throws(ModelError) {
            // What the model writes has no white space and nothing twice.
            guard let file else { return try NotificationContent(json: contentOfOptions().json).json }
            return try NotificationContent(json: file).json
        } catch {
            let field = error.field.map { " at \(RecordText.safe($0))" } ?? ""
            throw CommandFailure(
                "the content is invalid\(field): \(RecordText.safe(error.detail))",
                status: ExitStatus.badData
            )
        }
    }

    private func contentOfOptions() throws(ModelError) -> NotificationContent {
        func localization(_ key: String?, _ arguments: [String]) -> Localization? {
            key.map { Localization(key: $0, arguments: arguments.isEmpty ? nil : arguments) }
        }
        var content = NotificationContent(title: title, subtitle: subtitle, body: body)
        content.titleLocalization = localization(titleKey, titleArgument)
        content.subtitleLocalization = localization(subtitleKey, subtitleArgument)
        content.bodyLocalization = localization(bodyKey, bodyArgument)
        content.badge = badge
        if sound != nil || critical {
            content.sound = NotificationSound(name: sound ?? "default", critical: critical ? true : nil, volume: volume)
        }
        (content.categoryIdentifier, content.threadIdentifier) = (category, thread)
        (content.interruptionLevel, content.relevanceScore) = (interruptionLevel, relevanceScore)
        (content.launchImageName, content.targetContentIdentifier) = (launchImage, targetContent)
        (content.filterCriteria, content.mutableContent) = (filterCriteria, mutableContent ? true : nil)
        if !userInfo.isEmpty { content.userInfo = try UserInfoArguments.object(of: userInfo) }
        return content
    }
}
