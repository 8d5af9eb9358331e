package import OutboundHTTP

extension OutboundFailure {
    /// What is wrong with the bytes of a medium.
    package init(_ problem: MediaProblem) {
        self.init(code: problem.code.rawValue, detail: problem.detail)
    }

    /// Why the store does not have it.
    package init(_ error: MediaStoreError) {
        self.init(code: error.code.rawValue, detail: error.detail)
    }
}
