package import ServiceSupport

/// How the channel `test` answers.
package struct TestChannelConfiguration: Sendable {
    /// From the begin of a send to its answer.
    package var latency: Duration
    /// Of a thousand notifications.
    package var rejections: Int
    /// Of a thousand attempts.
    package var timeouts: Int

    package init(latency: Duration = .milliseconds(50), rejections: Int = 0, timeouts: Int = 0) {
        (self.latency, self.rejections, self.timeouts) = (latency, rejections, timeouts)
    }

    /// Reads `test-channel.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        self.init()
        latency = settings.duration(
            "test-channel.latency",
            default: latency,
            in: .zero ... .seconds(600),
            about: "After how long the channel `test` answers."
        )
        rejections = settings.int(
            "test-channel.rejections",
            default: rejections,
            in: 0...1000,
            about: """
                Of a thousand notifications, how many the channel `test` rejects: the same at every attempt and run.
                """
        )
        timeouts = settings.int(
            "test-channel.timeouts",
            default: timeouts,
            in: 0...1000,
            about: "Of a thousand attempts, how many the channel `test` does not answer: the same at every run."
        )
    }
}
