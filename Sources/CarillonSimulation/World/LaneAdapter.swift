extension World {
    func makeLane(_ seat: LaneSeat) throws -> any LaneDriver { throw Violation(.refusal, "no lane") }
}
