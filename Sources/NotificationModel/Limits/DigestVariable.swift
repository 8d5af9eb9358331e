/// What a digest's templates can name.
enum DigestVariable: String, CaseIterable, TemplateVariable {
    /// How many notifications the digest stands for.
    case count
    /// Their thread; empty unless all have the same.
    case thread
    /// Their category; empty unless all have the same.
    case category
    /// Their different titles, in the order of arrival.
    case titles
    /// The title of the first one.
    case firstTitle = "first.title"
    /// The title of the last one.
    case lastTitle = "last.title"
    /// The body of the last one.
    case lastBody = "last.body"

    init(_ path: TemplatePath) throws(TemplateError) {
        guard let variable = Self(rawValue: path.text) else {
            let known = Self.allCases.map { "{{\($0.rawValue)}}" }.joined(separator: ", ")
            throw TemplateError(variable: path.text, "is not a variable of a digest, which has \(known)")
        }
        self = variable
    }
}
