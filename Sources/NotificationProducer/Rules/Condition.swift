import NotificationModel

/// The parsed condition of `when`.
///
/// `Variable` is as in ``Template``.
indirect enum Condition<Variable: Hashable & Sendable>: Hashable, Sendable {
    case constant(Bool)
    /// The variable has a value that is not null, false, zero or empty.
    case isTrue(Variable)
    /// The variable has a value, possibly null.
    case exists(Variable)
    case comparison(Operand, Comparison, Operand)
    case isOneOf(Operand, [Literal])
    case not(Condition)
    case all([Condition])
    case any([Condition])

    enum Operand: Hashable, Sendable {
        case literal(Literal)
        case variable(Variable)
    }

    func map<Other>(_ transform: (Variable) -> Other) -> Condition<Other> {
        switch self {
        case .constant(let value): .constant(value)
        case .isTrue(let variable): .isTrue(transform(variable))
        case .exists(let variable): .exists(transform(variable))
        case .comparison(let left, let comparison, let right):
            .comparison(left.map(transform), comparison, right.map(transform))
        case .isOneOf(let operand, let literals): .isOneOf(operand.map(transform), literals)
        case .not(let condition): .not(condition.map(transform))
        case .all(let conditions): .all(conditions.map { $0.map(transform) })
        case .any(let conditions): .any(conditions.map { $0.map(transform) })
        }
    }

    var variables: [Variable] {
        switch self {
        case .constant: []
        case .isTrue(let variable), .exists(let variable): [variable]
        case .comparison(let left, _, let right): left.variables + right.variables
        case .isOneOf(let operand, _): operand.variables
        case .not(let condition): condition.variables
        case .all(let conditions), .any(let conditions): conditions.flatMap(\.variables)
        }
    }
}

extension Condition.Operand {
    fileprivate func map<Other>(_ transform: (Variable) -> Other) -> Condition<Other>.Operand {
        switch self {
        case .literal(let literal): .literal(literal)
        case .variable(let variable): .variable(transform(variable))
        }
    }

    fileprivate var variables: [Variable] {
        if case .variable(let variable) = self { [variable] } else { [] }
    }
}

enum Comparison: String, Hashable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// A value written in an expression.
enum Literal: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(NumberValue)
    case text([UInt8])
}

/// A JSON number for comparisons: exact for a 64-bit integer, else the nearest double.
struct NumberValue: Hashable, Sendable {
    let integer: Int64?
    let double: Double

    /// Reads a JSON number.
    init(_ bytes: UnsafeRawBufferPointer) {
        let text = Substring(decoding: bytes, as: UTF8.self)
        integer = Int64(text)
        double = integer.map(Double.init) ?? Double(text) ?? .nan
    }

    static func == (left: NumberValue, right: NumberValue) -> Bool {
        if let left = left.integer, let right = right.integer { return left == right }
        return left.double == right.double
    }

    static func < (left: NumberValue, right: NumberValue) -> Bool {
        if let left = left.integer, let right = right.integer { return left < right }
        return left.double < right.double
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(double)
    }
}
