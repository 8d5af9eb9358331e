import NotificationModel
import Yams

/// Compiles the YAML nodes of a rule file to rules, and collects every problem instead of stopping at the first.
struct RuleCompiler {
    typealias Text = Template<VariablePath>
    typealias WrittenRule = Rule<VariablePath>

    let source: SourceText
    var problems: [RuleFileError.Problem] = []
    /// What is allowed, and probably not meant.
    var warnings: [RuleFileError.Problem] = []
    /// The types without a rule that have no effect.
    private(set) var ignored: [EventPattern] = []
    /// The positions of the current rule's parts, by dotted path, for errors of the model.
    var marks: [String: Mark] = [:]
    /// Whether `{{item}}` is available: the rule has a list of recipients.
    var allowsItem = false
    /// The name of the current content in messages; the model calls it `content`.
    var contentPlace = "content"
    private var defaults = RuleDefaults()

    init(source: SourceText) {
        self.source = source
    }

    static let fileKeys: Set<String> = ["rules", "defaults", "ignore"]

    static let ruleKeys: Set<String> = notificationKeys.union([
        "name", "event", "when", "application", "recipient", "recipients", "version", "cancel", "state",
    ])

    /// The keys that cannot be combined with `cancel`.
    static let notificationKeys: Set<String> = [
        "identifier", "content", "localizations", "locale", "fallbackLocale", "trigger", "expiration",
        "collapseWindow", "channel", "quietHours", "cap", "digest",
    ]

    mutating func compile(_ root: Node) -> [WrittenRule] {
        guard let file = members(of: root, at: "the file", allowed: Self.fileKeys) else { return [] }
        if let node = file["defaults"] { defaults = compileDefaults(node) }
        if let node = file["ignore"] { ignored = compileIgnored(node) }
        guard let list = file["rules"] else {
            note(root.mark, "the file is missing a list `rules:`")
            return []
        }
        guard case .sequence(let sequence) = list, !sequence.isEmpty else {
            note(list.mark, "`rules` must be a list with at least one rule")
            return []
        }
        var rules: [WrittenRule] = []
        var countByEvent: [String: Int] = [:]
        var lineByName: [String: Int] = [:]
        var weight = 0
        for node in sequence {
            guard let rule = compileRule(node, countByEvent: &countByEvent) else { continue }
            if let line = lineByName[rule.name] {
                note(marks["name"] ?? node.mark, "the name `\(rule.name)` is already used by the rule on line \(line)")
            }
            lineByName[rule.name] = rule.line
            weight += rule.weight
            guard weight <= RuleFile.maximumWeight else {
                note(
                    node.mark,
                    "with defaults and localizations the rules up to here exceed \(RuleFile.maximumWeight) bytes"
                )
                break
            }
            rules.append(rule)
        }
        return rules
    }

    private mutating func compileRule(_ node: Node, countByEvent: inout [String: Int]) -> WrittenRule? {
        marks = [:]
        allowsItem = false
        let before = problems.count
        guard let fields = members(of: node, at: "a rule", allowed: Self.ruleKeys) else { return nil }
        for (key, value) in fields { marks[key] = value.mark }

        let event = required("event", in: fields, of: node).flatMap { constantText($0, "event") }
        if let event { warnOfPattern(event, marks["event"] ?? node.mark) }
        let name = fields["name"].flatMap { constantText($0, "name") }
        let when = fields["when"].flatMap { condition($0) }
        let recipients = compileRecipients(fields, of: node)
        allowsItem = fields["recipients"] != nil
        let application = fields["application"].flatMap { template($0, at: "application") }
        let version = fields["version"].flatMap { compileVersion($0) }
        let identifierKey = fields["cancel"] == nil ? "identifier" : "cancel"
        let identifier = required(identifierKey, in: fields, of: node).flatMap { template($0, at: identifierKey) }
        checkConstant(application, at: "application")
        checkConstant(identifier, at: identifierKey)
        let action = fields["cancel"] == nil ? notification(fields, of: node) : cancellation(fields)

        guard problems.count == before, let event, let recipients, let identifier, let action else { return nil }
        let place = countByEvent[event, default: 0]
        countByEvent[event] = place + 1
        return WrittenRule(
            name: name ?? "\(event)#\(place)",
            line: node.mark?.line ?? 0,
            event: event,
            when: when,
            application: application ?? defaults.application,
            recipients: recipients,
            identifier: identifier,
            version: version,
            action: action
        )
    }

