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
    /// Bytes of the value of a signal, and of the HTTP body of one.
    public static let signalBytes = 16 * 1024
    /// Devices of a recipient whose last fixes are kept; beyond it the one with the oldest fix is forgotten.
    public static let locatedDevices = 16
}
