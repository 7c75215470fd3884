"""A table of the rules with which kube-apiserver v1.36 rejects, corrects or accepts its options at the start.

Each row is a command line and the reaction of kube-apiserver. test_start_options.py runs the real binary with every row, and
tests/attacks/test_start_options.py runs ours, so that the rules are also tested without a reference."""
import dataclasses
import json
import pathlib
import re
import subprocess

import mesh
import start_admission


@dataclasses.dataclass(frozen=True)
class Row:
    """`flags` are added to BASE; "-name" removes a flag of BASE. `error` is the error with which the server ends; None means that it starts.
    `reference` is a regular expression for the error of the real server, if ours differs deliberately.
    `log` is a text that a server that starts must log. In flags and texts, {name} is a file or folder of the World."""
    name: str
    flags: tuple
    error: str = None
    reference: str = None
    log: str = None


BASE = ("--etcd-servers={etcd}", "--cert-dir={folder}/certs", "--secure-port={port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
        "--authorization-mode=RBAC", "--token-auth-file={tokens}", "--service-account-issuer=https://issuer", "--service-account-key-file={sa_key}",
        "--service-account-signing-key-file={sa_key}", "--service-cluster-ip-range=10.0.0.0/24")

NO_FILE = "open {missing}: no such file or directory"
NO_HTTP2_SUITE = ("error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher "
                  "(need at least one of TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)")

POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
AUDIT_POLICIES = {
    "policy": POLICY + "rules: [{level: Metadata}]\n",
    "policy_norules": POLICY,
    "policy_nokind": "rules: [{level: Metadata}]\n",
    "policy_beta": "apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: Metadata}]\n",
    "policy_levels": POLICY + "rules: [{level: All}, {}]\n",
    "policy_type": POLICY + "rules: [{level: Metadata, users: a}]\n",
    "policy_both": POLICY + "rules: [{level: Metadata, nonResourceURLs: [/a], namespaces: [b]}]\n",
    "policy_unknown": POLICY + "more: 1\nrules: [{level: Metadata}]\n",
}

EGRESS = "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\n"
INVALID_EGRESS = "failed to validate egress selector configuration: "
EGRESS_FILES = {
    "egress_direct": EGRESS.replace("beta1", "alpha1") + "egressSelections: [{name: cluster, connection: {proxyProtocol: Direct}}]\n",
    "egress_config_group": EGRESS.replace("apiserver.k8s.io", "apiserver.config.k8s.io") + "egressSelections: []\n",
    "egress_unknown": EGRESS + "egressSelections: [{name: cluster, type: Direct}]\n",
    "egress_type": EGRESS + "egressSelections: {name: cluster}\n",
    "egress_names": EGRESS + "egressSelections: [{name: nodes, connection: {proxyProtocol: Direct}}, {name: etcd, connection: {proxyProtocol: SOCKS}}, {name: ETCD, connection: {proxyProtocol: Direct}}]\n",
    "egress_tls": EGRESS + "egressSelections: [{name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://127.0.0.1:1', tlsConfig: {clientCert: /nowhere/cert}}}}}]\n",
    "egress_transport": EGRESS + "egressSelections: [{name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {}}}]\n",
    "egress_grpc": EGRESS + "egressSelections: [{name: cluster, connection: {proxyProtocol: GRPC, transport: {tcp: {url: 'http://127.0.0.1:1'}}}}]\n",
}


TRACING = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
TRACING_FILES = {
    "tracing": TRACING + "samplingRatePerMillion: 1\nendpoint: localhost:1\n",
    "tracing_rate": TRACING + "samplingRatePerMillion: -1\n",
    "tracing_high_rate": TRACING + "samplingRatePerMillion: 1000001\n",
    "tracing_scheme": TRACING + "endpoint: http://localhost:1\n",
    "tracing_field": TRACING + "more: 1\n",
    "tracing_kind": TRACING.replace("TracingConfiguration", "Tracing"),
}


def refused(name, flags, error, reference=None):
    return Row(name, tuple(flags.split()), error, reference)


def starts(name, flags, log=None):
    return Row(name, tuple(flags.split()), log=log)


def configured(name, plugin, error):
    """A row of start_admission.FILES. The error may have braces of its own."""
    flags = ("--admission-control-config-file={admission " + name + "}", *([f"--enable-admission-plugins={plugin}"] if plugin else []))
    return Row(f"admission {name}", flags, error and error.replace("{", "{{").replace("}", "}}").replace("{{missing}}", "{missing}"))


def negative(flag, value, text):
    return refused(f"negative {flag}", f"--{flag}={value}", text)


