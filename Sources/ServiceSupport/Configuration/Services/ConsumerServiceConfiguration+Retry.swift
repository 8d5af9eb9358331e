extension ConsumerServiceConfiguration {
    /// When sends that failed temporarily are tried again, and when they are given up.
    public struct Retry: Sendable {
        /// Attempts at one send.
        public var attempts = 1000
        /// From the begin of the first attempt to that of the last.
        public var age = Duration.seconds(24 * 3600)
        /// Before the second attempt; twice as long after each.
        public var firstPause = Duration.seconds(1)
        /// The longest of them.
        public var longestPause = Duration.seconds(300)
        /// The longest pause that the channel may request.
        public var longestRequest = Duration.seconds(3600)
    }

    mutating func readRetry(_ settings: inout ServiceSettings, _ defaults: Retry) {
        retry.attempts = settings.int(
            "retry.attempts",
            default: defaults.attempts,
            in: 1...1_000_000,
            about: "Attempts at one send; after the last one the notification has `failed` as `gave-up`."
        )
        retry.age = settings.duration(
            "retry.age",
            default: defaults.age,
            in: .zero ... .seconds(30 * 24 * 3600),
            about: "A send is given up when its next attempt would begin so long after the first one."
        )
        retry.firstPause = settings.duration(
            "retry.first-pause",
            default: defaults.firstPause,
            in: .milliseconds(10) ... .seconds(3600),
            about: """
                The pause before the second attempt; each further pause is twice as long. Jitter shortens pauses by up \
                to a half.
                """
        )
        retry.longestPause = settings.duration(
            "retry.longest-pause",
            default: defaults.longestPause,
            in: .milliseconds(10) ... .seconds(24 * 3600),
            about: "The longest pause between two attempts that the channel did not request."
        )
        retry.longestRequest = settings.duration(
            "retry.longest-request",
            default: defaults.longestRequest,
            in: .zero ... .seconds(24 * 3600),
            about: """
                The longest pause that the channel may request, as a webhook does with `Retry-After`. Jitter lengthens \
                it by up to a quarter.
                """
        )
    }
}
