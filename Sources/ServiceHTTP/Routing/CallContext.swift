package import Hummingbird
package import NIOCore

/// The part of its connection that a call needs.
package struct CallContext: InitializableFromSource {
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }
}
