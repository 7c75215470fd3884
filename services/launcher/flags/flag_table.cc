#include "services/launcher/flags/flag_table.h"

#include <algorithm>

namespace apimesh::launcher {
namespace {

using enum FlagType;

// Short names for the table below.
constexpr unsigned kCore = kCoreApi, kBoth = kCoreApi | kExtensionsApi, kAuth = kAuthnAuthz, kEdge = kAggregator;

// Which service acts on a flag is decided here and nowhere else.
constexpr Flag kFlags[] = {
    {"Generic", "advertise-address", kIp, "", kCore, "address under which the cluster reaches this server; default: --bind-address, or the first interface if that is unspecified or loopback"},
    {"Generic", "advertise-port", kInt, "0", kNobody, "port announced with --advertise-address (k3s passes it); default: --secure-port"},
    {"Generic", "apiserver-count", kInt, "1", kNobody, "number of API servers; only the old master-count reconciler read it"},
    {"Generic", "cors-allowed-origins", kStrings, "", kEdge, "regular expressions of origins that browsers may call from"},
    {"Generic", "emulated-version", kStrings, "", kNobody, "behave as an older minor version"},
    {"Generic", "emulation-forward-compatible", kBool, "false", kNobody, "serve newer versions of enabled APIs while emulating an older one"},
    {"Generic", "external-hostname", kString, "", kNobody, "host name for links that leave the server"},
    {"Generic", "feature-gates", kMap, "", kNobody, "switch features on or off: name=true,name=false"},
    {"Generic", "goaway-chance", kFloat, "0", kNobody, "probability of asking an HTTP/2 client to reconnect"},
    {"Generic", "livez-grace-period", kDuration, "0s", kNobody, "how long post-start hooks may take before /livez turns bad"},
    {"Generic", "max-mutating-requests-inflight", kInt, "200", kEdge, "writes served at the same time; 0: no limit"},
    {"Generic", "max-requests-inflight", kInt, "400", kEdge, "reads served at the same time; 0: no limit"},
    {"Generic", "min-compatibility-version", kStrings, "", kNobody, "oldest version whose data must stay readable"},
    {"Generic", "min-request-timeout", kInt, "1800", kBoth, "seconds that a watch stays open at least, unless it asks for less"},
    {"Generic", "request-timeout", kDuration, "1m0s", kEdge, "time limit of a request that is not long-running"},
    {"Generic", "runtime-config-emulation-forward-compatible", kBool, "false", kNobody, "allow --runtime-config for APIs newer than the emulated version"},
    {"Generic", "shutdown-delay-duration", kDuration, "0s", kEdge, "time between readiness going bad and the end of accepting requests"},
    {"Generic", "shutdown-send-retry-after", kBool, "false", kNobody, "answer 429 with Retry-After while stopping"},
    {"Generic", "shutdown-watch-termination-grace-period", kDuration, "0s", kNobody, "time that watches get to end by themselves while stopping"},
    {"Generic", "storage-initialization-timeout", kDuration, "1m0s", kNobody, "how long readiness waits for the store before the process gives up"},
    {"Generic", "strict-transport-security-directives", kStrings, "", kEdge, "directives of the Strict-Transport-Security header"},

    {"Etcd", "delete-collection-workers", kInt, "1", kNobody, "deletions that one deletecollection does at the same time"},
    {"Etcd", "enable-garbage-collector", kBool, "true", kNobody, "kept for old command lines: finalizers of the garbage collector are always honoured"},
    {"Etcd", "encryption-provider-config", kString, "", kGroupServers, "file that says which resources are encrypted in the store, and how"},
    {"Etcd", "encryption-provider-config-automatic-reload", kBool, "false", kGroupServers, "take changes of that file without a restart"},
    {"Etcd", "etcd-cafile", kString, "", kGroupServers, "CA that signed the certificate of etcd"},
    {"Etcd", "etcd-certfile", kString, "", kGroupServers, "client certificate for etcd"},
    {"Etcd", "etcd-compaction-interval", kDuration, "5m0s", kGroupServers, "time between compactions; 0: never"},
    {"Etcd", "etcd-count-metric-poll-period", kDuration, "1m0s", kNobody, "kept for old command lines: objects are counted when metrics are asked for"},
    {"Etcd", "etcd-db-metric-poll-interval", kDuration, "30s", kNobody, "kept for old command lines: the size of the store is asked for every 30 s"},
    {"Etcd", "etcd-healthcheck-timeout", kDuration, "2s", kNobody, "time limit of the etcd health check"},
    {"Etcd", "etcd-keyfile", kString, "", kGroupServers, "key of --etcd-certfile"},
    {"Etcd", "etcd-prefix", kString, "/registry", kGroupServers, "prefix of all keys in the store"},
    {"Etcd", "etcd-readycheck-timeout", kDuration, "2s", kNobody, "time limit of the etcd readiness check"},
    {"Etcd", "etcd-servers", kStrings, "", kGroupServers, "etcd endpoints, scheme://host:port, comma separated (required)"},
    {"Etcd", "etcd-servers-overrides", kStrings, "", kGroupServers, "group/resource#servers: resources with an etcd of their own"},
    {"Etcd", "lease-reuse-duration-seconds", kInt, "60", kGroupServers, "how long one lease is shared by objects with a time to live"},
    {"Etcd", "storage-backend", kString, "", kLauncher, "etcd3, the only one"},
    {"Etcd", "storage-media-type", kString, "application/vnd.kubernetes.protobuf", kLauncher, "kept for old command lines: objects are stored as JSON, which every kube-apiserver reads"},
    {"Etcd", "watch-cache", kBool, "true", kNobody, "kept for old command lines: reads are always served from the watch cache"},
    {"Etcd", "watch-cache-sizes", kStrings, "", kNobody, "kept for old command lines: the window is sized by time and bytes"},
    {"Etcd", "default-watch-cache-size", kInt, "100", kNobody, "kept for old command lines: the window is sized by time and bytes"},

    {"Secure serving", "bind-address", kIp, "0.0.0.0", kEdge, "address to listen on; 0.0.0.0 or :: is every interface"},
    {"Secure serving", "cert-dir", kString, "/var/run/kubernetes", kLauncher, "folder of apiserver.crt and apiserver.key; a self-signed pair is written there if there is none"},
    {"Secure serving", "disable-http2-serving", kBool, "false", kNobody, "the port itself speaks HTTP/1.1; HTTP/2 comes with Envoy"},
    {"Secure serving", "http2-max-streams-per-connection", kInt, "0", kNobody, "limit of HTTP/2 streams a connection"},
    {"Secure serving", "permit-address-sharing", kBool, "false", kNobody, "bind with SO_REUSEADDR, which is always done"},
    {"Secure serving", "permit-port-sharing", kBool, "false", kNobody, "bind with SO_REUSEPORT"},
    {"Secure serving", "secure-port", kInt, "6443", kEdge, "HTTPS port"},
    {"Secure serving", "tls-cert-file", kString, "", kEdge, "serving certificate, intermediates after it"},
    {"Secure serving", "tls-cipher-suites", kStrings, "", kEdge, "cipher suites up to TLS 1.2, by their Go names"},
    {"Secure serving", "tls-curve-preferences", kInts, "", kNobody, "curves in order of preference"},
    {"Secure serving", "tls-min-version", kString, "", kEdge, "VersionTLS12 or VersionTLS13"},
    {"Secure serving", "tls-private-key-file", kString, "", kEdge, "key of --tls-cert-file"},
    {"Secure serving", "tls-sni-cert-key", kCertificateAndKey, "", kEdge, "certificate,key[:names]: another pair for clients that ask for these names"},

    {"Auditing", "audit-log-batch-buffer-size", kInt, "10000", kNobody, "events that wait for a batch"},
    {"Auditing", "audit-log-batch-max-size", kInt, "1", kNobody, "events in a batch"},
    {"Auditing", "audit-log-batch-max-wait", kDuration, "0s", kNobody, "longest wait for a full batch"},
    {"Auditing", "audit-log-batch-throttle-burst", kInt, "0", kNobody, "batches sent at once"},
    {"Auditing", "audit-log-batch-throttle-enable", kBool, "false", kNobody, "limit the rate of batches"},
    {"Auditing", "audit-log-batch-throttle-qps", kFloat, "0", kNobody, "batches a second"},
    {"Auditing", "audit-log-compress", kBool, "false", kNobody, "compress rotated files"},
    {"Auditing", "audit-log-format", kString, "json", kNobody, "json; legacy is gone"},
    {"Auditing", "audit-log-maxage", kInt, "366", kEdge, "days that rotated files are kept; 0: for ever"},
    {"Auditing", "audit-log-maxbackup", kInt, "100", kEdge, "rotated files that are kept; 0: all"},
    {"Auditing", "audit-log-maxsize", kInt, "100", kEdge, "megabytes of a file before it is rotated"},
    {"Auditing", "audit-log-mode", kString, "blocking", kNobody, "batch, blocking or blocking-strict"},
    {"Auditing", "audit-log-path", kString, "", kEdge, "audit log file; - is standard output"},
    {"Auditing", "audit-log-truncate-enabled", kBool, "false", kNobody, "cut events that are too large"},
    {"Auditing", "audit-log-truncate-max-batch-size", kInt, "10485760", kNobody, "bytes of a batch"},
    {"Auditing", "audit-log-truncate-max-event-size", kInt, "102400", kNobody, "bytes of an event"},
    {"Auditing", "audit-log-version", kString, "audit.k8s.io/v1", kNobody, "API version of the events"},
    {"Auditing", "audit-policy-file", kString, "", kEdge, "what is audited, and how much of it"},
    {"Auditing", "audit-webhook-batch-buffer-size", kInt, "10000", kNobody, "events that wait for a batch"},
    {"Auditing", "audit-webhook-batch-max-size", kInt, "400", kNobody, "events in a batch"},
    {"Auditing", "audit-webhook-batch-max-wait", kDuration, "30s", kNobody, "longest wait for a full batch"},
    {"Auditing", "audit-webhook-batch-throttle-burst", kInt, "15", kNobody, "batches sent at once"},
    {"Auditing", "audit-webhook-batch-throttle-enable", kBool, "true", kNobody, "limit the rate of batches"},
    {"Auditing", "audit-webhook-batch-throttle-qps", kFloat, "10", kNobody, "batches a second"},
    {"Auditing", "audit-webhook-config-file", kString, "", kNobody, "kubeconfig of the audit webhook"},
    {"Auditing", "audit-webhook-initial-backoff", kDuration, "10s", kNobody, "wait before the first retry"},
    {"Auditing", "audit-webhook-mode", kString, "batch", kNobody, "batch, blocking or blocking-strict"},
    {"Auditing", "audit-webhook-truncate-enabled", kBool, "false", kNobody, "cut events that are too large"},
    {"Auditing", "audit-webhook-truncate-max-batch-size", kInt, "10485760", kNobody, "bytes of a batch"},
    {"Auditing", "audit-webhook-truncate-max-event-size", kInt, "102400", kNobody, "bytes of an event"},
    {"Auditing", "audit-webhook-version", kString, "audit.k8s.io/v1", kNobody, "API version of the events"},

    {"Features", "contention-profiling", kBool, "false", kNobody, "profile lock contention"},
    {"Features", "debug-socket-path", kString, "", kNobody, "unprotected socket for profiling"},
    {"Features", "enable-priority-and-fairness", kBool, "true", kNobody, "fair queues instead of plain limits of requests in flight"},
    {"Features", "profiling", kBool, "true", kNobody, "serve /debug/pprof/"},

    {"Authentication", "anonymous-auth", kBool, "true", kAuth, "requests without credentials are system:anonymous"},
    {"Authentication", "api-audiences", kStrings, "", kAuth | kCore, "audiences of this server; default: the service-account issuers"},
    {"Authentication", "authentication-config", kString, "", kAuth, "file with JWT issuers and the anonymous rule"},
    {"Authentication", "authentication-token-webhook-cache-ttl", kDuration, "2m0s", kAuth, "how long answers of the token webhook are used"},
    {"Authentication", "authentication-token-webhook-config-file", kString, "", kAuth, "kubeconfig of the token webhook"},
    {"Authentication", "authentication-token-webhook-version", kString, "v1beta1", kAuth, "API version of TokenReview sent to it"},
    {"Authentication", "client-ca-file", kString, "", kAuth | kEdge | kCore, "CA of client certificates: the common name is the user, organizations are groups"},
    {"Authentication", "enable-bootstrap-token-auth", kBool, "false", kAuth, "take tokens of type bootstrap.kubernetes.io/token"},
    {"Authentication", "oidc-ca-file", kString, "", kAuth, "CA of the OpenID issuer"},
    {"Authentication", "oidc-client-id", kString, "", kAuth, "audience that OpenID tokens must have"},
    {"Authentication", "oidc-groups-claim", kString, "", kAuth, "claim with the groups"},
    {"Authentication", "oidc-groups-prefix", kString, "", kAuth, "prefix of those groups"},
    {"Authentication", "oidc-issuer-url", kString, "", kAuth, "OpenID issuer, https only"},
    {"Authentication", "oidc-required-claim", kPairs, "", kAuth, "claim=value that tokens must have; may be repeated"},
    {"Authentication", "oidc-signing-algs", kStrings, "RS256", kAuth, "accepted signing algorithms"},
    {"Authentication", "oidc-username-claim", kString, "sub", kAuth, "claim with the user name"},
    {"Authentication", "oidc-username-prefix", kString, "", kAuth, "prefix of that name; -: none"},
    {"Authentication", "requestheader-allowed-names", kStrings, "", kAuth | kCore, "common names of front proxies; empty: any signed by the CA"},
    {"Authentication", "requestheader-client-ca-file", kString, "", kAuth | kEdge | kCore, "CA of front proxies, whose identity headers are believed"},
    {"Authentication", "requestheader-extra-headers-prefix", kStrings, "", kAuth | kEdge | kCore, "prefixes of headers with extra user information"},
    {"Authentication", "requestheader-group-headers", kStrings, "", kAuth | kEdge | kCore, "headers with groups"},
    {"Authentication", "requestheader-uid-headers", kStrings, "", kAuth | kEdge | kCore, "headers with the user id"},
    {"Authentication", "requestheader-username-headers", kStrings, "", kAuth | kEdge | kCore, "headers with the user name"},
    {"Authentication", "service-account-extend-token-expiration", kBool, "true", kCore, "give injected tokens a year, so that old clients survive"},
    {"Authentication", "service-account-issuer", kStringArray, "", kAuth | kCore, "issuer of service-account tokens; the first one signs, all are accepted"},
    {"Authentication", "service-account-jwks-uri", kString, "", kCore, "overrides the address of the key set in the discovery document"},
    {"Authentication", "service-account-key-file", kStringArray, "", kAuth | kCore, "keys that verify service-account tokens: certificate, public or private key"},
    {"Authentication", "service-account-lookup", kBool, "true", kAuth, "check that the objects behind a token still exist"},
    {"Authentication", "service-account-max-token-expiration", kDuration, "0s", kCore, "longest life of an issued token"},
    {"Authentication", "token-auth-file", kString, "", kAuth, "file of static tokens, a line each: token,user,uid,groups"},

    {"Authorization", "authorization-config", kString, "", kAuth, "file with the chain of authorizers"},
    {"Authorization", "authorization-mode", kStrings, "", kAuth | kCore, "authorizers in order: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node"},
    {"Authorization", "authorization-policy-file", kString, "", kAuth, "ABAC policy, one JSON object a line"},
    {"Authorization", "authorization-webhook-cache-authorized-ttl", kDuration, "5m0s", kAuth, "how long a yes of the webhook is used"},
    {"Authorization", "authorization-webhook-cache-unauthorized-ttl", kDuration, "30s", kAuth, "how long a no of the webhook is used"},
    {"Authorization", "authorization-webhook-config-file", kString, "", kAuth, "kubeconfig of the authorization webhook"},
    {"Authorization", "authorization-webhook-version", kString, "v1beta1", kAuth, "API version of SubjectAccessReview sent to it"},

    {"API enablement", "runtime-config", kMap, "", kCore, "switch API groups, versions or resources on or off: api/all=true, g/v/resource=false"},

    {"Egress selector", "egress-selector-config-file", kString, "", kNobody, "how connections leave towards nodes, etcd and the control plane"},

    {"Admission", "admission-control", kStrings, "", kGroupServers, "exactly these plugins, in the built-in order (deprecated)"},
    {"Admission", "admission-control-config-file", kString, "", kNobody, "configuration of admission plugins"},
    {"Admission", "default-not-ready-toleration-seconds", kInt, "300", kNobody, "toleration of not-ready nodes given to pods that have none"},
    {"Admission", "default-unreachable-toleration-seconds", kInt, "300", kNobody, "toleration of unreachable nodes given to pods that have none"},
    {"Admission", "disable-admission-plugins", kStrings, "", kGroupServers, "plugins to leave out of the default set"},
    {"Admission", "enable-admission-plugins", kStrings, "", kGroupServers, "plugins to add to the default set; order does not matter"},

    {"Metrics", "allow-metric-labels", kMetricLabels, "", kNobody, "values that a metric label may have"},
    {"Metrics", "allow-metric-labels-manifest", kString, "", kNobody, "the same, from a file"},
    {"Metrics", "disabled-metrics", kStrings, "", kNobody, "metrics to leave out"},
    {"Metrics", "show-hidden-metrics-for-version", kString, "", kNobody, "show metrics hidden since this version"},

    {"Logs", "log-flush-frequency", kDuration, "5s", kNobody, "kept for old command lines: every line is written at once"},
    {"Logs", "log-json-info-buffer-size", kString, "0", kNobody, "buffer of JSON info lines"},
    {"Logs", "log-json-split-stream", kBool, "false", kNobody, "errors to standard error, the rest to standard output"},
    {"Logs", "log-text-info-buffer-size", kString, "0", kNobody, "buffer of text info lines"},
    {"Logs", "log-text-split-stream", kBool, "false", kNobody, "errors to standard error, the rest to standard output"},
    {"Logs", "logging-format", kString, "text", kLauncher, "text or json"},
    {"Logs", "v", kLevel, "0", kLauncher, "verbosity; 4 and more shows debug lines"},
    {"Logs", "vmodule", kVmodule, "", kNobody, "verbosity of single files"},

    {"Traces", "tracing-config-file", kString, "", kNobody, "OpenTelemetry configuration"},

    {"Misc", "aggregator-reject-forwarding-redirect", kBool, "true", kNobody, "a redirect from an aggregated server becomes an error"},
    {"Misc", "allow-privileged", kBool, "false", kCore, "allow privileged containers"},
    {"Misc", "coordinated-leadership-lease-duration", kDuration, "15s", kNobody, "lease of coordinated leader election"},
    {"Misc", "coordinated-leadership-renew-deadline", kDuration, "10s", kNobody, "renew deadline of coordinated leader election"},
    {"Misc", "coordinated-leadership-retry-period", kDuration, "2s", kNobody, "retry period of coordinated leader election"},
    {"Misc", "enable-aggregator-routing", kBool, "false", kEdge, "send aggregated requests to endpoint addresses instead of the cluster address"},
    {"Misc", "enable-logs-handler", kBool, "false", kNobody, "serve /logs (deprecated)"},
    {"Misc", "endpoint-reconciler-type", kString, "lease", kCore, "how the kubernetes endpoints are kept: lease, master-count or none"},
    {"Misc", "event-ttl", kDuration, "1h0m0s", kCore, "how long events are kept"},
    {"Misc", "kubelet-certificate-authority", kString, "", kCore, "CA of kubelets"},
    {"Misc", "kubelet-client-certificate", kString, "", kCore, "client certificate for kubelets"},
    {"Misc", "kubelet-client-key", kString, "", kCore, "key of --kubelet-client-certificate"},
    {"Misc", "kubelet-preferred-address-types", kStrings, "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP", kCore, "address types of nodes in order of preference"},
    {"Misc", "kubelet-timeout", kDuration, "5s", kNobody, "time limit of kubelet operations"},
    {"Misc", "kubernetes-service-node-port", kInt, "0", kNobody, "node port of the kubernetes service; 0: it is a ClusterIP"},
    {"Misc", "max-connection-bytes-per-sec", kInt, "0", kNobody, "throttle of user connections"},
    {"Misc", "peer-advertise-ip", kString, "", kNobody, "address announced to other API servers"},
    {"Misc", "peer-advertise-port", kString, "", kNobody, "port announced to other API servers"},
    {"Misc", "peer-ca-file", kString, "", kNobody, "CA of other API servers"},
    {"Misc", "proxy-client-cert-file", kString, "", kEdge, "certificate that proves this server to aggregated servers"},
    {"Misc", "proxy-client-key-file", kString, "", kEdge, "key of --proxy-client-cert-file"},
    {"Misc", "service-account-signing-endpoint", kString, "", kNobody, "socket of an external token signer"},
    {"Misc", "service-account-signing-key-file", kString, "", kCore, "key that signs service-account tokens"},
    {"Misc", "service-cluster-ip-range", kString, "", kCore, "CIDR of cluster IPs; two for dual stack"},
    {"Misc", "service-node-port-range", kPortRange, "30000-32767", kCore, "ports of NodePort services"},

    {"Mesh", "tls-records", kString, "own", kServices, "what encrypts TLS 1.3 records that are sent: own (faster AES-GCM, where the processor supports it) or openssl"},
    {"Mesh", "max-body-bytes-inflight", kInt, "67108864", kEdge, "memory for bodies of requests that are served at the same time; one user gets a quarter of it; 0: no limit"},
    {"Mesh", "max-connections", kInt, "0", kEdge, "connections of clients at the same time; 0: as many as the limit of file descriptors allows, with some to spare"},
    {"Mesh", "io-threads", kInt, "", kServices, "threads that serve requests, of each process; default: half of the cores, at most 8"},

    {"Global", "version", kVersion, "", kLauncher, "print the version and exit; raw: all of it; vX.Y.Z-custom: say this at /version"},
};

}  // namespace

std::span<const Flag> KubeApiserverFlags() { return kFlags; }

const Flag* FindKubeApiserverFlag(std::string_view name) {
  const auto has_name = [&](const Flag& flag) { return flag.name == name; };
  const auto found = std::find_if(std::begin(kFlags), std::end(kFlags), has_name);
  return found == std::end(kFlags) ? nullptr : found;
}

std::string_view TypeName(FlagType type) {
  switch (type) {
    case kBool: return "";
    case kString: return "string";
    case kStrings: return "strings";
    case kStringArray: return "stringArray";
    case kInt: return "int";
    case kFloat: return "float";
    case kDuration: return "duration";
    case kIp: return "ip";
    case kPortRange: return "portRange";
    case kPairs:
    case kMap: return "mapStringString";
    case kInts: return "int32Slice";
    case kMetricLabels: return "stringToString";
    case kVmodule: return "pattern=N,...";
    case kCertificateAndKey: return "namedCertKey";
    case kVersion: return "version[=true]";
    case kLevel: return "Level";
  }
  return "";
}

}  // namespace apimesh::launcher
