import NotificationChannels
import NotificationConsumer
import NotificationEnrichment
import ServiceSupport
import ServiceTracing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

let status = await ServiceMain.consumer.run { settings in
    let configuration = ConsumerServiceConfiguration(settings: &settings)
    return { here in
        let channels = try configuration.makeChannels(
            health: here.health,
            registry: here.registry,
            logger: here.logger
        )
        let enrichment = try ConfiguredEnrichment.ifEnabled(
            configuration,
            registry: here.registry,
            logger: here.logger
        )
        let consumer = try ConsumerService(
            configuration: configuration,
            channels: channels,
            enrichment: enrichment?.worker,
            routes: enrichment?.routes ?? [],
            health: here.health,
            registry: here.registry,
            tracer: here.tracer,
            logger: here.logger
        )
        let reloads = [consumer.reload, enrichment?.reload]
        return [HangupService(logger: here.logger, channels: channels, actions: reloads), consumer]
    }
}
exit(status)
