extension ConsumerServiceConfiguration {
    /// Reads only the settings that decide what is fetched and how: `egress.*` and `media.*`. The others keep their
    /// defaults, whatever the file and the variables say.
    ///
    /// - Parameter settings: The file and the variables of the service.
    /// - Throws: Every problem of these settings, unknown keys of the two sections included.
    package init(fetching settings: consuming ServiceSettings) throws(ServiceSettingsError) {
        self.init(bootstrapServers: [])
        readEgress(&settings)
        readMedia(&settings, defaults: Media())
        try settings.finish(sections: ["egress", "media"])
    }
}
