import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

/// The operation that leads from what a target shows to what is wanted there, over all of its states.
struct ScreenTargetTests {
    private static let showings = (0..<3).map { number in
        Showing(RequestID.derive(caller: "test", idempotencyKey: "\(number)"), nil)
    }

    private static var anyShowing: [Showing?] { [nil] + showings }

    private static var sets: [[Showing]] {
        (0..<8).map { bits in showings.indices.filter { bits & (1 << $0) != 0 }.map { showings[$0] } }
    }

    private static var targets: [ScreenTarget] {
        var targets: [ScreenTarget] = []
        for sure in anyShowing {
            for maybes in sets {
                let target = ScreenTarget(.webhook, "phone", shows: sure, maybes: maybes)
                targets.append(target)
                for refused in showings {
                    var refusing = target
                    refusing.refuse(refused, showing: sure)
                    targets.append(refusing)
                }
            }
        }
        return targets
    }

    private static var wanted: [ScreenTarget.Wanted] {
        var all: [ScreenTarget.Wanted] = []
        for coming in anyShowing {
            for base in anyShowing {
                for waiting in sets {
                    for (comesNow, isRestorable) in [(false, false), (false, true), (true, false), (true, true)] {
                        all.append(
                            .init(
                                coming: coming,
                                comesNow: comesNow,
                                base: base,
                                isRestorable: isRestorable,
                                waiting: waiting
                            )
                        )
                    }
                }
            }
        }
        return all
    }

    private static func forAll(_ body: (ScreenTarget, ScreenTarget.Wanted) -> Bool) -> String? {
        for target in targets {
            if let failing = wanted.first(where: { !body(target, $0) }) { return "\(target) toward \(failing)" }
        }
        return nil
    }

    /// What the target shows once the operation is done.
    private static func result(of step: ScreenTarget.Step) -> Showing?? {
        switch step {
        case .none: nil
        case .show(let showing), .restore(let showing): .some(showing)
        case .remove: .some(nil)
        }
    }

    @Test func `once an operation is done, nothing else is to be done`() {
        let failing = Self.forAll { target, wanted in
            guard let shown = Self.result(of: target.step(toward: wanted)) else { return true }
            var (after, next) = (target, wanted)
            after.settle(shown)
            // What was on its way is what the events say now.
            if case .show = target.step(toward: wanted) { (next.base, next.coming) = (wanted.coming, nil) }
            return after.step(toward: next) == .none
        }
        #expect(failing == nil)
    }

    @Test func `what is on its way goes first, unless the target surely shows it`() {
        let failing = Self.forAll { target, wanted in
            guard let coming = wanted.coming, wanted.comesNow else {
                if case .show = target.step(toward: wanted) { return false }
                return true
            }
            return target.surelyShows(coming) || target.step(toward: wanted) == .show(coming)
        }
        #expect(failing == nil)
    }

    @Test func `what is delivered again is what the events say, as long as its content is kept`() {
        let failing = Self.forAll { target, wanted in
            guard case .restore(let showing) = target.step(toward: wanted) else { return true }
            return showing == wanted.base && wanted.isRestorable
        }
        #expect(failing == nil)
    }

    @Test func `nothing stays that is neither wanted nor waits, except after a refusal`() {
        let failing = Self.forAll { target, wanted in
            guard target.step(toward: wanted) == .none, !(target.isLeft && target.maybes.isEmpty) else { return true }
            let tolerated = wanted.waiting + [wanted.coming, wanted.base].compactMap(\.self)
            return Self.showings.allSatisfy { !target.mayShow($0) || tolerated.contains($0) }
        }
        #expect(failing == nil)
    }

    @Test func `what the events say is missing only until something comes, or where it cannot be delivered again`() {
        let failing = Self.forAll { target, wanted in
            guard target.step(toward: wanted) == .none, target.maybes.isEmpty, target.sure == nil else { return true }
            return wanted.base == nil || wanted.coming != nil || !wanted.isRestorable || target.isLeft
        }
        #expect(failing == nil)
    }

    @Test func `what a target has refused leaves what it showed`() {
        for shown in Self.showings {
            for refused in Self.showings where refused != shown {
                var target = ScreenTarget(.webhook, "phone", shows: shown)
                target.refuse(refused, showing: shown)
                #expect(target.step(toward: .init(base: nil)) == .none)
                target.endRefusal()
                #expect(target.step(toward: .init(base: nil)) == .remove)
            }
        }
    }
}
