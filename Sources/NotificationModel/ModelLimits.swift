/// All limits of the model. Sizes are bytes of UTF-8, durations seconds.
public enum ModelLimits {
    /// Bytes of a request or removal value, and of the HTTP body of a request.
    public static let requestBytes = 256 * 1024
    /// Bytes of a business event in structured mode, and of the data of one in binary mode.
    public static let businessEventBytes = 1024 * 1024
    /// Events in one HTTP batch.
    public static let businessEventsInBatch = 1000
    /// Levels of nested objects and arrays.
    public static let depth = 32
    /// Bytes of application, recipient and identifier, each, decoded.
    public static let keyComponentBytes = 256
    /// Bytes of a request id that is not a UUID.
    public static let requestIDBytes = 128
    /// Bytes of an attribute of a business event (id, source, type, subject, extension value).
    public static let businessEventAttributeBytes = 4096
    /// Bytes of short content fields: identifiers of category and thread, sound and image names, localization keys.
    public static let shortTextBytes = 1024
    /// Bytes of an attachment's URL.
    public static let urlBytes = 2048
    /// Attachments of one notification.
    public static let attachments = 10
    /// Bytes of all variants of a content's texts; there are at most 200.
    public static let localizationsBytes = 64 * 1024
    /// Arguments of one localized text.
    public static let localizationArguments = 32
    /// The largest badge number.
    public static let badge: Int64 = 1_000_000_000
    /// Shortest interval of a repeating time-interval trigger, inclusive.
    public static let repeatingTimeInterval = 60.0
    /// Longest time interval: ten years of 366 days.
    public static let timeInterval = 10.0 * 366 * 86_400
    /// Longest jitter.
    public static let jitter = 86_400.0
    /// Longest collapse window.
    public static let collapseWindow = 86_400.0
    /// Largest radius of a region in metres: half way round the Earth.
    public static let regionRadius = 20_037_508.0
    /// Largest radius of a fix's accuracy in metres: half way round the Earth.
    public static let accuracy = 20_037_508.0
    /// Bytes of the value of a signal, and of the HTTP body of one: the longest ``userTextBytes`` fits with every character
    /// escaped.
    public static let signalBytes = 64 * 1024
    /// Bytes of what a person typed in response to a notification.
    public static let userTextBytes = 8 * 1024
    /// Bytes of an action's identifier in a response.
    public static let actionIdentifierBytes = 256
    /// Bytes of the reason in a gateway's report.
    public static let reportReasonBytes = 256
    /// Bytes of a device registration, and of the HTTP body of one.
    public static let deviceBytes = 16 * 1024
    /// Bytes of a device's token as text.
    public static let deviceTokenBytes = 4096
    /// Bytes of a token of APNs, which has two hexadecimal digits for each.
    public static let apnsTokenBytes = 16...100
    /// Bytes of the id of a broadcast channel, in Base64.
    public static let broadcastChannelBytes = 64
    /// Bytes of the name of a type of Live Activities.
    public static let attributesTypeBytes = 256
    /// Bytes of the endpoint of a subscription of Web Push.
    public static let endpointBytes = 2048
    /// Bytes of a platform's name.
    public static let platformBytes = 64
    /// Bytes of an app's bundle identifier.
    public static let bundleIdentifierBytes = 256
    /// Bytes of a locale.
    public static let localeBytes = 64
    /// Bytes of a time zone's name.
    public static let timeZoneBytes = 64
    /// Bytes of an app's version.
    public static let appVersionBytes = 64
    /// Categories of an application.
    public static let categories = 256
    /// Actions of a category.
    public static let actions = 10
    /// Intents of a category.
    public static let intentIdentifiers = 32
    /// Actions of earlier sets of categories that a set remembers.
    public static let formerActions = 1000
    /// Bytes of the HTTP body of a set of categories.
    public static let categoryBodyBytes = 256 * 1024
    /// Bytes of the record of a set of categories: escaped, and with the actions of earlier sets.
    public static let categoryRecordBytes = 2 * 1024 * 1024
    /// The largest increment of a badge.
    public static let badgeIncrement: Int64 = 1_000_000
    /// Devices of a recipient whose last fixes are kept; beyond it the one with the oldest fix is forgotten.
    public static let locatedDevices = 16
    /// Notifications that a cap allows within its period.
    public static let capCount: Int64 = 1_000
    /// Longest period of a cap: 31 days.
    public static let capPeriod = 31.0 * 86_400
    /// Longest window of a digest.
    public static let digestWindow = 86_400.0
    /// Categories of a recipient whose capped notifications are counted; beyond it the one used longest ago is forgotten.
    public static let cappedCategories = 32
    /// Members of a digest; the one that reaches it ends the window.
    public static let digestMembers = 100
    /// What devices have told about the requests of one identifier; beyond it the oldest is forgotten.
    public static let deviceMarks = 64
}
