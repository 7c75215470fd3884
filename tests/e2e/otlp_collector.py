"""A stand-in for an OpenTelemetry collector: it receives spans by OTLP over gRPC and over HTTP, and keeps them."""
import concurrent.futures
import dataclasses
import http.server
import sys
import threading

import grpc

import mesh

sys.path.insert(0, str(mesh.ROOT))  # where proto/ is
otlp = grpc.protos("proto/opentelemetry/v1/trace.proto")


def _value(value):
    kind = value.WhichOneof("value")
    return getattr(value, kind) if kind else None


def _attributes(pairs):
    return {pair.key: _value(pair.value) for pair in pairs}


@dataclasses.dataclass
class Span:
    service: str
    resource: dict
    scope: str
    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str  # "": none
    state: str
    attributes: dict
    events: list  # of names
    links: list   # of (trace id, span id)
    failed: bool
    start: int
    end: int


class Collector:
    """`endpoint` is that of the gRPC service, `http_endpoint` that of OTLP over HTTP. Until answer(), it does not answer if `hanging` is true."""

    def __init__(self, hanging=False):
        self._answers = threading.Event()
        if not hanging:
            self.answer()
        self._spans, self._lock = [], threading.Lock()
        handler = grpc.method_handlers_generic_handler("opentelemetry.proto.collector.trace.v1.TraceService", {
            "Export": grpc.unary_unary_rpc_method_handler(self._export, otlp.ExportTraceServiceRequest.FromString, otlp.ExportTraceServiceResponse.SerializeToString)})
        self._grpc = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        self._grpc.add_generic_rpc_handlers((handler,))
        self.endpoint = f"127.0.0.1:{self._grpc.add_insecure_port('127.0.0.1:0')}"
        self._grpc.start()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                good = self.path == "/v1/traces" and self.headers["content-type"] == "application/x-protobuf"
                if good:
                    collector._export(otlp.ExportTraceServiceRequest.FromString(body), None)
                self.send_response(200 if good else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.http_endpoint = f"127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def _export(self, request, _context):
        self._answers.wait()
        for group in request.resource_spans:
            resource = _attributes(group.resource.attributes)
            for scope in group.scope_spans:
                for span in scope.spans:
                    made = Span(resource.get("service.name"), resource, scope.scope.name, span.name, span.kind, span.trace_id.hex(), span.span_id.hex(),
                                span.parent_span_id.hex(), span.trace_state, _attributes(span.attributes), [event.name for event in span.events],
                                [(link.trace_id.hex(), link.span_id.hex()) for link in span.links], span.status.code == 2,
                                span.start_time_unix_nano, span.end_time_unix_nano)
                    with self._lock:
                        self._spans.append(made)
        return otlp.ExportTraceServiceResponse()

    def configuration(self, folder, per_million=None, endpoint=None):
        """Writes a TracingConfiguration and returns its path."""
        path = folder / "tracing.yaml"
        rate = "" if per_million is None else f"samplingRatePerMillion: {per_million}\n"
        path.write_text(f"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: {endpoint or self.endpoint}\n{rate}")
        return path

    def spans(self):
        with self._lock:
            return list(self._spans)

    def trace(self, trace_id):
        return [span for span in self.spans() if span.trace_id == trace_id]

    def request(self, audit_id, complete=None, seconds=30):
        """Returns the spans of the trace of the request with this audit id, as soon as its first span has arrived and `complete(spans)` is true. The processes send their
        spans every 5 s."""
        def find():
            first = next((span for span in self.spans() if span.kind == 2 and span.attributes.get("audit-id") == audit_id and "http.target" in span.attributes), None)
            found = self.trace(first.trace_id) if first else []
            return found if found and (complete is None or complete(found)) else None
        return mesh.wait_until(find, seconds, f"the spans of request {audit_id} are exported")

    def answer(self):
        self._answers.set()

    def stop(self):
        self.answer()
        self._grpc.stop(0)
        self._http.shutdown()
        self._http.server_close()


def tree(spans):
    """Returns the spans as nested lists [name, [children…]], children in the order in which they started."""
    ids = {span.span_id for span in spans}

    def below(parent):
        return [[span.name, below(span.span_id)] for span in sorted(spans, key=lambda span: span.start) if span.parent_id == parent]

    roots = sorted((span for span in spans if span.parent_id not in ids), key=lambda span: span.start)
    return [[span.name, below(span.span_id)] for span in roots]
