import NotificationModel
import Testing

@testable import NotificationConsumer

/// How far ahead timers are loaded from the store.
struct DueWindowTests {
    @Test func `the window moves in steps, each ahead of the end of the one before`() {
        var window = DueWindow(from: at(0))
        // A step may take several turns.
        var moves = [window.moves(at: at(0)), window.moves(at: at(1))]
        #expect(moves == [true, true] && window.reach == at(DueWindow.ahead))
        window.reachTarget()
        let next = window.nextRefill
        #expect(next == at(DueWindow.ahead - DueWindow.refillAhead))
        moves = [window.moves(at: next.adding(milliseconds: -1)), window.moves(at: next)]
        #expect(moves == [false, true] && window.reach == next.adding(milliseconds: DueWindow.ahead))
    }
}
