import NotificationModel

/// JSON values one after the other: JSON Lines, one document over several lines, or arrays of them.
///
/// If the first value is on one line, each line is a value, and a mistake in one does not affect the next. Otherwise
/// values end where their braces close. An array stands for its elements. Blank lines are ignored.
struct JSONInput {
    /// Default maximum size of one value in bytes.
    static let maximumBytes = 16 << 20

    enum Step: Equatable {
        case value(place: String, [UInt8])
        /// The value at this position is invalid.
        case refused(place: String, ModelError)
        case nothingYet
        case end
    }

    private let name: String
    private let maximumBytes: Int
    private let lines: LineReader
    private var number = 0
    private var isByLine: Bool?
    /// An incomplete value: its lines so far, the first line's number, and its nesting.
    private var open: (bytes: [UInt8], line: Int, nesting: JSONNesting)?
    private var elements: (place: String, rest: ArraySlice<JSONValue>, next: Int) = ("", [], 1)

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - maximumBytes: Maximum size of one value, arrays included.
    init(path: String, maximumBytes: Int = JSONInput.maximumBytes) throws(CommandFailure) {
        self.maximumBytes = maximumBytes
        let isStandardInput = path == "-"
        name = isStandardInput ? "standard input" : path
        do throws(LineReader.Failure) {
            lines = try LineReader(path: isStandardInput ? nil : path, maximumBytes: maximumBytes)
        } catch {
            throw CommandFailure(error.description, status: ExitStatus.noInput)
        }
    }

    /// Remaining elements of the current array.
    var elementsLeft: Int { elements.rest.count }

    /// The next value.
    ///
    /// - Parameter time: How long to wait for input.
    mutating func next(within time: Duration) throws(CommandFailure) -> Step {
        let deadline = ContinuousClock.now + time
        while true {
            if let element = elements.rest.popFirst() {
                defer { elements.next += 1 }
                return .value(place: "\(elements.place), element \(elements.next)", element.json)
            }
            switch try line(within: max(.zero, deadline - .now)) {
            case .nothingYet: return .nothingYet
            case .end:
                guard let open else { return .end }
                self.open = nil
                if let step = whole(open.bytes, line: open.line) { return step }
            case .tooLong:
                number += 1
                let first = open?.line ?? number
                open = nil
                return .refused(place: place(first), tooLarge)
            case .line(let bytes):
                number += 1
                if let step = take(bytes) { return step }
                // The input may be endless without a value.
                if ContinuousClock.now >= deadline { return .nothingYet }
            }
        }
    }

    private func line(within time: Duration) throws(CommandFailure) -> LineReader.Step {
        do throws(LineReader.Failure) {
            return try lines.next(within: time)
        } catch {
            throw CommandFailure("\(name): \(error)", status: ExitStatus.noInput)
        }
    }

    private mutating func take(_ line: [UInt8]) -> Step? {
        if open == nil, line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
        if isByLine == true { return whole(line, line: number) }
        var (bytes, first, nesting) = open ?? ([], number, JSONNesting())
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        bytes += line
        nesting.take(line)
        guard !nesting.isOpen else {
            isByLine = false
            open = (bytes, first, nesting)
            guard bytes.count > maximumBytes else { return nil }
            open = nil
            return .refused(place: place(first), tooLarge)
        }
        isByLine = isByLine ?? true
        open = nil
        return whole(bytes, line: first)
    }

    private mutating func whole(_ bytes: [UInt8], line: Int) -> Step? {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard first == UInt8(ascii: "[") else { return .value(place: place(line), bytes) }
        do throws(ModelError) {
            // The array adds one level to its elements' nesting.
            let value = try JSONValue.parse(bytes, maximumDepth: ModelLimits.depth + 1)
            elements = (place(line), value.arrayValue?[...] ?? [], 1)
            return nil
        } catch {
            return .refused(place: place(line), error)
        }
    }

    private func place(_ line: Int) -> String { "\(name):\(line)" }

    private var tooLarge: ModelError { ModelError(.tooLarge, "a value has at most \(maximumBytes) bytes") }
}

/// The nesting depth of an incomplete JSON text, from its brackets and strings.
struct JSONNesting {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Reads the next line. An unclosed string ends with its line: JSON has no line ends in strings.
    mutating func take(_ line: [UInt8]) {
        for byte in line {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        (isInString, isEscaped) = (false, false)
    }

    var isOpen: Bool { depth > 0 }
}
