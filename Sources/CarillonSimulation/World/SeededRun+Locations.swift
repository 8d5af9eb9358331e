import NotificationModel
import NotificationState

/// Fixes without faults: what waits for a region must be sent.
extension SeededRun {
    /// All recipients have a device on a side of the boundary.
    func locateAll(_ side: RegionSide) {
        guard world.violation == nil, world.scenario.growth == nil else { return }
        workload.locateAll(side)
        rest("after all devices are \(side)")
    }

    private static let tellsOfDevice: Set<DeliveryEventName> = [
        .deviceAttempted, .deviceReceived, .devicePresented, .deviceOpened,
    ]

    /// The devices enter, and leave again: each notification that waits for one of both is sent. They were outside before,
    /// perhaps before a restart.
    func cross() {
        guard world.violation == nil, workload.hasLocations, world.scenario.growth == nil else { return }
        let observer = world.observer
        let waiting = observer.open.filter { id in
            // One that quiet hours or a digest hold has crossed before, whatever devices say meanwhile of what they got.
            let last = observer.events(of: id).last { !Self.tellsOfDevice.contains($0.event.name) }?.event
            let isHeld = last?.name == .held && last?.occurrence != nil
            guard let request = observer.model.requests[id], let key = request.record.key else { return false }
            return request.request.isOfRegion && !isHeld
                && !world.state.awaitsFormerClock(id, of: key, at: world.timeline.clock.wall)
        }
        let before = observer.events.count
        for (side, isEntry) in [(RegionSide.inside, true), (.outside, false)] {
            locateAll(side)
            guard world.violation == nil else { return }
            var sent: Set<RequestID> = []
            for observed in observer.events[before...] where observed.event.occurrence != nil {
                if observed.event.name != .removed { sent.insert(observed.event.requestID) }
            }
            for id in waiting {
                guard let request = observer.model.requests[id]?.request,
                    isEntry ? request.onEntry : request.onExit, !sent.contains(id),
                    // It may have expired before the devices moved.
                    observer.closings[id] == nil
                else { continue }
                world.fail(Violation(.nothingLost, "\(id.text.prefix(8)) waits, although a device is \(side)"))
                return
            }
        }
    }
}
