// librdkafka with its mock cluster, and the calls that Swift cannot import because they are variadic.
#ifndef CARILLON_CRDKAFKA_SHIM_H
#define CARILLON_CRDKAFKA_SHIM_H

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

/// The next request of `api_key` at `broker_id` is answered after `rtt_ms` and with `err`; it takes effect when that is none.
static inline rd_kafka_resp_err_t carillon_mock_push_broker_error_rtt(
    rd_kafka_mock_cluster_t *cluster, int32_t broker_id, int16_t api_key, rd_kafka_resp_err_t err, int rtt_ms) {
    return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker_id, api_key, (size_t)1, err, rtt_ms);
}

#endif
