import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Publishes requests with kafka-clients 3 or newer; compile it with Notify.java. */
public class NotificationSender implements AutoCloseable {
    private static final String TOPIC = "carillon.requests";

    private final KafkaProducer<String, String> producer;
    private final String application;

    /** @param servers as in bootstrap.servers */
    public NotificationSender(String servers, String application) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", servers);
        // A repeat within the client is written once, and records of a partition keep their order.
        properties.put("enable.idempotence", "true");
        producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        this.application = application;
    }

    /**
     * Returns once the broker has written the record.
     *
     * @param content the JSON of the content, such as {@code {"title":"On its way"}}
     * @param trigger the JSON of the trigger; null sends it now
     */
    public void send(String recipient, String identifier, String content, String trigger) throws Exception {
        int partitions = producer.partitionsFor(TOPIC).size();
        Notify.Request request = Notify.Request.of(application, recipient, identifier, content, trigger, partitions);
        producer.send(new ProducerRecord<>(TOPIC, request.partition(), request.key(), request.value())).get();
    }

    @Override
    public void close() {
        producer.close();
    }
}
