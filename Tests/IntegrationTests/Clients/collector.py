"""A collector of spans: takes OTLP/HTTP JSON, parses it with the protocol's own definitions, and answers as the last line of
standard input says.

Lines: a status; "503 N" with Retry-After; "slow" (answers after the client has given up). It prints {"port": n} at first, then
{"changed": mode}, and for each span of an accepted request {"service", "trace", "span", "parent", "name", "kind", "start",
"end", "links", "attributes", "error", "token"}; for each request that is not as the protocol says {"wrong": why}.
"""

import argparse
import base64
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--certificate", help="PEM, with its key: it answers over TLS")
options = parser.parse_args()

mode = ["200"]
printing = threading.Lock()


def tell(**line) -> None:
    with printing:
        print(json.dumps(line), flush=True)


def with_ids(value):
    """OTLP writes ids in hexadecimal, against the JSON of protocol buffers."""
    if isinstance(value, list):
        return [with_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64encode(bytes.fromhex(item)).decode() if name in ("traceId", "spanId", "parentSpanId") else with_ids(item)
        for name, item in value.items()
    }


def attributes(pairs) -> dict:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def read(body: bytes) -> list[dict]:
    # Strict: a field that the protocol does not have is an error.
    request = json_format.ParseDict(with_ids(json.loads(body)), ExportTraceServiceRequest())
    spans = []
    for resource in request.resource_spans:
        service = attributes(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            assert scope.scope.name == "carillon", scope.scope
            for span in scope.spans:
                assert len(span.trace_id) == 16 and any(span.trace_id), "trace id"
                assert len(span.span_id) == 8 and any(span.span_id), "span id"
                assert len(span.parent_span_id) in (0, 8), "parent"
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, "times"
                spans.append(
                    {
                        "service": service,
                        "trace": span.trace_id.hex(),
                        "span": span.span_id.hex(),
                        "parent": span.parent_span_id.hex(),
                        "name": span.name,
                        "kind": Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
                        "links": [f"{link.trace_id.hex()}-{link.span_id.hex()}" for link in span.links],
                        "attributes": {key: str(value) for key, value in attributes(span.attributes).items()},
                        "error": span.status.code == Status.STATUS_CODE_ERROR,
                    }
                )
    assert spans or not request.resource_spans, "no spans"
    return spans


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        word, _, rest = mode[0].partition(" ")
        if word == "slow":
            time.sleep(60)
            self.close_connection = True
            return
        status = int(word)
        if status == 200:
            try:
                assert self.path == "/v1/traces", self.path
                assert self.headers["content-type"] == "application/json", self.headers["content-type"]
                for span in read(body):
                    tell(**span, token=self.headers.get("x-token"))
            except Exception as error:
                tell(wrong=repr(error))
        self.send_response(status)
        if rest:
            self.send_header("retry-after", rest)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        # The other side may end a connection at any time.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", options.port), Collector)
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
tell(port=server.server_port)
for text in sys.stdin:
    mode[0] = text.strip()
    tell(changed=mode[0])
