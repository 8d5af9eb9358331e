import ArgumentParser
import NotificationChannels
import NotificationModel

/// What `carillon push` sends, and what is known of it before.
struct PushPlan {
    /// More than APNs takes, so that its answer to a large one can be seen.
    static let maximumPayloadBytes = 64 * 1024

    /// In lower-case hexadecimal.
    var token: String
    var push: APNsPush
    var problems: [APNsProblem]
    /// Of `--payload`: what a content of Carillon would say of it, or why it says nothing.
    var asContent: Result<ExistingAPNsPayload, ModelError>?

    /// Whether APNs or the device would refuse it.
    var isRefused: Bool { problems.contains { $0.severity == .refused } }

    /// The type of a payload that somebody else has made; nil when only the sender can know.
    static func pushType(of payload: [UInt8]) -> APNsPushType? {
        guard let payload = try? JSONValue.parse(payload) else { return nil }
        guard let aps = payload["aps"] else { return payload["mdm"] == nil ? nil : .mdm }
        if aps["content-changed"] != nil { return nil }
        if aps["event"] != nil, aps["timestamp"] != nil { return .liveactivity }
        let isSilent = aps["alert"] == nil && aps["sound"] == nil && aps["badge"] == nil
        return isSilent && aps["content-available"] != nil ? .background : .alert
    }
}

extension PushCommand {
    /// - Parameters:
    ///   - application: That the options name.
    ///   - hasCertificate: Whether a certificate, and no key, is the credential.
    ///   - id: Without an option.
    /// - Throws: ``CommandFailure`` and `ValidationError`.
    func plan(
        _ application: APNsApplication?,
        hasCertificate: Bool,
        id: UUIDValue,
        at now: Timestamp
    ) throws -> PushPlan {
        var plan = try unchecked(application, id: id, at: now)
        plan.problems = plan.push.problems(hasCertificate: hasCertificate)
        return plan
    }

    private func unchecked(_ application: APNsApplication?, id: UUIDValue, at now: Timestamp) throws -> PushPlan {
        let bundle = headers.bundleIdentifier ?? application?.bundles.first
        if let path = content.payload {
            let payload = try InputFile.read(path, upTo: PushPlan.maximumPayloadBytes)
            guard payload.count <= PushPlan.maximumPayloadBytes else {
                throw CommandFailure(
                    "\(path) has more than \(PushPlan.maximumPayloadBytes) bytes, it is no payload",
                    status: ExitStatus.badData
                )
            }
            guard let type = headers.pushType ?? PushPlan.pushType(of: payload) else {
                throw CommandFailure(
                    "--push-type is needed: the payload does not say what it is for",
                    status: ExitStatus.usage
                )
            }
            let headers = try headers.headers(type, bundle: bundle, id: id, at: now)
            var plan = PushPlan(
                token: try deviceToken(),
                push: APNsPush(headers: headers, payload: payload),
                problems: []
            )
            if type == .alert || type == .background {
                plan.asContent = Result { () throws(ModelError) in try ExistingAPNsPayload(json: payload) }
            }
            return plan
        }
        // The topic may be given without a bundle identifier.
        let all = try headers.headers(.alert, bundle: bundle, id: id, at: now)
        var push: APNsPush
        if let activity = try activity.push(content, at: now) {
            push = activity.push(id: id, bundle: bundle ?? all.topic, isUrgent: false)
        } else {
            let json = try content.contentJSON()
            let policy = try content.policy ?? application?.oversize ?? .standard
            let delivery = DeviceDelivery(id: id, content: json[...], badge: try NotificationContent(json: json).badge)
            do throws(ModelError) {
                push = try APNsPush(
                    delivery,
                    as: headers.pushType,
                    bundle: bundle ?? all.topic,
                    oversize: policy
                )
            } catch {
                throw CommandFailure("\(error)", status: ExitStatus.badData)
            }
        }
        headers.change(&push.headers, at: now)
        return PushPlan(token: try deviceToken(), push: push, problems: [])
    }

    private func deviceToken() throws -> String {
        do throws(ModelError) {
            return try DeviceRegistration(platform: "apns", token: token).token
        } catch {
            throw ValidationError("the token \(error.detail)")
        }
    }
}
