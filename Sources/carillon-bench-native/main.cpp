// The limit that `carillon-bench pipeline` measures against: what the consumer service does to an immediate request, as an
// ordinary C++ program with RapidJSON would do it, without offsets, timers, deduplication, metrics or recovery. It reads every
// partition by hand, parses, keeps the last version by key and produces an event with the same headers, id and bytes.
//
//     carillon-bench-native BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]
//
// It prints `done` when COUNT events are acknowledged, and then waits to be terminated.

#include <cstdio>
#if !__has_include(<rapidjson/document.h>)
int main() {
    std::fprintf(stderr, "this was built without RapidJSON: apt-get install rapidjson-dev, and build again\n");
    return 69;
}
#else

#include <librdkafka/rdkafka.h>
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::string_view source = "/carillon/default";
constexpr std::string_view event_type = "carillon.notification.delivered.v1";
// UUIDv5 of the URL namespace and urn:carillon:notification:event.
constexpr unsigned char event_namespace[16] = {0x1d, 0x21, 0xb5, 0x4f, 0xc6, 0x7f, 0x5a, 0x67,
                                               0xb6, 0xf7, 0x8b, 0xbc, 0x62, 0x3d, 0xf0, 0xf5};

struct Entry {
    std::string request_id;
    std::string request;
};

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

struct Delivery {
    long acknowledged = 0;
    bool failed = false;
};

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}

void on_delivery(rd_kafka_t *, const rd_kafka_message_t *message, void *opaque) {
    auto *delivery = static_cast<Delivery *>(opaque);
    if (message->err) {
        std::fprintf(stderr, "not delivered: %s\n", rd_kafka_err2str(message->err));
        delivery->failed = true;
    } else {
        ++delivery->acknowledged;
    }
}

rd_kafka_t *make_client(rd_kafka_type_t type, const std::vector<std::pair<std::string, std::string>> &properties,
                        Delivery *delivery) {
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (const auto &[name, value] : properties) {
        if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) fail(error);
    }
    if (type == RD_KAFKA_PRODUCER) {
        rd_kafka_conf_set_opaque(conf, delivery);
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof error);
    if (!client) fail(error);
    return client;
}

void add_piece(SHA_CTX &sha, std::string_view piece) {
    const auto count = static_cast<uint32_t>(piece.size());
    const unsigned char prefix[4] = {static_cast<unsigned char>(count >> 24), static_cast<unsigned char>(count >> 16),
                                     static_cast<unsigned char>(count >> 8), static_cast<unsigned char>(count)};
    SHA1_Update(&sha, prefix, sizeof prefix);
    SHA1_Update(&sha, piece.data(), piece.size());
}

// The UUIDv5 of request id, no occurrence, the event's name, no device and the key, each with its length before it.
void write_event_id(std::string_view request_id, std::string_view key, char out[36]) {
    SHA_CTX sha;
    SHA1_Init(&sha);
    SHA1_Update(&sha, event_namespace, sizeof event_namespace);
    add_piece(sha, request_id);
    add_piece(sha, "");
    add_piece(sha, "delivered");
    add_piece(sha, "");
    add_piece(sha, key);
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1_Final(digest, &sha);
    digest[6] = (digest[6] & 0x0f) | 0x50;
    digest[8] = (digest[8] & 0x3f) | 0x80;
    static const char digits[] = "0123456789abcdef";
    int at = 0;
    for (int byte = 0; byte < 16; ++byte) {
        if (byte == 4 || byte == 6 || byte == 8 || byte == 10) out[at++] = '-';
        out[at++] = digits[digest[byte] >> 4];
        out[at++] = digits[digest[byte] & 15];
    }
}

// RFC 3339 in UTC with milliseconds.
std::size_t write_time(char out[32]) {
    static std::time_t last = 0;
    static char second[24];
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != last) {
        last = now.tv_sec;
        std::tm parts;
        gmtime_r(&last, &parts);
        std::strftime(second, sizeof second, "%Y-%m-%dT%H:%M:%S", &parts);
    }
    return static_cast<std::size_t>(std::snprintf(out, 32, "%s.%03ldZ", second, now.tv_nsec / 1000000));
}

std::string decoded(std::string_view piece) {
    std::string text;
    for (std::size_t at = 0; at < piece.size(); ++at) {
        if (piece[at] == '%' && at + 2 < piece.size()) {
            text.push_back(static_cast<char>(std::stoi(std::string(piece.substr(at + 1, 2)), nullptr, 16)));
            at += 2;
        } else {
            text.push_back(piece[at]);
        }
    }
    return text;
}

}  // namespace