    private mutating func warnOfPattern(_ event: String, _ mark: Mark?) {
        guard event.utf8.contains(UInt8(ascii: "*")), warnings.count < RuleFile.maximumProblems else { return }
        warnings.append(
            .init(
                line: mark?.line ?? 0,
                column: mark?.column ?? 0,
                message: """
                    `event: \(event.prefix(60))` is one type of events, and its `*` a character of it: a rule needs the whole \
                    type; `ignore:` takes patterns
                    """
            )
        )
    }

    private mutating func compileIgnored(_ node: Node) -> [EventPattern] {
        guard case .sequence(let sequence) = node, sequence.count <= EventPattern.maximumCount else {
            note(node.mark, "`ignore` must be a list of at most \(EventPattern.maximumCount) types of events")
            return []
        }
        var patterns: [EventPattern] = []
        for node in sequence {
            guard let text = constantText(node, "ignore") else { continue }
            guard text.utf8.count <= EventPattern.maximumBytes else {
                note(node.mark, "`ignore`: a type or pattern has at most \(EventPattern.maximumBytes) bytes")
                continue
            }
            patterns.append(EventPattern(text))
        }
        return patterns
    }

    private mutating func cancellation(_ fields: [String: Node]) -> WrittenRule.Action? {
        for key in Self.notificationKeys.sorted() {
            guard let given = fields[key] else { continue }
            note(
                given.mark,
                "`\(key)` cannot be combined with `cancel`: a rule either requests a notification or cancels one"
            )
        }
        return scope(fields["state"]).map { .cancel($0) }
    }

    private mutating func compileRecipients(_ fields: [String: Node], of rule: Node) -> WrittenRule.Recipients? {
        guard let list = fields["recipients"] else {
            guard let recipient = required("recipient", in: fields, of: rule) else { return nil }
            let text = template(recipient, at: "recipient")
            checkConstant(text, at: "recipient")
            return text.map { .one($0) }
        }
        if let recipient = fields["recipient"] {
            note(recipient.mark, "`recipient` cannot be combined with `recipients`: a rule has one of them")
        }
        return compileRecipients(list)
    }

    /// `"{{data.customers}}"`, or `{from: "{{data.users}}", id: "{{item.id}}", limit: 500}`.
    private mutating func compileRecipients(_ node: Node) -> WrittenRule.Recipients? {
        var from = node
        var id: Text? = try? Text("{{item}}")
        var limit: Int? = defaults.recipientLimit ?? FanOut.defaultLimit
        if case .mapping = node {
            guard let fields = members(of: node, at: "`recipients`", allowed: ["from", "id", "limit"]) else {
                return nil
            }
            guard let given = required("from", in: fields, of: node, "`recipients`") else { return nil }
            from = given
            if let given = fields["id"] {
                allowsItem = true
                id = template(given, at: "recipients.id")
                allowsItem = false
                if let id, !id.variables.contains(where: { $0.root == .item }) {
                    note(given.mark, "`recipients.id` is constant; it needs a variable such as {{item.id}}")
                }
            }
            if let given = fields["limit"] { limit = recipientLimit(given) }
        }
        guard let list = template(from, at: "recipients") else { return nil }
        guard let variable = list.soleVariable else {
            note(from.mark, "`recipients` must be one variable that contains a list, such as \"{{data.customers}}\"")
            return nil
        }
        guard let id, let limit else { return nil }
        return .each(list: variable, id: id, limit: limit)
    }

    // MARK: The members of a request

