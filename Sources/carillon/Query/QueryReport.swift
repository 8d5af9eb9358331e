import NotificationModel

/// What `carillon query` found, for people and for programs.
enum QueryReport {
    private static let maximumGroups = 20

    /// The notifications that are shown, then the numbers.
    static func text(_ result: QueryResult) -> String {
        var text = result.shown.map { line($0) + "\n" }.joined()
        if !text.isEmpty { text += "\n" }
        let groups = result.groups
        var rows = [["APPLICATION", "CATEGORY", "CHANNEL", "PENDING", "SENDING", "DELIVERED"]]
        rows += groups.prefix(maximumGroups).map { group, counts in
            [group.application, group.category ?? "-", group.channel ?? "-"] + cells(counts)
        }
        if groups.count > maximumGroups {
            rows.append(["and \(groups.count - maximumGroups) others", "", "", "", "", ""])
        }
        rows.append(["all", "", ""] + cells(result.total))
        text += columns(rows)
        return text
    }

    private static func cells(_ counts: QueryResult.Counts) -> [String] {
        ["\(counts.pending)", "\(counts.sending)", "\(counts.delivered)"]
    }

    private static func line(_ notification: QueriedNotification) -> String {
        let time = notification.time?.rfc3339 ?? "-"
        let parts = [
            notification.category.map { "category \($0)" }, notification.channel.map { "channel \($0)" },
            "request \(notification.requestID.description.prefix(8))",
        ]
        let key = String(decoding: notification.key.encoded, as: UTF8.self)
        let rest = parts.compactMap(\.self).joined(separator: ", ")
        let state = notification.state.rawValue
        let padding = String(repeating: " ", count: max(1, 11 - state.count))
        return RecordText.safe("\(state)\(padding)\(time)  \(key)  \(rest)")
    }

    private static func columns(_ rows: [[String]]) -> String {
        let cells = rows.map { $0.map { RecordText.safe(String($0.prefix(60))) } }
        let widths = (0..<6).map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = row.enumerated().map { index, cell in
                let padding = String(repeating: " ", count: widths[index] - cell.count)
                return index < 3 ? cell + padding : padding + cell
            }
            return padded.joined(separator: "  ") + "\n"
        }
        .joined()
    }

    /// A line for each notification that is shown, then one with the numbers.
    static func json(_ result: QueryResult) -> [UInt8] {
        let lines = result.shown.map { notification in
            JSONValue.object([
                .init("application", .string(notification.key.application)),
                .init("recipient", .string(notification.key.recipient)),
                .init("identifier", .string(notification.key.identifier)),
                .init("state", .string(notification.state.rawValue)),
                .init("time", notification.time.map { .string($0.rfc3339) } ?? .null),
                .init("category", notification.category.map { .string($0) } ?? .null),
                .init("channel", notification.channel.map { .string($0) } ?? .null),
                .init("requestId", .string(notification.requestID.description)),
            ])
        }
        let groups = result.groups.map { group, counts in
            JSONValue.object(
                [
                    .init("application", .string(group.application)),
                    .init("category", group.category.map { .string($0) } ?? .null),
                    .init("channel", group.channel.map { .string($0) } ?? .null),
                ] + members(counts)
            )
        }
        let total = JSONValue.object(members(result.total) + [.init("groups", .array(groups))])
        return (lines + [total]).flatMap { $0.json + [0x0A] }
    }

    private static func members(_ counts: QueryResult.Counts) -> [JSONValue.Member] {
        [
            .init("pending", .number("\(counts.pending)")), .init("sending", .number("\(counts.sending)")),
            .init("delivered", .number("\(counts.delivered)")),
        ]
    }
}