ROWS = [
    starts("nothing special", ""),

    # Values of flags.
    refused("unknown flag", "--nope", "unknown flag: --nope"),
    refused("argument", "word", '"kube-apiserver" does not take any arguments, got ["word"]'),
    refused("flag without value", "--event-ttl", "flag needs an argument: --event-ttl"),
    refused("bool", "--profiling=maybe", 'invalid argument "maybe" for "--profiling" flag: strconv.ParseBool: parsing "maybe": invalid syntax'),
    refused("int", "--secure-port=abc", 'invalid argument "abc" for "--secure-port" flag: strconv.ParseInt: parsing "abc": invalid syntax'),
    refused("int out of range", "--secure-port=99999999999999999999",
            'invalid argument "99999999999999999999" for "--secure-port" flag: strconv.ParseInt: parsing "99999999999999999999": value out of range'),
    refused("float", "--goaway-chance=x", 'invalid argument "x" for "--goaway-chance" flag: strconv.ParseFloat: parsing "x": invalid syntax'),
    refused("duration", "--event-ttl=x", 'invalid argument "x" for "--event-ttl" flag: time: invalid duration "x"'),
    refused("duration without unit", "--event-ttl=5", 'invalid argument "5" for "--event-ttl" flag: time: missing unit in duration "5"'),
    refused("duration with unknown unit", "--event-ttl=5d", 'invalid argument "5d" for "--event-ttl" flag: time: unknown unit "d" in duration "5d"'),
    refused("bind address", "--bind-address=localhost", 'invalid argument "localhost" for "--bind-address" flag: failed to parse IP: "localhost"'),
    refused("node ports", "--service-node-port-range=1-a",
            'invalid argument "1-a" for "--service-node-port-range" flag: strconv.Atoi: parsing "a": invalid syntax'),
    refused("node ports beyond the last", "--service-node-port-range=30000-70000",
            'invalid argument "30000-70000" for "--service-node-port-range" flag: the port range cannot be greater than 65535: 30000-70000'),
    refused("node ports backwards", "--service-node-port-range=2000-1000",
            'invalid argument "2000-1000" for "--service-node-port-range" flag: end port cannot be less than start port: 2000-1000'),
    refused("sni without key", "--tls-sni-cert-key={cert}",
            'invalid argument "{cert}" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths'),
    refused("sni without names", "--tls-sni-cert-key={cert},{key}:",
            'invalid argument "{cert},{key}:" for "--tls-sni-cert-key" flag: empty names list is not allowed'),
    refused("vmodule", "--vmodule=a", 'invalid argument "a" for "--vmodule" flag: "a" does not have the pattern=N format'),
    refused("verbosity", "-v=-1", 'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax'),
    refused("required claim", "--oidc-required-claim=a", 'invalid argument "a" for "--oidc-required-claim" flag: malformed pair, expect string=string'),
    starts("an empty bind address is the default", "--bind-address="),
    starts("the last value counts", "--event-ttl=1h --event-ttl=2h"),
    starts("an empty value does not swallow the next flag", "--token-auth-file= --authorization-webhook-config-file= --token-auth-file={tokens}"),
    refused("version", "--version=x", 'invalid argument "x" for "--version" flag: strconv.ParseBool: parsing "x": invalid syntax'),
    refused("curve that is no number", "--tls-curve-preferences=X25519",
            'invalid argument "X25519" for "--tls-curve-preferences" flag: strconv.ParseInt: parsing "X25519": invalid syntax'),
    refused("metric labels", "--allow-metric-labels=a", 'invalid argument "a" for "--allow-metric-labels" flag: a must be formatted as key=value'),

    # Versions, feature gates, logging.
    refused("unknown feature gate", "--feature-gates=Nope=true", "unrecognized feature gate: Nope"),
    refused("locked feature gate", "--feature-gates=StructuredAuthenticationConfiguration=false",
            "cannot set feature gate StructuredAuthenticationConfiguration to false, feature is locked to true"),
    refused("feature gate without value", "--feature-gates=AllAlpha", "missing bool value for AllAlpha"),
    refused("feature gate with a bad value", "--feature-gates=AllAlpha=maybe",
            'invalid value of AllAlpha=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'),
    refused("feature gate of another component", "--feature-gates=wardle:AllAlpha=true", "component not registered: wardle"),
    refused("feature gates with and without component", "--feature-gates=AllAlpha=false,kube:AllBeta=false",
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"),
    refused("feature gate without what it needs", "--feature-gates=ClusterTrustBundleProjection=true",
            "ClusterTrustBundleProjection is enabled, but depends on features that are disabled: [ClusterTrustBundle]"),
    starts("feature gate", "--feature-gates=UnknownVersionInteroperabilityProxy=false"),
    starts("feature gate with what it needs", "--feature-gates=ClusterTrustBundleProjection=true,ClusterTrustBundle=true"),
    refused("emulated version too new", "--emulated-version=1.99",
            "emulation version 1.99 is not between [1.33, 1.36.0]"),
    refused("emulated version too old", "--emulated-version=1.20",
            "[emulation version 1.20 is not between [1.33, 1.36.0], minCompatibilityVersion version 1.33 is not between [1.33, 1.20]]"),
    refused("emulated version with patch", "--emulated-version=1.35.2", "patch version not allowed, got: kube=1.35.2"),
    refused("emulated version that is none", "--emulated-version=x", 'could not parse "x" as version'),
    refused("forward compatible without emulation", "--emulation-forward-compatible=true",
            "ServerRunOptions.EmulationForwardCompatible cannot be set to true if the emulation version is the same as the binary version"),
    refused("log format", "--logging-format=xml", 'format: Invalid value: "xml": Unsupported log format'),
    refused("flush frequency", "--log-flush-frequency=0s", 'flushFrequency: Invalid value: "0s": Must be greater than zero'),
    refused("vmodule and json", "--logging-format=json --vmodule=a=1", "vmodule: Forbidden: Only supported for text log format"),
    refused("hidden metrics", "--show-hidden-metrics-for-version=1.2",
            "metrics.showHiddenMetricsForVersion: Invalid value: \"1.2\": must be omitted or have the value '1.35'; only the previous minor version is allowed"),

    refused("alpha option of the log", "--log-json-split-stream=true", "options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled"),
    starts("feature gate of the component", "--feature-gates=kube:AllBeta=true"),

    # The server itself.
    negative("livez-grace-period", "-1s", "--livez-grace-period can not be a negative value"),
    negative("max-requests-inflight", "-1", "--max-requests-inflight can not be negative value"),
    negative("max-mutating-requests-inflight", "-1", "--max-mutating-requests-inflight can not be negative value"),
    negative("request-timeout", "-1s", "--request-timeout can not be negative value"),
    negative("min-request-timeout", "-1", "--min-request-timeout can not be negative value"),
    negative("storage-initialization-timeout", "-1s", "--storage-initialization-timeout can not be negative value"),
    negative("shutdown-delay-duration", "-1s", "--shutdown-delay-duration can not be negative value"),
    negative("shutdown-watch-termination-grace-period", "-1s", "shutdown-watch-termination-grace-period, if provided, can not be a negative value"),
    refused("goaway chance", "--goaway-chance=0.5", "--goaway-chance can not be less than 0 or greater than 0.02"),
    refused("transport security", "--strict-transport-security-directives=max-age=1,nope",
            "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. "
            "see https://tools.ietf.org/html/rfc6797#section-6.1 for more information"),
    starts("transport security with all directives", "--strict-transport-security-directives=max-age=31536000,includeSubDomains,preload"),
    refused("origin that is not anchored", "--cors-allowed-origins=example.com",
            "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header",
            reference="--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the "
                      "origin header, help: .*"),
    refused("origin that is no expression", "--cors-allowed-origins=//[(:|$)", "--cors-allowed-origins: missing ]: [(:|$)",
            reference="--cors-allowed-origins has an invalid regular expression: error parsing regexp: missing closing \\]: .*"),
    refused("no requests at all", "--max-requests-inflight=0 --max-mutating-requests-inflight=0",
            "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive"),
    starts("no limit without fairness", "--max-requests-inflight=0 --max-mutating-requests-inflight=0 --enable-priority-and-fairness=false"),
    refused("apiserver count", "--apiserver-count=0", "--apiserver-count should be a positive number, but value '0' provided"),
    refused("peer without its feature", "--peer-ca-file={ca} --feature-gates=UnknownVersionInteroperabilityProxy=false",
            "--peer-ca-file requires UnknownVersionInteroperabilityProxy feature to be turned on"),
    refused("leadership", "--coordinated-leadership-lease-duration=1s",
            "--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline"),

    # The store.
    refused("no store", "-etcd-servers", "--etcd-servers must be specified"),
    refused("storage backend", "--storage-backend=etcd2", "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"),
    refused("store overrides", "--etcd-servers-overrides=pods#http://a",
            "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated"),
    refused("reload without encryption", "--encryption-provider-config-automatic-reload=true",
            "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"),
    refused("storage media type", "--storage-media-type=text/plain",
            '--storage-media-type "text/plain" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml'),
    refused("watch cache size", "--watch-cache-sizes=pods", "invalid value of watch cache size: pods"),
    refused("watch cache size that is no number", "--watch-cache-sizes=pods#x", "invalid size of watch cache size: pods#x"),
    refused("negative watch cache size", "--watch-cache-sizes=pods#-1", "watch cache size cannot be negative: pods#-1"),
    refused("encryption configuration is missing", "--encryption-provider-config={missing}",
            'error while parsing file: error while loading file: error reading encryption provider configuration file "{missing}": ' + NO_FILE),

    refused("encryption configuration is empty", "--encryption-provider-config={empty}",
            'error while parsing file: error while loading file: encryption provider configuration file "{empty}" is empty'),
    starts("tracing to a collector that is down", "--tracing-config-file={tracing}"),
    refused("tracing configuration is missing", "--tracing-config-file={missing}",
            'failed to read tracing config: unable to read tracing configuration from "{missing}": ' + NO_FILE),
    refused("tracing with a negative rate", "--tracing-config-file={tracing_rate}",
            "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive"),
    refused("tracing with a rate above all", "--tracing-config-file={tracing_high_rate}",
            "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million"),
    refused("tracing with a scheme of HTTP", "--tracing-config-file={tracing_scheme}",
            'failed to validate tracing configuration: endpoint: Invalid value: "http://localhost:1": unsupported scheme: http.  Options are none, dns, unix, or '
            "unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md"),
    refused("tracing with an unknown field", "--tracing-config-file={tracing_field}",
            'failed to read tracing config: unable to decode tracing configuration data: strict decoding error: unknown field "more"'),
    refused("tracing of another kind", "--tracing-config-file={tracing_kind}",
            'failed to read tracing config: unable to decode tracing configuration data: no kind "Tracing" is registered for version "apiserver.config.k8s.io/v1" '
            'in scheme "pkg/runtime/scheme.go:111"'),

    refused("CA of the store is missing", "--etcd-cafile={missing}", "error creating storage factory: " + NO_FILE),
    refused("certificate for the store without key", "--etcd-certfile={cert}",
            "error creating storage factory: KeyFile and CertFile must both be present[key: , cert: {cert}]"),

    # The listener and its certificates.
    refused("port 0", "--secure-port=0", "--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0"),
    refused("port too large", "--secure-port=65536", "--secure-port 65536 must be between 1 and 65535, inclusive. It cannot be turned off with 0"),
    refused("certificate without key", "--tls-cert-file={cert}", "missing filename for serving cert"),
    refused("certificate is missing", "--tls-cert-file={missing} --tls-private-key-file={key}", NO_FILE),
    refused("certificate with another key", "--tls-cert-file={cert} --tls-private-key-file={other_key}", "tls: private key does not match public key"),
    refused("certificate that is none", "--tls-cert-file={garbage} --tls-private-key-file={key}", "tls: failed to find any PEM data in certificate input"),
    refused("key that is none", "--tls-cert-file={cert} --tls-private-key-file={garbage}", "tls: failed to find any PEM data in key input"),
    refused("empty certificate", "--tls-cert-file={empty} --tls-private-key-file={key}",
            'missing content for serving cert "serving-cert::{empty}::{key}"'),
    refused("sni certificate is missing", "--tls-sni-cert-key={missing},{key}", "failed to load SNI cert and key: " + NO_FILE),
    refused("unknown cipher suite", "--tls-cipher-suites=TLS_NOPE", "Cipher suite TLS_NOPE not supported or doesn't exist"),
    refused("unknown tls version", "--tls-min-version=VersionTLS9", 'unknown tls version "VersionTLS9"'),
    refused("cipher suite without forward secrecy", "--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA", NO_HTTP2_SUITE),
    refused("broken cipher suite", "--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA", NO_HTTP2_SUITE),
    starts("cipher suite", "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    refused("unknown curve", "--tls-curve-preferences=9999", "curve preference 9999 is not supported by the current Go version"),
    refused("certificate for aggregated servers with another key", "--proxy-client-cert-file={cert} --proxy-client-key-file={other_key}",
            "tls: private key does not match public key"),
    refused("CA of kubelets is missing", "--kubelet-certificate-authority={missing}", 'problem initializing API group "": ' + NO_FILE),
    starts("tls 1.3", "--tls-min-version=VersionTLS13"),
    refused("half of a self-signed pair", "--cert-dir={half_pair}",
            "error creating self-signed certificates: error reading {half_pair}/apiserver.key, certificate and key must be supplied as a pair"),

    # Authentication.
    starts("AlwaysAllow resets anonymous-auth", "-authorization-mode --anonymous-auth=true",
           log="AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer"),
    refused("anonymous-auth and anonymous section", "--anonymous-auth=true --authentication-config={authentication_anonymous}",
            "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file"),
    starts("anonymous section", "--authentication-config={authentication_anonymous}"),
    refused("authentication-config and oidc flags", "--authentication-config={authentication} --oidc-groups-claim=groups",
            "authentication-config file and oidc-* flags are mutually exclusive"),
    refused("authentication-config is missing", "--authentication-config={missing}",
            'failed to load authentication configuration from file "{missing}": ' + NO_FILE),
    refused("oidc without issuer", "--oidc-groups-claim=groups",
            "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"),
    refused("oidc without client id", "--oidc-issuer-url=https://x",
            "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"),
    refused("oidc issuer over http", "--oidc-issuer-url=http://x --oidc-client-id=a",
            'invalid authentication configuration: jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'),
    refused("oidc issuer that is the issuer of service accounts", "--oidc-issuer-url=https://issuer --oidc-client-id=a",
            'issuer.url: Invalid value: "https://issuer": URL must not overlap with disallowed issuers: [https://issuer]'),
    refused("oidc algorithm with a shared secret", "--oidc-issuer-url=https://x --oidc-client-id=a --oidc-signing-algs=HS256",
            'oidc: unsupported signing alg: "HS256"'),
    refused("token webhook is missing", "--authentication-token-webhook-config-file={missing}", "stat {missing}: no such file or directory"),
    refused("token webhook version", "--authentication-token-webhook-config-file={kubeconfig} --authentication-token-webhook-version=v9",
            'unsupported authentication webhook version "v9", supported versions are "v1", "v1beta1"'),
    refused("tokens that are none", "--token-auth-file={garbage}",
            "token file '{garbage}' must have at least 3 columns (token, user name, user uid), found 1"),
    refused("client CA is missing", "--client-ca-file={missing}", NO_FILE),
    refused("client CA is empty", "--client-ca-file={empty}", 'missing content for CA bundle "client-ca-bundle::{empty}"'),
    refused("client CA that is none", "--client-ca-file={garbage}",
            'error loading CA bundle for "client-ca-bundle::{garbage}": data does not contain any valid RSA or ECDSA certificates'),
    refused("tokens are missing", "--token-auth-file={missing}", NO_FILE),
    refused("front-proxy CA is missing", "--requestheader-client-ca-file={missing}", NO_FILE),
    refused("blank user name header", "--requestheader-username-headers=X-Remote-User,", 'empty value in "requestheader-username-headers"'),
    refused("blank allowed name", "--requestheader-allowed-names=a,", 'empty value in "requestheader-allowed-names"'),
    refused("uid headers without the standard one", "--requestheader-uid-headers=X-Id",
            "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"),
    refused("client CA and front-proxy CA are the same", "--client-ca-file={ca} --requestheader-client-ca-file={ca} --requestheader-username-headers=X-Remote-User",
            "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure "
            "regular client certificates cannot set authenticating proxy headers for arbitrary users"),
    refused("client CA and front-proxy CA overlap", "--client-ca-file={both_cas} --requestheader-client-ca-file={ca} --requestheader-username-headers=X-Remote-User",
            "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure "
            "regular client certificates cannot set authenticating proxy headers for arbitrary users"),
    starts("the same CA with allowed names", "--client-ca-file={ca} --requestheader-client-ca-file={ca} --requestheader-username-headers=X-Remote-User "
           "--requestheader-allowed-names=front-proxy"),
    starts("front proxy without header of the user name", "--requestheader-client-ca-file={ca}"),
    starts("other header of the user name", "--requestheader-client-ca-file={ca} --requestheader-username-headers=X-Name",
           log="--requestheader-username-headers is set without specifying the standard X-Remote-User header - API aggregation will not work"),

    # Service accounts.
    refused("no issuer", "-service-account-issuer", "[service-account-issuer is a required flag, --service-account-signing-key-file, --service-account-issuer, "
            "and --api-audiences should be specified together]"),
    refused("empty issuer", "-service-account-issuer --service-account-issuer=",
            "[service-account-issuer should not be an empty string, --service-account-signing-key-file, --service-account-issuer, "
            "and --api-audiences should be specified together]"),
    refused("issuer that is no URL", "-service-account-issuer --service-account-issuer=https://x:y",
            'service-account-issuer "https://x:y" contained a \':\' but was not a valid URL: parse "https://x:y": invalid port ":y" after host'),
    refused("issuer twice", "--service-account-issuer=https://issuer", 'service-account-issuer "https://issuer" is already specified'),
    refused("no key", "-service-account-key-file", "either `--service-account-key-file` or `--service-account-signing-endpoint` must be set"),
    refused("no signing key", "-service-account-signing-key-file",
            "--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together"),
    refused("nothing of service accounts", "-service-account-issuer -service-account-key-file -service-account-signing-key-file",
            "[service-account-issuer is a required flag, either `--service-account-key-file` or `--service-account-signing-endpoint` must be set, "
            "--service-account-signing-key-file and --service-account-issuer are required flags]"),
    refused("signing key is missing", "-service-account-signing-key-file --service-account-signing-key-file={missing}",
            "failed to parse service-account-issuer-key-file: " + NO_FILE),
    refused("signing key that is none", "-service-account-signing-key-file --service-account-signing-key-file={garbage}",
            "failed to parse service-account-issuer-key-file: error reading private key file {garbage}: data does not contain a valid RSA or ECDSA private key"),
    refused("key of tokens is missing", "--service-account-key-file={missing}", NO_FILE),
    refused("key of tokens that is none", "--service-account-key-file={garbage}",
            "error reading public key file {garbage}: data does not contain any valid RSA or ECDSA public keys"),
    refused("token expiration too short", "--service-account-max-token-expiration=59m",
            "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"),
    refused("token expiration too long", "--service-account-max-token-expiration=1200000h",
            "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"),
    starts("token expiration", "--service-account-max-token-expiration=1h", log="service-account-extend-token-expiration is true, enabling tokens valid up to 31536000 seconds"),
    refused("key set over http", "--service-account-jwks-uri=http://x/keys", "service-account-jwks-uri requires https scheme, parsed as: http://x/keys"),
    refused("signing key and endpoint", "--service-account-signing-endpoint={folder}/socket",
            "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time"),

    # Authorization.
    refused("unknown mode", "-authorization-mode --authorization-mode=Nope", 'authorization-mode "Nope" is not a valid mode'),
    refused("mode twice", "-authorization-mode --authorization-mode=RBAC,Node,RBAC", 'authorization-mode ["RBAC" "Node" "RBAC"] has mode specified more than once'),
    refused("mode twice in two flags", "--authorization-mode=RBAC", 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'),
    refused("ABAC without policy", "-authorization-mode --authorization-mode=ABAC", "authorization-mode ABAC's authorization policy file not passed"),
    refused("policy without ABAC", "--authorization-policy-file={abac}", "cannot specify --authorization-policy-file without mode ABAC"),
    refused("Webhook without configuration", "-authorization-mode --authorization-mode=Webhook",
            "authorization-mode Webhook's authorization config file not passed"),
    refused("webhook configuration without Webhook", "--authorization-webhook-config-file={kubeconfig}",
            "cannot specify --authorization-webhook-config-file without mode Webhook"),
    refused("authorization-config and mode", "--authorization-config={authorization}",
            "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"),
    refused("authorization-config and webhook flags", "-authorization-mode --authorization-config={authorization} --authorization-webhook-version=v1",
            "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"),
    refused("authorization-config is missing", "-authorization-mode --authorization-config={missing}", NO_FILE),
    refused("ABAC policy is missing", "-authorization-mode --authorization-mode=ABAC --authorization-policy-file={missing}",
            "invalid authorization config: " + NO_FILE),
    refused("authorization webhook is missing", "-authorization-mode --authorization-mode=Webhook --authorization-webhook-config-file={missing}",
            "invalid authorization config: stat {missing}: no such file or directory"),
    refused("authorization webhook version",
            "-authorization-mode --authorization-mode=Webhook --authorization-webhook-config-file={kubeconfig} --authorization-webhook-version=v9",
            'invalid authorization config: unsupported webhook authorizer version "v9", supported versions are "v1", "v1beta1"'),
    starts("authorization-config", "-authorization-mode --authorization-config={authorization}"),
    starts("an empty mode is the default", "-authorization-mode --authorization-mode=", log="Resetting AnonymousAuth to false"),

    # Auditing.
    refused("audit mode", "--audit-log-path={folder}/audit.log --audit-log-mode=nope",
            'invalid audit log mode nope, allowed modes are "batch,blocking,blocking-strict"'),
    refused("audit buffer", "--audit-log-path={folder}/audit.log --audit-log-mode=batch --audit-log-batch-buffer-size=0",
            "invalid audit batch log buffer size 0, must be a positive number"),
    refused("audit event size", "--audit-log-path={folder}/audit.log --audit-log-truncate-max-event-size=0",
            "invalid audit truncate log max event size 0, must be a positive number"),
    refused("audit batch size", "--audit-log-path={folder}/audit.log --audit-log-truncate-max-batch-size=1",
            "invalid audit truncate log max batch size 1, must be greater than max event size (102400)"),
    refused("audit version", "--audit-log-path={folder}/audit.log --audit-log-version=audit.k8s.io/v1beta1",
            'invalid group version, allowed versions are ["audit.k8s.io/v1"]'),
    refused("audit format", "--audit-log-path={folder}/audit.log --audit-log-format=nope", 'invalid audit log format nope, allowed formats are "legacy,json"'),
    refused("audit limits", "--audit-log-path={folder}/audit.log --audit-log-maxage=-1 --audit-log-maxbackup=-1 --audit-log-maxsize=-1",
            "[--audit-log-maxage -1 can't be a negative number, --audit-log-maxbackup -1 can't be a negative number, "
            "--audit-log-maxsize -1 can't be a negative number]"),
    starts("audit limits without a log", "--audit-log-maxage=-1"),
    refused("audit policy is missing", "--audit-policy-file={missing}", 'loading audit policy file: failed to read file path "{missing}": ' + NO_FILE),
    refused("audit policy without rules", "--audit-policy-file={policy_norules}",
            "loading audit policy file: loaded illegal policy with 0 rules: from file {policy_norules}"),
    refused("audit policy without kind", "--audit-policy-file={policy_nokind}",
            "loading audit policy file: unknown group version field audit.k8s.io/__internal, Kind=Policy in policy: from file {policy_nokind}"),
    refused("audit policy of an old version", "--audit-policy-file={policy_beta}",
            'loading audit policy file: failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1" in scheme '
            '"pkg/runtime/scheme.go:111": from file {policy_beta}'),
    refused("egress file is missing", "--egress-selector-config-file={missing}",
            'failed to read egress selector config: unable to read egress selector configuration from "{missing}" [' + NO_FILE + "]"),
    starts("egress of an old version", "--egress-selector-config-file={egress_direct}"),
    refused("egress of another group", "--egress-selector-config-file={egress_config_group}",
            'failed to read egress selector config: no kind "EgressSelectorConfiguration" is registered for version "apiserver.config.k8s.io/v1beta1" in scheme '
            '"pkg/runtime/scheme.go:111"'),
    refused("egress with an unknown field", "--egress-selector-config-file={egress_unknown}",
            'failed to read egress selector config: strict decoding error: unknown field "egressSelections[0].type"'),
    refused("egress with an object for a list", "--egress-selector-config-file={egress_type}",
            "failed to read egress selector config: json: cannot unmarshal object into Go struct field EgressSelectorConfiguration.egressSelections of type []v1beta1.EgressSelection"),
    refused("egress with wrong names", "--egress-selector-config-file={egress_names}",
            INVALID_EGRESS + '[service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "HTTPConnect", "GRPC", '
            'service.connection: Unsupported value: "nodes": supported values: "cluster", "controlplane", "etcd", service.connection[2]: Duplicate value: "etcd"]'),
    refused("egress without files of certificates", "--egress-selector-config-file={egress_tls}",
            INVALID_EGRESS + '[service.connection.tlsConfig.clientCert: Invalid value: "/nowhere/cert": TLS client cert does not exist, '
            'service.connection.tlsConfig.clientKey: Invalid value: "nil": Using TLS requires requires clientKey]'),
    refused("egress without transport", "--egress-selector-config-file={egress_transport}",
            INVALID_EGRESS + "service.connection.tcp: Required value: One of TCP or UDS must be set"),
    refused("egress by gRPC over TCP", "--egress-selector-config-file={egress_grpc}", INVALID_EGRESS + "service.connection.uds: Required value: UDS must be set with GRPC"),
    refused("audit policy with unknown levels", "--audit-policy-file={policy_levels}",
            'loading audit policy file: [rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse", '
            "rules[1].level: Required value]: from file {policy_levels}"),
    refused("audit policy with a string for a list", "--audit-policy-file={policy_type}",
            "loading audit policy file: failed decoding: json: cannot unmarshal string into Go struct field PolicyRule.rules.users of type []string: "
            "from file {policy_type}"),
    refused("audit policy about paths and resources", "--audit-policy-file={policy_both}",
            'loading audit policy file: rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs: '
            "from file {policy_both}"),
    starts("audit policy with an unknown field", "--audit-policy-file={policy_unknown}", log='unknown field "more"'),
    refused("audit log is a folder", "--audit-policy-file={policy} --audit-log-path={folder}", "ensureLogFile: open {folder}: is a directory"),
    refused("audit version with two slashes", "--audit-log-path={folder}/audit.log --audit-log-version=a/b/c", "unexpected GroupVersion string: a/b/c"),
    refused("audit webhook is missing", "--audit-policy-file={policy} --audit-webhook-config-file={missing}",
            "initializing audit webhook: stat {missing}: no such file or directory"),
    starts("audit webhook is missing without a policy", "--audit-webhook-config-file={missing}"),
    refused("audit webhook is garbage", "--audit-policy-file={policy} --audit-webhook-config-file={garbage}",
            "initializing audit webhook: {garbage}: the file does not hold an object", reference="initializing audit webhook: error loading config file .*"),
    refused("audit webhook with three errors", "--audit-webhook-config-file={kubeconfig} --audit-webhook-batch-throttle-qps=0 "
            "--audit-webhook-truncate-max-event-size=0 --audit-webhook-version=v2",
            "[invalid audit batch webhook throttle QPS 0, must be a positive number, invalid audit truncate webhook max event size 0, must be a positive number, "
            'invalid group version, allowed versions are ["audit.k8s.io/v1"]]'),
    starts("audit with all backends", "--audit-policy-file={policy} --audit-log-path={folder}/audit.log --audit-log-mode=batch --audit-log-batch-max-size=10 "
           "--audit-log-batch-max-wait=1s --audit-log-format=legacy --audit-log-compress --audit-webhook-config-file={kubeconfig} --audit-webhook-mode=batch "
           "--audit-webhook-truncate-enabled"),
    refused("audit webhook mode", "--audit-webhook-config-file={kubeconfig} --audit-webhook-mode=nope",
            'invalid audit webhook mode nope, allowed modes are "batch,blocking,blocking-strict"'),

    # Admission and APIs.
    refused("admission-control and enable", "--admission-control=NamespaceLifecycle --enable-admission-plugins=NodeRestriction",
            "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"),
    refused("plugin enabled and disabled", "--enable-admission-plugins=NodeRestriction --disable-admission-plugins=NodeRestriction",
            "[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped"),
    refused("unknown plugin", "--enable-admission-plugins=Nope", 'enable-admission-plugins plugin "Nope" is unknown'),
    *[refused(f"removed plugin {name}", f"--enable-admission-plugins={name}", f'enable-admission-plugins plugin "{name}" is unknown')
      for name in ("Initializers", "PodSecurityPolicy", "SecurityContextDeny", "InitialResources", "PersistentVolumeLabel")],
    refused("removed plugin in the old flag", "--admission-control=PodSecurityPolicy", 'admission-control plugin "PodSecurityPolicy" is unknown'),
    refused("unknown plugin to disable", "--disable-admission-plugins=Nope", 'disable-admission-plugins plugin "Nope" is unknown'),
    *[configured(name, plugin, error) for name, plugin, _, error in start_admission.FILES],
    refused("admission configuration is missing", "--admission-control-config-file={missing}",
            'failed to apply admission: failed to read plugin config: unable to read admission control configuration from "{missing}" [' + NO_FILE + "]"),
    refused("no API at all", "--runtime-config=api/all=false --enable-priority-and-fairness=false", "invalid runtime-config with only api/all=false"),
    refused("fairness without its API", "--runtime-config=api/ga=false", "--runtime-config=api/ga=false conflicts with --enable-priority-and-fairness=true"),
    refused("runtime-config key", "--runtime-config=a/b/c/d=true", "runtime-config invalid key a/b/c/d"),
    refused("runtime-config group", "--runtime-config=nope.example.com/v1=true", "unknown api groups nope.example.com/v1"),
    refused("runtime-config version", "--runtime-config=apps/v9=true", "group version apps/v9 that has not been registered"),
    refused("runtime-config value", "--runtime-config=api/beta=maybe", "invalid value api/beta=maybe"),
    refused("runtime-config value of a version", "--runtime-config=apps/v1=maybe",
            'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'),
    refused("runtime-config resource", "--runtime-config=apps/v1/Deployments=false",
            'invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"'),
    starts("runtime-config switches off", "--runtime-config=batch/v1=false"),
    starts("runtime-config", "--runtime-config=api/beta=true"),

    # Networks.
    refused("service range that is none", "--service-cluster-ip-range=nope", "service-cluster-ip-range[0] is not a valid cidr"),
    refused("small service range", "--service-cluster-ip-range=10.0.0.0/30",
            "error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses"),
    refused("second service range", "--service-cluster-ip-range=10.0.0.0/24,nope", "service-cluster-ip-range[1] is not an ip net"),
    refused("service ranges of one family", "--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24",
            "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"),
    refused("three service ranges", "--service-cluster-ip-range=10.0.0.0/24,fd00::/112,10.1.0.0/24",
            "--service-cluster-ip-range must not contain more than two entries"),
    refused("service range of the other family", "--service-cluster-ip-range=fd00::/112",
            'service IP family "fd00::/112" must match public address family "127.0.0.1"'),
    starts("service range of the other family without reconciler", "--service-cluster-ip-range=fd00::/112 --endpoint-reconciler-type=none"),
    starts("large service range", "--service-cluster-ip-range=10.0.0.0/8"),
    refused("node port of the API", "--kubernetes-service-node-port=70000",
            "[--kubernetes-service-node-port 70000 must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP, "
            "kubernetes service node port range 30000-32767 doesn't contain 70000]"),
    refused("node port of the API out of range", "--kubernetes-service-node-port=80", "kubernetes service node port range 30000-32767 doesn't contain 80"),
    starts("node ports by number", "--service-node-port-range=30000+10"),
    starts("an empty node port range is the default", "--service-node-port-range="),
    starts("an empty service range is the default", "--service-cluster-ip-range="),
    starts("unspecified advertise address", "--advertise-address=0.0.0.0"),
    refused("reconciler", "--endpoint-reconciler-type=nope", "unknown endpoint reconciler type: nope", reference=".*"),
]


class World:
    """The files that rows refer to."""

    def __init__(self, folder, etcd):
        self.folder = pathlib.Path(folder)
        self.names = {"folder": str(folder), "etcd": etcd, "missing": str(self.folder / "missing")}
        for name in ("ca", "other_ca"):
            self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self._path(name + ".key"), "-out", self._path(name), "-subj", f"/CN={name}")
        self._write("both_cas", (self.folder / "other_ca").read_text() + (self.folder / "ca").read_text())
        for name in ("", "other_"):
            self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self._path(name + "key"), "-out", self._path(name + "cert"), "-subj", "/CN=localhost")
        self._openssl("genrsa", "-out", self._path("sa_key"), "2048")
        self._write("tokens", f'{mesh.ADMIN_TOKEN},admin,admin-uid,"system:masters"\n')
        self._write("empty", "")
        self._write("garbage", "garbage\n")
        self._write("abac", '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"a","nonResourcePath":"*"}}\n')
        self._write("kubeconfig", json.dumps({"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "w", "cluster": {"server": "https://127.0.0.1:1"}}],
                                              "contexts": [{"name": "w", "context": {"cluster": "w", "user": "w"}}], "users": [{"name": "w", "user": {}}],
                                              "current-context": "w"}))
        for name, text in {**AUDIT_POLICIES, **TRACING_FILES, **EGRESS_FILES}.items():
            self._write(name, text)
        configuration = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
        for name, _, text, _ in start_admission.FILES:
            for known in ("missing", "kubeconfig"):
                text = text.replace("{" + known + "}", self.names[known])
            self._write("admission " + name, text)
        self._write("authentication", json.dumps(configuration))
        self._write("authentication_anonymous", json.dumps(configuration | {"anonymous": {"enabled": True}}))
        self._write("authorization", json.dumps(configuration | {"kind": "AuthorizationConfiguration", "authorizers": [{"type": "RBAC", "name": "rbac"}]}))
        half = self.folder / "half_pair"
        half.mkdir()
        (half / "apiserver.crt").write_text((self.folder / "cert").read_text())
        self.names["half_pair"] = str(half)

    def _path(self, name):
        self.names[name] = str(self.folder / name)
        return self.names[name]

    def _write(self, name, text):
        pathlib.Path(self._path(name)).write_text(text)

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def text(self, text):
        return text.format(**self.names) if "{" in text else text

    def arguments(self, row, port):
        taken = {flag[1:] for flag in row.flags if re.fullmatch(r"-[a-z][a-z-]+", flag)}
        flags = [flag for flag in BASE if flag[2:].partition("=")[0] not in taken] + [flag for flag in row.flags if flag[1:] not in taken]
        return [flag.format(**self.names, port=port) for flag in flags]


class Outcome:
    """The result of a start: `code` is None if the server serves requests, otherwise its exit code."""

    def __init__(self, code, log):
        self.code, self.log = code, log

    def error(self):
        """Returns the error with which the real server ended."""
        if found := re.findall(r'"command failed" err=("(?:[^"\\]|\\.)*")', self.log):
            return json.loads(found[-1])
        found = re.findall(r"^Error: (.*)$", self.log, re.M)
        return found[-1] if found else self.log[-1000:]

    def says(self, error):
        """Returns whether our server ended with this error, reported by the launcher or by a service that rejected its configuration."""
        lines = (json.loads(line)["msg"] if line.startswith("{") else line for line in self.log.splitlines())
        return any(line.endswith(": " + error) for line in lines)


def run(world, row, binary, limit=30):
    """Starts a binary with the command line of a row, and waits until it ends or serves requests."""
    port = mesh.free_port()
    log = world.folder / f"{pathlib.Path(binary).parent.name}-{row.name.replace(' ', '-').replace('/', '-')}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen([str(binary), *world.arguments(row, port)], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    client = mesh.Client(f"https://127.0.0.1:{port}")
    try:
        mesh.wait_until(lambda: process.poll() is not None or client.answers("/version"), limit, f"{row.name} ends or serves")
        return Outcome(process.poll(), log.read_text(errors="replace"))
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
