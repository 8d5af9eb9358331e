/// The size of an entry, which is a record of the topic `state`.
extension StateEntry {
    /// About the bytes of its JSON: exact in what can be large, the contents.
    package var bytes: Int {
        var bytes = 256 + 40 * known.count + 96 * marks.count
        if pending != nil { bytes += 384 + (pending?.content.count ?? 0) }
        if handover != nil { bytes += 512 + (handover?.content.count ?? 0) + 64 * (handover?.devices?.count ?? 0) }
        if delivered != nil { bytes += 128 }
        if let details = delivered?.details { bytes += 64 * details.devices.count + (details.content?.count ?? 0) }
        if let screen { bytes += 192 * screen.targets.count + 512 * screen.operations.count }
        return bytes
    }
}
