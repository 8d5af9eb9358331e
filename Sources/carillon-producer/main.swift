import NotificationProducer
import ServiceSupport
import ServiceTracing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

let status = await ServiceMain.producer.run { settings in
    let configuration = ProducerServiceConfiguration(settings: &settings)
    return { here in
        let producer = try ProducerService(
            configuration: configuration,
            health: here.health,
            registry: here.registry,
            tracer: here.tracer,
            logger: here.logger
        )
        return [HangupService(logger: here.logger) { await producer.reload() }, producer]
    }
}
exit(status)