int main(int count, char **arguments) {
    if (count < 6) fail("usage: carillon-bench-native BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]");
    const std::string bootstrap = arguments[1];
    const char *requests = arguments[2];
    const char *deliveries = arguments[3];
    const int partitions = std::atoi(arguments[4]);
    const long expected = std::atol(arguments[5]);

    std::vector<std::pair<std::string, std::string>> consuming = {
        {"bootstrap.servers", bootstrap},   {"group.id", "carillon-bench-native"}, {"enable.auto.commit", "false"},
        {"auto.offset.reset", "error"},     {"isolation.level", "read_committed"}, {"enable.auto.offset.store", "false"},
        {"socket.nagle.disable", "true"}};
    // Batches fill as long as those of the service.
    std::vector<std::pair<std::string, std::string>> producing = {
        {"bootstrap.servers", bootstrap},          {"enable.idempotence", "true"},
        {"acks", "all"},                           {"queue.buffering.max.ms", "20"},
        {"queue.buffering.max.messages", "200000"}, {"queue.buffering.max.kbytes", "262144"},
        {"socket.nagle.disable", "true"}};
    for (int index = 6; index < count; ++index) {
        const std::string argument = arguments[index];
        const auto equal = argument.find('=');
        if (equal == std::string::npos) fail("not property=value: " + argument);
        const bool is_consumers = argument.rfind("fetch.", 0) == 0 || argument.rfind("queued.", 0) == 0;
        (is_consumers ? consuming : producing).emplace_back(argument.substr(0, equal), argument.substr(equal + 1));
    }

    Delivery delivery;
    rd_kafka_t *consumer = make_client(RD_KAFKA_CONSUMER, consuming, nullptr);
    rd_kafka_t *producer = make_client(RD_KAFKA_PRODUCER, producing, &delivery);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, deliveries, nullptr);
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *places = rd_kafka_topic_partition_list_new(partitions);
    for (int partition = 0; partition < partitions; ++partition)
        rd_kafka_topic_partition_list_add(places, requests, partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
    if (auto error = rd_kafka_assign(consumer, places)) fail(rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(places);

    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries;
    rapidjson::StringBuffer event;
    long read = 0;
    while (read < expected) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, 100);
        if (!message) {
            rd_kafka_poll(producer, 0);
            continue;
        }
        if (message->err) fail(rd_kafka_message_errstr(message));

        const std::string_view key(static_cast<const char *>(message->key), message->key_len);
        const std::string_view value(static_cast<const char *>(message->payload), message->len);
        rapidjson::Document request;
        request.Parse(value.data(), value.size());
        if (request.HasParseError() || !request.IsObject()) fail("a request is not an object");
        const auto first = key.find('/'), second = key.find('/', first + 1);
        const auto &id = request["requestId"];
        const std::string_view request_id(id.GetString(), id.GetStringLength());

        auto found = entries.find(key);
        if (found == entries.end()) found = entries.emplace(std::string(key), Entry{}).first;
        Entry &entry = found->second;

        event.Clear();
        rapidjson::Writer<rapidjson::StringBuffer> writer(event);
        const auto member = [&](const char *name, std::string_view text) {
            writer.Key(name);
            writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
        };
        writer.StartObject();
        member("requestId", request_id);
        member("application", decoded(key.substr(0, first)));
        member("recipient", decoded(key.substr(first + 1, second - first - 1)));
        member("identifier", decoded(key.substr(second + 1)));
        writer.Key("closes");
        writer.Bool(true);
        if (!entry.request_id.empty()) member("replaces", entry.request_id);
        member("channel", "events");
        writer.Key("content");
        request["content"].Accept(writer);
        // A recipient of the workload has one notification.
        const auto thread = request["content"].FindMember("threadIdentifier");
        if (thread != request["content"].MemberEnd()) {
            writer.Key("thread");
            writer.StartObject();
            writer.Key("identifier");
            thread->value.Accept(writer);
            writer.Key("count");
            writer.Int(1);
            writer.Key("update");
            writer.Bool(!entry.request_id.empty());
            writer.EndObject();
        }
        writer.EndObject();
        entry.request_id.assign(request_id);
        entry.request.assign(value);

        rd_kafka_headers_t *headers = rd_kafka_headers_new(8);
        char event_id[36], time[32];
        write_event_id(request_id, key, event_id);
        const std::size_t time_count = write_time(time);
        const auto header = [&](const char *name, std::string_view text) {
            rd_kafka_header_add(headers, name, -1, text.data(), static_cast<ssize_t>(text.size()));
        };
        header("ce_specversion", "1.0");
        header("ce_id", {event_id, sizeof event_id});
        header("ce_source", source);
        header("ce_type", event_type);
        header("ce_time", {time, time_count});
        header("ce_subject", key);
        header("content-type", "application/json");
        rd_kafka_headers_t *received;
        const void *trace;
        size_t trace_count;
        if (!rd_kafka_message_headers(message, &received) &&
            !rd_kafka_header_get_last(received, "traceparent", &trace, &trace_count))
            header("traceparent", {static_cast<const char *>(trace), trace_count});

        while (true) {
            const auto error = rd_kafka_producev(
                producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(message->partition),
                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
                RD_KAFKA_V_VALUE(const_cast<char *>(event.GetString()), event.GetSize()), RD_KAFKA_V_HEADERS(headers),
                RD_KAFKA_V_END);
            if (!error) break;
            if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail(rd_kafka_err2str(error));
            rd_kafka_poll(producer, 10);
        }
        rd_kafka_message_destroy(message);
        if (++read % 1000 == 0) rd_kafka_poll(producer, 0);
    }
    while (delivery.acknowledged < expected && !delivery.failed) rd_kafka_poll(producer, 100);
    if (delivery.failed) return 1;
    std::printf("done\n");
    std::fflush(stdout);
    while (true) pause();
}

#endif
