package import Hummingbird
package import NIOCore

/// What a call needs of its connection.
package struct CallContext: InitializableFromSource {
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }
}
