import Hummingbird
import NIOCore

/// What a call needs of its connection.
struct CallContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }
}
