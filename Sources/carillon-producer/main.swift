import NotificationProducer
import ServiceSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

let service = ServiceMain(
    name: "carillon-producer",
    summary: "Turns business events and API calls into notification requests on Kafka.",
    defaultOpsPort: 8081
)
let status = await service.run { settings in
    let configuration = ProducerServiceConfiguration(settings: &settings)
    return { here in
        let producer = try ProducerService(
            configuration: configuration,
            health: here.health,
            registry: here.registry,
            logger: here.logger
        )
        return [HangupService(logger: here.logger) { await producer.reload() }, producer]
    }
}
exit(status)
