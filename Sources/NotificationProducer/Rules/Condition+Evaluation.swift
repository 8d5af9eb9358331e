import NotificationModel

/// Evaluates conditions on one event. The only possible error is a missing variable.
extension RuleContext {
    /// Whether a condition holds. `and` and `or` evaluate from left to right and stop early, so `exists data.x and
    /// data.x > 1` never reports `data.x` as missing.
    ///
    /// - Throws: `missing-variable` when a comparison uses a missing variable.
    func holds(_ condition: Condition<BoundVariable>) throws(ModelError) -> Bool {
        switch condition {
        case .constant(let value):
            return value
        case .isTrue(let variable):
            return isTrue(variable)
        case .exists(let variable):
            if case .missing = value(of: variable) { return false }
            return true
        case .comparison(let left, let comparison, let right):
            return Self.compare(try scalar(left), comparison, try scalar(right))
        case .isOneOf(let operand, let literals):
            let value = try scalar(operand)
            return literals.contains { Self.compare(value, .equal, Scalar($0)) }
        case .not(let condition):
            return try !holds(condition)
        case .all(let conditions):
            for condition in conditions where try !holds(condition) { return false }
            return true
        case .any(let conditions):
            for condition in conditions where try holds(condition) { return true }
            return false
        }
    }

    /// False when the variable is missing, null, false, zero, or an empty text, list or object, or is the text `false`,
    /// `null` or a zero.
    func isTrue(_ variable: BoundVariable) -> Bool {
        switch value(of: variable) {
        case .missing: return false
        case .text(let text): return Self.isTrue(text)
        case .json(let match, let bytes):
            switch match.kind {
            case .missing, .null, .false: return false
            case .true: return true
            case .number: return NumberValue(UnsafeRawBufferPointer(rebasing: bytes[match.range])).double != 0
            case .string: return match.withText(in: bytes) { Self.isTrue(String(decoding: $0, as: UTF8.self)) }
            case .array, .object: return bytes[match.range].dropFirst().dropLast().contains { $0 > 0x20 }
            }
        }
    }

    private static func isTrue(_ text: String) -> Bool {
        switch text {
        case "", "false", "null": false
        default: Double(text) != 0
        }
    }

    // MARK: Comparing

    /// A value for a comparison.
    private enum Scalar {
        case null
        case bool(Bool)
        case number(NumberValue)
        case text([UInt8])
        case borrowedText(UnsafeRawBufferPointer)
        /// A list or an object, which equals nothing.
        case composite

        init(_ literal: Literal) {
            switch literal {
            case .null: self = .null
            case .bool(let value): self = .bool(value)
            case .number(let value): self = .number(value)
            case .text(let bytes): self = .text(bytes)
            }
        }
    }

    private func scalar(_ operand: Condition<BoundVariable>.Operand) throws(ModelError) -> Scalar {
        let variable: BoundVariable
        switch operand {
        case .literal(let literal): return Scalar(literal)
        case .variable(let named): variable = named
        }
        switch value(of: variable) {
        case .missing: throw missing(variable)
        case .text(let text): return .text(Array(text.utf8))
        case .json(let match, let bytes):
            switch match.kind {
            case .missing: throw missing(variable)
            case .null: return .null
            case .true: return .bool(true)
            case .false: return .bool(false)
            case .number: return .number(NumberValue(UnsafeRawBufferPointer(rebasing: bytes[match.range])))
            case .string where match.isEscaped: return .text(match.withText(in: bytes) { Array($0) })
            case .string: return .borrowedText(UnsafeRawBufferPointer(rebasing: bytes[match.range]))
            case .array, .object: return .composite
            }
        }
    }

    /// Values of different types are neither equal nor ordered; `!=` is the negation of `==`.
    private static func compare(_ left: Scalar, _ comparison: Comparison, _ right: Scalar) -> Bool {
        switch comparison {
        case .equal: isEqual(left, right)
        case .notEqual: !isEqual(left, right)
        case .less: isLess(left, right)
        case .lessOrEqual: isLess(left, right) || isOrderedAndEqual(left, right)
        case .greater: isLess(right, left)
        case .greaterOrEqual: isLess(right, left) || isOrderedAndEqual(left, right)
        }
    }

    private static func isEqual(_ left: Scalar, _ right: Scalar) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        default: isOrderedAndEqual(left, right)
        }
    }

    /// Only numbers and texts are ordered.
    private static func isOrderedAndEqual(_ left: Scalar, _ right: Scalar) -> Bool {
        if case .number(let left) = left, case .number(let right) = right { return left == right }
        return withTexts(left, right) { $0.elementsEqual($1) }
    }

    /// Texts in byte order, which is the order of Unicode code points.
    private static func isLess(_ left: Scalar, _ right: Scalar) -> Bool {
        if case .number(let left) = left, case .number(let right) = right { return left < right }
        return withTexts(left, right) { $0.lexicographicallyPrecedes($1) }
    }

    private static func withTexts(
        _ left: Scalar,
        _ right: Scalar,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        withText(left) { left in withText(right) { right in body(left, right) } }
    }

    /// False for values that are not text.
    private static func withText(_ value: Scalar, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        switch value {
        case .text(let bytes): bytes.withUnsafeBytes(body)
        case .borrowedText(let bytes): body(bytes)
        case .null, .bool, .number, .composite: false
        }
    }
}
