import NotificationModel

/// Which runs have which features. Each is drawn from a generator of its own, so that the other features of a seed do not depend on it.
extension SeededRun {
    /// Whether there are business events too. Without transactions they may be repeated at any time, so if ids are forgotten
    /// early their outcome is not defined.
    static func hasIngest(_ options: Simulation.Options, _ scenario: Scenario) -> Bool {
        guard scenario.growth == nil, !scenario.isCapped, options.isExactlyOnce || !scenario.forgets else {
            return false
        }
        // Not in the search for bugs of the lanes, some of which only few seeds find.
        guard options.bugs.isEmpty else { return !options.bugs.isDisjoint(with: PlantedBug.ofIngest) }
        return scenario.hasEvents
    }

    /// The generator of location triggers and fixes; nil for a run without them. A third of the runs has them, and the search for
    /// their own bugs, but not the search for others, some of which only few seeds find.
    static func locations(_ options: Simulation.Options) -> SeededGenerator? {
        var random = SeededGenerator(seed: options.seed ^ 0x6c6f_6361_7469_6f6e)
        let isDrawn = random.chance(333)
        guard options.bugs.isEmpty else { return options.bugs.isDisjoint(with: PlantedBug.ofLocations) ? nil : random }
        return isDrawn ? random : nil
    }

    /// The generator of the channels that requests name; nil for a run without. A third of the runs with a channel that sends has
    /// them, and the search for their own bugs.
    static func channels(_ options: Simulation.Options, _ scenario: Scenario) -> SeededGenerator? {
        var random = SeededGenerator(seed: options.seed ^ 0x6368_616e_6e65_6c73)
        guard random.chance(333) || !options.bugs.isEmpty, scenario.usesChannel else { return nil }
        return options.bugs.isEmpty || !options.bugs.isDisjoint(with: PlantedBug.ofChannels) ? random : nil
    }

    /// The generator of contents that ask for enrichment; nil for a run without. A third of the runs has them, and the search for
    /// their own bugs.
    static func enrichments(_ options: Simulation.Options) -> SeededGenerator? {
        var random = SeededGenerator(seed: options.seed ^ 0x656e_7269_6368_6564)
        let isDrawn = random.chance(333)
        guard options.bugs.isEmpty else { return options.bugs.isDisjoint(with: PlantedBug.ofEnrichment) ? nil : random }
        return isDrawn ? random : nil
    }

    /// The generator of devices, responses and limits; nil for a run without. A third of the runs has them that never forget
    /// entries early, and the search for their own bugs.
    static func loop(_ options: Simulation.Options, _ scenario: Scenario) -> SeededGenerator? {
        var random = SeededGenerator(seed: options.seed ^ 0x6c6f_6f70_6c6f_6f70)
        let isDrawn = random.chance(333)
        guard !scenario.isCapped, scenario.growth == nil, !hasIngest(options, scenario) else { return nil }
        guard options.bugs.isEmpty else {
            return options.bugs.isDisjoint(with: PlantedBug.ofLoop.union(PlantedBug.ofActivities)) ? nil : random
        }
        return isDrawn ? random : nil
    }

    /// Whether the channel reaches each device by itself: in half of the runs that have devices and a channel.
    static func reachesDevices(_ options: Simulation.Options, _ scenario: Scenario) -> Bool {
        guard scenario.usesChannel, loop(options, scenario) != nil else { return false }
        guard options.bugs.isEmpty else { return !options.bugs.isDisjoint(with: PlantedBug.ofActivities) }
        var random = SeededGenerator(seed: options.seed ^ 0x6561_6368_6f6e_6521)
        return random.chance(500)
    }

    /// The generator of Live Activities and of the app that follows them; nil for a run without. Most runs have them whose channel
    /// reaches each device by itself, and the search for their own bugs.
    static func activities(_ options: Simulation.Options, _ scenario: Scenario) -> SeededGenerator? {
        var random = SeededGenerator(seed: options.seed ^ 0x6163_7469_7669_7479)
        guard random.chance(700) || !options.bugs.isEmpty, reachesDevices(options, scenario) else { return nil }
        return random
    }
}
