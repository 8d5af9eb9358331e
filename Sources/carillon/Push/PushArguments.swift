// Types of the channel on the command line.
import ArgumentParser
package import NotificationChannels

extension APNsPushType: ExpressibleByArgument {}

extension LiveActivityPush.Event.Name: ExpressibleByArgument {}

extension APNsPriority: ExpressibleByArgument {}
