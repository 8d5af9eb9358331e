// Asks Carillon for a notification from Java, over Kafka: the record of a request in the partition of its recipient.
//
//     java Notify.java                                            checks the partition function with the vectors of the contracts
//     java Notify.java partition 24 ana ana/1                     prints the partition of each recipient
//     java Notify.java request 24 shop ana order-1 'On its way'   prints the partition, the key and the value of a record
//
// It needs no library. NotificationSender.java, beside it, sends such records with kafka-clients.
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

public class Notify {
    /**
     * The partition of all records that concern a recipient, on requests, signals and devices.
     *
     * <p>It is {@code Utils.toPositive(Utils.murmur2(recipient)) % partitions} of kafka-clients. The default partitioner hashes the whole
     * key instead, and what it puts into another partition becomes a dead letter (misrouted).
     *
     * @param recipient the name, not percent-encoded
     * @param partitions how many the topic has, as {@code producer.partitionsFor(topic).size()} says
     */
    static int partition(String recipient, int partitions) {
        byte[] data = recipient.getBytes(StandardCharsets.UTF_8);
        int m = 0x5bd1e995;
        int h = 0x9747b28c ^ data.length;
        int rest = data.length & ~3;
        for (int i = 0; i < rest; i += 4) {
            int k = ByteBuffer.wrap(data, i, 4).order(ByteOrder.LITTLE_ENDIAN).getInt() * m;
            h = h * m ^ (k ^ k >>> 24) * m;
        }
        for (int i = rest; i < data.length; i++) h ^= (data[i] & 0xff) << 8 * (i - rest);
        if (rest < data.length) h *= m;
        h = (h ^ h >>> 13) * m;
        return ((h ^ h >>> 15) & 0x7fffffff) % partitions;
    }

    /** A record of the topic requests, before it is given to a producer. */
    record Request(String key, int partition, String value) {
        /**
         * @param content the JSON of the content, such as {@code {"title":"On its way"}}
         * @param trigger the JSON of the trigger; null sends it now
         * @param partitions of the topic requests
         */
        static Request of(
            String application, String recipient, String identifier, String content, String trigger, int partitions
        ) {
            Map<String, String> members = new LinkedHashMap<>();
            // The id makes a repeat of the record recognizable: keep it for a second try.
            members.put("requestId", text(UUID.randomUUID().toString()));
            members.put("application", text(application));
            members.put("recipient", text(recipient));
            members.put("identifier", text(identifier));
            members.put("content", content);
            if (trigger != null) members.put("trigger", trigger);
            StringBuilder json = new StringBuilder("{");
            members.forEach((name, value) -> {
                if (json.length() > 1) json.append(',');
                json.append(text(name)).append(':').append(value);
            });
            String key = escaped(application) + "/" + escaped(recipient) + "/" + escaped(identifier);
            return new Request(key, Notify.partition(recipient, partitions), json.append('}').toString());
        }
    }

    /** A component of a key: RFC 3986, where unreserved characters stay. */
    static String escaped(String component) {
        StringBuilder out = new StringBuilder();
        for (byte one : component.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (one & 0xff);
            boolean isUnreserved = c < 0x80 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0);
            if (isUnreserved) out.append(c); else out.append(String.format("%%%02X", one & 0xff));
        }
        return out.toString();
    }

    /** A JSON string. */
    static String text(String value) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    /** Recipients, and their partitions of 24, from the contracts. */
    private static final Map<String, Integer> VECTORS = Map.of("ana", 16, "ana/1", 4, "北京", 14);

    public static void main(String[] arguments) {
        switch (arguments.length == 0 ? "" : arguments[0]) {
            case "" -> check();
            case "partition" -> {
                for (int i = 2; i < arguments.length; i++) {
                    System.out.println(partition(arguments[i], Integer.parseInt(arguments[1])));
                }
            }
            case "request" -> {
                String content = "{\"title\":" + text(arguments[5]) + "}";
                int partitions = Integer.parseInt(arguments[1]);
                Request request = Request.of(arguments[2], arguments[3], arguments[4], content, null, partitions);
                for (Object line : new Object[] {request.partition(), request.key(), request.value()}) System.out.println(line);
            }
            default -> {
                System.err.println(arguments[0] + " is neither partition nor request");
                System.exit(64);
            }
        }
    }

    private static void check() {
        VECTORS.forEach((recipient, expected) -> {
            int found = partition(recipient, 24);
            if (found != expected) {
                System.err.println(recipient + " is in partition " + found + " of 24, and should be in " + expected);
                System.exit(1);
            }
        });
        System.out.println("The partitions of " + VECTORS.size() + " recipients are right.");
    }
}