    /// Compiles all members, even after a mistake, to find every problem.
    private mutating func notification(_ fields: [String: Node], of rule: Node) -> WrittenRule.Action? {
        let before = problems.count
        if let state = fields["state"] {
            note(state.mark, "`state` is allowed only with `cancel`")
        }
        let content = required("content", in: fields, of: rule).flatMap { contentFields($0, at: "content") }
        var rest = Text()
        var digest: Text?
        let trigger = fields["trigger"].flatMap { object($0, RuleShape.trigger, at: "trigger", depth: 1) }
        if let trigger {
            checkMember(trigger, "trigger")
            rest.append(bytes: RequestWriter.nameOfLaterMember(.trigger))
            rest.append(trigger)
        }
        let expiration = fields["expiration"].map { compileExpiration($0) } ?? defaults.expiration
        if case .absolute(let text)? = expiration {
            rest.append(bytes: RequestWriter.nameOfLaterMember(.expiration))
            rest.append(string: text)
        }
        let window = fields["collapseWindow"].map { compileCollapseWindow($0) } ?? defaults.collapseWindow
        if let window {
            rest.append(bytes: RequestWriter.nameOfLaterMember(.collapseWindow))
            rest.append(window)
        }
        if let channel = fields["channel"].map({ compileChannel($0) }) ?? defaults.channel {
            rest.append(bytes: RequestWriter.nameOfLaterMember(.channel))
            rest.append("\"\(channel.rawValue)\"")
        }
        for (field, shape) in RuleShape.limits {
            let given = fields["\(field)"].map { compileLimit($0, field, shape) }
            guard let limit = given ?? defaults.limits[field] else { continue }
            rest.append(bytes: RequestWriter.nameOfLaterMember(field))
            rest.append(limit)
            if field == .digest { digest = limit }
        }
        guard let content else {
            _ = compileLocalizations(fields, base: ContentFields())
            return nil
        }
        guard let localizations = compileLocalizations(fields, base: content) else { return nil }
        var base = content
        if let byDevice = localizations.byDevice { base.fields.append(.init(name: "localizations", value: byDevice)) }
        // Skip further checks: they would report missing fields that were refused above.
        guard problems.count == before else { return nil }
        var notification = WrittenRule.Notification(bodies: [])
        if case .after(let after)? = expiration { notification.expiresAfter = after }
        if !localizations.variants.isEmpty {
            notification.locales = localizations.table
            notification.locale = localizations.locale
        }
        let isBaseUsed = !localizations.table.hasFallback
        for (fields, place, mark) in [(base, "content", marks["content"])] + localizations.variants {
            let fields = fields.completed(by: defaults.content)
            guard !fields.isMixed else {
                note(
                    mark,
                    """
                    `\(place)`: `apns` cannot be combined with other fields of content, of the rule, a locale or `defaults`; a field \
                    of `defaults` is left out by `null`
                    """
                )
                continue
            }
            let json = fields.json
            if isBaseUsed || place != "content" {
                checkContent(json, place, mark)
                if json.constantBytes == nil { checkCoherence(of: fields, place) }
                if let digest { checkDigest(digest, of: fields, trigger, place) }
            }
            var body = Text()
            body.append(bytes: RequestWriter.nameOfLaterMember(.content))
            body.append(json)
            body.append(rest)
            notification.bodies.append(body)
        }
        return .notify(notification)
    }

    private typealias Variant = (fields: ContentFields, place: String, mark: Mark?)

    /// The localizations of a rule. `byDevice` is `localizations` of the content, when no locale of the event decides.
    private typealias Localizations = (table: LocaleTable, locale: Text?, variants: [Variant], byDevice: Text?)

