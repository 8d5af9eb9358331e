import NotificationModel
import Testing

@testable import ServiceHTTP

@Suite("The state of a connection")
struct ConnectionStateTests {
    private func isEnd(_ next: ConnectionState.AfterAnswer) -> Bool {
        if case .end = next { true } else { false }
    }

    private func isGoOn(_ next: ConnectionState.AfterAnswer) -> Bool {
        if case .goOn = next { true } else { false }
    }

    @Test("A request and its answer leave the connection unchanged")
    func one() {
        var state = ConnectionState()
        for _ in 0..<3 {
            #expect(state.isIdle)
            #expect(state.bytesArrived(10) == .pass)
            #expect(state.isWaitingForClient)
            #expect(state.headArrived(isLast: false) == .pass)
            #expect(state.isWaitingForClient)
            #expect(state.endArrived() == .pass)
            #expect(!state.isWaitingForClient)
            #expect(!state.isIdle)
            #expect(state.answerBegins(isInformational: false) == .pass)
            #expect(isGoOn(state.answerEnds()))
        }
    }

    @Test("While an earlier request is unanswered, a later one cannot be late")
    func notFirst() {
        var state = ConnectionState()
        _ = state.bytesArrived(10)
        _ = state.headArrived(isLast: false)
        _ = state.endArrived()
        _ = state.bytesArrived(10)
        #expect(!state.isWaitingForClient)
        _ = state.headArrived(isLast: false)
        #expect(!state.isWaitingForClient)
        _ = state.answerBegins(isInformational: false)
        _ = state.answerEnds()
        #expect(state.isWaitingForClient)
    }

    @Test("A request that asks for the end gets the last answer, and nothing more is read")
    func last() {
        var state = ConnectionState()
        _ = state.bytesArrived(10)
        _ = state.headArrived(isLast: true)
        _ = state.endArrived()
        #expect(state.bytesArrived(5) == .drop)
        #expect(state.headArrived(isLast: false) == .drop)
        #expect(state.discarded == 5)
        #expect(state.answerBegins(isInformational: true) == .pass)
        #expect(state.answerBegins(isInformational: false) == .passAsLast)
        #expect(state.answerGoesOn() == .pass)
        #expect(isEnd(state.answerEnds()))
        #expect(state.isEnding)
    }

    @Test("A request answered before it is complete gets the last answer")
    func early() {
        var state = ConnectionState()
        _ = state.bytesArrived(10)
        _ = state.headArrived(isLast: false)
        #expect(state.answerBegins(isInformational: false) == .passAsLast)
        #expect(isEnd(state.answerEnds()))
        #expect(state.bodyArrived() == .drop)
    }

    @Test("A refusal is answered at once without earlier requests, and then nothing else may be written")
    func refusal() {
        for part in [ConnectionState.Reading.head, .body] {
            var state = ConnectionState()
            _ = state.bytesArrived(10)
            if part == .body { _ = state.headArrived(isLast: false) }
            #expect(state.refuse(.receiveTimeout) == .answer)
            #expect(state.refuse(.receiveTimeout) == .wait, "once")
            #expect(state.answerBegins(isInformational: false) == .drop)
            #expect(state.answerGoesOn() == .drop)
            if case .drop = state.answerEnds() {} else { Issue.record("an answer ended after the last one") }
            #expect(state.bytesArrived(1) == .drop)
            #expect(!state.isWaitingForClient)
        }
    }

    @Test("A refusal waits for earlier answers, whichever part is refused")
    func refusalWaits() {
        for part in [ConnectionState.Reading.head, .body] {
            var state = ConnectionState()
            for _ in 0..<2 {
                _ = state.bytesArrived(10)
                _ = state.headArrived(isLast: false)
                _ = state.endArrived()
            }
            _ = state.bytesArrived(10)
            if part == .body { _ = state.headArrived(isLast: false) }
            #expect(state.refuse(.receiveTimeout) == .wait)
            #expect(state.bytesArrived(10) == .drop)
            #expect(state.answerBegins(isInformational: false) == .pass, "not the last one")
            #expect(isGoOn(state.answerEnds()))
            #expect(state.answerBegins(isInformational: false) == .pass)
            guard case .refuse(let problem) = state.answerEnds() else {
                Issue.record("the refusal did not follow")
                return
            }
            #expect(problem.reason == .receiveTimeout)
            #expect(state.isEnding)
        }
    }

    @Test("A request that breaks during its own answer is not answered twice")
    func refusalWhileAnswering() {
        var state = ConnectionState()
        _ = state.bytesArrived(10)
        _ = state.headArrived(isLast: false)
        _ = state.answerBegins(isInformational: false)
        #expect(state.refuse(.receiveTimeout) == .wait)
        #expect(state.answerGoesOn() == .pass)
        #expect(isEnd(state.answerEnds()))
    }

    @Test("On a stop, the requests in progress are answered and no others")
    func stop() {
        var state = ConnectionState()
        _ = state.bytesArrived(10)
        state.stop()
        #expect(state.headArrived(isLast: false) == .pass)
        _ = state.endArrived()
        #expect(state.bytesArrived(10) == .drop)
        #expect(state.answerBegins(isInformational: false) == .passAsLast)
        #expect(isEnd(state.answerEnds()))
    }

    @Test("A connection gives up only on the complete next request, and once")
    func giveUp() {
        var state = ConnectionState()
        _ = state.bytesArrived(10)
        #expect(state.giveUp() == false)
        _ = state.headArrived(isLast: false)
        #expect(!state.isWaitingForAnswer)
        _ = state.endArrived()
        #expect(state.isWaitingForAnswer)
        _ = state.bytesArrived(10)
        _ = state.headArrived(isLast: false)
        #expect(state.isWaitingForAnswer, "that a second one arrives changes nothing")
        #expect(state.giveUp() == true)
        #expect(state.giveUp() == false)
        #expect(state.answerBegins(isInformational: false) == .drop)
        #expect(state.bytesArrived(1) == .drop)
    }

    @Test("A TLS handshake is not a request")
    func greeting() {
        var state = ConnectionState()
        _ = state.bytesArrived(500)
        #expect(state.isWaitingForClient)
        state.greetingArrived()
        #expect(state.isIdle)
    }
}
