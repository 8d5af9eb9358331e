public import PushSimulation

/// Why the simulator cannot start, or refuses what it was told.
public typealias APNsSimulatorError = SimulatorError
