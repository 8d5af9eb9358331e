import NotificationModel
import NotificationState

/// Calendar triggers that name no time zone, on the clock of the recipient's device.
extension Turn {
    // MARK: - Requests

    /// Plans a request on the clock of its recipient, and applies it. Where that clock has no occurrence any more, nothing
    /// of it is applied.
    mutating func plan(_ request: CenterInput.Request, _ trigger: CalendarTrigger) -> CenterInput.Outcome {
        guard let zones = rules.zones else {
            return .refused(ModelError(.invalid, field: "trigger.timeZone", "is missing, and there are no time zones"))
        }
        do throws(ModelError) {
            let schedule = try Schedule(
                .calendar(trigger),
                anchor: request.timestamp,
                zones: zones,
                local: recipientZone
            )
            guard let schedule else { return .applied }
            return apply(request.with(plan: .scheduled(schedule)))
        } catch {
            return .refused(error)
        }
    }

    /// The rules of the recipient's zone; nil when it has none that the database knows.
    private var recipientZone: TimeZoneRules? {
        recipient.timeZone.flatMap { try? rules.zones?.database.rules(named: $0) }
    }

    // MARK: - Moves

    /// The occurrence of a floating repeat after one that fired, on the clock of the recipient: it was beyond the limits of a
    /// move, or was due already. One that is due, too, stays.
    func onRecipientClock(_ schedule: Schedule, _ occurrence: Timestamp) -> (Schedule, Timestamp) {
        guard case .calendar(let calendar) = schedule, calendar.floats, occurrence > now, let zone = recipientZone,
            zone.name != calendar.zone.name, let moved = calendar.moved(to: zone, from: occurrence, at: now)
        else { return (schedule, occurrence) }
        return (.calendar(moved.schedule), moved.occurrence)
    }

    /// Moves a floating trigger to the clock of another zone. What is due already stays: in doubt, or held back.
    mutating func move(to zone: TimeZoneRules) {
        guard let pending = entry.pending, !isInDoubt(pending),
            case .scheduled(.calendar(let calendar), let occurrence) = pending.timer, calendar.floats,
            occurrence > now, pending.due == Schedule.calendar(calendar).due(for: occurrence, of: pending.requestID),
            zone.name != calendar.zone.name, let moved = calendar.moved(to: zone, from: occurrence, at: now)
        else { return }
        isChanged = true
        stopEnrichment(of: pending)
        let schedule = Schedule.calendar(moved.schedule)
        let due = schedule.due(for: moved.occurrence, of: pending.requestID)
        // As for a request: what can never be sent is answered at once.
        if let expiration = pending.expiration, expiration <= due {
            entry.pending = nil
            expire(pending.requestID, pending.trace)
            return
        }
        var next = pending
        (next.timer, next.due) = (.scheduled(schedule, occurrence: moved.occurrence), due)
        next.preparation = nil
        entry.pending = next
        if mayHaveBeenSent, due <= now, rules.mayHaveBeenHandedOver(pending.channel) {
            doubt(next.showing, of: next.content, on: pending.channel)
        }
        if pending.preparation != nil { planPreparation() }
        if due != pending.due {
            publish(.scheduled, of: pending.requestID, closes: false, pending.trace) {
                // Another date is another event.
                $0.occurrence = moved.occurrence
                $0.nextTriggerDate = due
            }
        }
    }
}
