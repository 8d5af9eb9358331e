import NotificationModel

/// The contract knows four triggers; this release's consumer service runs two. The others are refused where they come in, so
/// that nothing waits for a trigger that never fires.
enum SupportedTriggers {
    /// - Throws: `unsupported-form` at `trigger.type`.
    static func check(_ trigger: NotificationTrigger) throws(ModelError) {
        switch trigger {
        case .push, .timeInterval: return
        case .calendar: throw unsupported("calendar")
        case .location: throw unsupported("location")
        }
    }

    private static func unsupported(_ type: String) -> ModelError {
        ModelError(
            .unsupportedForm,
            field: "trigger.type",
            "this release does not run \(type) triggers; it runs push and timeInterval"
        )
    }
}