    /// - Returns: Nil when the localizations as a whole are invalid.
    private mutating func compileLocalizations(_ fields: [String: Node], base: ContentFields) -> Localizations? {
        let isByDevice = fields["locale"].map(\.isNull) ?? (defaults.locale == nil)
        let locale = isByDevice ? nil : fields["locale"].flatMap { template($0, at: "locale") }
        let fallback = fields["fallbackLocale"].flatMap { localeTag($0, "fallbackLocale") } ?? defaults.fallbackLocale
        var table = LocaleTable(fallback: fallback)
        guard let node = fields["localizations"] else {
            for key in ["locale", "fallbackLocale"] {
                if let given = fields[key] { note(given.mark, "`\(key)` is allowed only with `localizations`") }
            }
            return (table, nil, [], nil)
        }
        guard let pairs = pairs(of: node, at: "`localizations`") else { return nil }
        if isByDevice, let given = fields["fallbackLocale"] {
            note(given.mark, "`fallbackLocale` needs a `locale` from the event: other devices get the `content`")
        }
        guard pairs.count <= LocaleTable.maximumCount else {
            note(node.mark, "`localizations` has \(pairs.count) locales, at most \(LocaleTable.maximumCount) allowed")
            return nil
        }
        var variants: [Variant] = []
        var (texts, isFirst) = (Text(), true)
        texts.append("{")
        for (tag, keyNode, value) in pairs {
            if !LocaleTable.isTag(tag) {
                note(keyNode.mark, "`\(tag.prefix(60))` is not a locale; write a tag such as en, pt-BR or zh-Hans")
            } else if !table.insert(tag, body: variants.count + 1) {
                note(keyNode.mark, "`localizations` has `\(tag)` twice")
            }
            guard let own = contentFields(value, at: "localizations.\(tag)") else { continue }
            if isByDevice {
                for field in own.fields where field.value == nil || !Self.textKeys.contains(field.name) {
                    note(
                        value.mark,
                        "`localizations.\(tag)`: without a `locale` from the event a device gets another title, subtitle or "
                            + "body, not another `\(field.name)`"
                    )
                }
                texts.append("\(isFirst ? "" : ",")\"\(tag)\":")
                isFirst = false
                texts.append(own.json)
            } else {
                variants.append((base.overlaid(by: own), "localizations.\(tag)", value.mark))
            }
        }
        guard isByDevice else { return (table, locale ?? defaults.locale, variants, nil) }
        texts.append("}")
        return (LocaleTable(fallback: nil), nil, [], texts)
    }

    /// What the locale of a device can decide.
    private static let textKeys: Set<String> = ["title", "subtitle", "body"]

    // MARK: Defaults

    static let defaultKeys: Set<String> = [
        "application", "locale", "fallbackLocale", "content", "expiration", "collapseWindow", "channel",
        "quietHours", "cap", "digest", "recipients",
    ]

    private mutating func compileDefaults(_ node: Node) -> RuleDefaults {
        var defaults = RuleDefaults()
        guard let fields = members(of: node, at: "`defaults`", allowed: Self.defaultKeys) else { return defaults }
        for (key, value) in fields { marks[key] = value.mark }
        defaults.application = fields["application"].flatMap { template($0, at: "application") }
        checkConstant(defaults.application, at: "application")
        defaults.locale = fields["locale"].flatMap { template($0, at: "locale") }
        defaults.fallbackLocale = fields["fallbackLocale"].flatMap { localeTag($0, "fallbackLocale") }
        if let content = fields["content"].flatMap({ contentFields($0, at: "defaults.content") }) {
            defaults.content = content
        }
        defaults.expiration = fields["expiration"].flatMap { compileExpiration($0) }
        defaults.collapseWindow = fields["collapseWindow"].flatMap { compileCollapseWindow($0) }
        defaults.channel = fields["channel"].flatMap { compileChannel($0) }
        for (field, shape) in RuleShape.limits {
            defaults.limits[field] = fields["\(field)"].flatMap { compileLimit($0, field, shape) }
        }
        if let recipients = fields["recipients"].flatMap({ members(of: $0, at: "`recipients`", allowed: ["limit"]) }) {
            defaults.recipientLimit = recipients["limit"].flatMap { recipientLimit($0) }
        }
        return defaults
    }
}

/// The defaults for all rules.
struct RuleDefaults {
    var application: Template<VariablePath>?
    var locale: Template<VariablePath>?
    var fallbackLocale: String?
    var content = ContentFields()
    var expiration: RuleCompiler.Expiration?
    var collapseWindow: Template<VariablePath>?
    var channel: ChannelName?
    var limits: [RequestField: Template<VariablePath>] = [:]
    var recipientLimit: Int?
}
