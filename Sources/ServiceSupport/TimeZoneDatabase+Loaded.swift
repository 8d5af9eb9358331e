public import Logging
public import NotificationModel

extension TimeZoneDatabase {
    /// The system's database with the rules of every zone in memory: no call or record waits for a file, and an upgrade
    /// of the files takes effect at the next start.
    ///
    /// - Parameter logger: Gets the version, and what is wrong with zones that cannot be used.
    /// - Throws: `TimeZoneError` without a database.
    public static func loaded(logger: Logger) throws -> TimeZoneDatabase {
        let database = try system.get()
        for error in database.preload() {
            logger.warning("a time zone cannot be used", metadata: [LogMetadata.error: "\(error)"])
        }
        logger.info(
            "time zone data",
            metadata: ["version": "\(database.version)", LogMetadata.count: "\(database.identifiers.count)"]
        )
        return database
    }
}
