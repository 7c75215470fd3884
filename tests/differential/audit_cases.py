"""Requests whose audit events are compared. The namespace of a request decides its level (POLICY)."""
import dataclasses
import json

# The level of each namespace. "omit" is RequestResponse without managed fields.
NAMESPACES = ("metadata", "request", "response", "omit")
POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, users: ["system:apiserver"]}
- {level: None, nonResourceURLs: ["/readyz*", "/livez*"]}
- {level: Metadata, namespaces: [metadata]}
- {level: Request, namespaces: [request]}
- {level: RequestResponse, namespaces: [response]}
- {level: RequestResponse, namespaces: [omit], omitManagedFields: true, omitStages: [RequestReceived]}
- {level: RequestResponse, resources: [{group: "*", resources: ["namespaces/*", "selfsubjectreviews", "customresourcedefinitions", "widgets"]}]}
- {level: RequestResponse, nonResourceURLs: ["/apis", "/version", "/healthz", "/openapi/*"]}
- {level: Metadata, omitStages: [RequestReceived]}
"""
JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@dataclasses.dataclass
class Request:
    """`token` is "admin", "reader" (who may do nothing), "guess" (which is unknown) or "" (anonymous)."""
    method: str
    path: str
    body: object = None
    headers: dict = dataclasses.field(default_factory=dict)
    token: str = "admin"


def configmap(name, **fields):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value <&>"}, **fields}


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "image"}]}}


def maps(namespace, name=""):
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


YAML_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  key: value\n"
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.audit.test"},
       "spec": {"group": "audit.test", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}, "text": {"type": "string"}}}}}}}]}}


def of_level(namespace):
    """The requests that are sent to the namespace of each level."""
    one = maps(namespace, "one")
    return {
        "create": Request("POST", maps(namespace), configmap("one")),
        "create again": Request("POST", maps(namespace), configmap("one")),
        "create unknown field": Request("POST", maps(namespace), configmap("unknown", nosuchfield=1)),
        "create generated name": Request("POST", maps(namespace) + "?dryRun=All", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "some-"}}),
        "create with namespace": Request("POST", maps(namespace) + "?dryRun=All", configmap("two", metadata={"name": "two", "namespace": namespace, "uid": "abc"})),
        "create malformed": Request("POST", maps(namespace), "{"),
        "create empty": Request("POST", maps(namespace), ""),
        "create wrong type": Request("POST", maps(namespace), "x", {"Content-Type": "text/plain"}),
        "create invalid": Request("POST", maps(namespace), configmap("In valid")),
        "create pod": Request("POST", f"/api/v1/namespaces/{namespace}/pods", pod("p")),
        "create yaml": Request("POST", maps(namespace), YAML_MAP, {"Content-Type": YAML, "Accept": YAML}),
        "get": Request("GET", one),
        "get protobuf": Request("GET", one, headers={"Accept": PROTOBUF}),
        "get yaml": Request("GET", one, headers={"Accept": YAML}),
        "get pretty": Request("GET", one + "?pretty=true"),
        "get table": Request("GET", one, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}),
        "get metadata": Request("GET", one, headers={"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}),
        "get missing": Request("GET", maps(namespace, "missing")),
        "get missing protobuf": Request("GET", maps(namespace, "missing"), headers={"Accept": PROTOBUF}),
        "get missing yaml": Request("GET", maps(namespace, "missing"), headers={"Accept": YAML}),
        "head": Request("HEAD", one),
        "list": Request("GET", maps(namespace) + "?labelSelector=none"),
        "list objects": Request("GET", maps(namespace) + "?fieldSelector=metadata.name=one"),
        "list table": Request("GET", maps(namespace) + "?fieldSelector=metadata.name=one", headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}),
        "list gzip": Request("GET", maps(namespace) + "?fieldSelector=metadata.name=one", headers={"Accept-Encoding": "gzip"}),
        "list protobuf": Request("GET", maps(namespace) + "?fieldSelector=metadata.name=one", headers={"Accept": PROTOBUF}),
        "watch": Request("GET", maps(namespace) + "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=one"),
        "watch too old": Request("GET", maps(namespace) + "?watch=1&timeoutSeconds=1&resourceVersion=nonsense"),
        "update": Request("PUT", one, configmap("one", data={"key": "other"})),
        "update conflict": Request("PUT", one, configmap("one", metadata={"name": "one", "uid": "0f8fad5b-d9cb-469f-a165-70867728950e", "resourceVersion": "1"})),
        "update other name": Request("PUT", one, configmap("other")),
        "merge patch": Request("PATCH", one, '{"data": {"new":"value"}}', {"Content-Type": "application/merge-patch+json"}),
        "json patch": Request("PATCH", one, '[{"op":"add","path":"/data/more","value":"value"}]', {"Content-Type": "application/json-patch+json"}),
        "strategic patch": Request("PATCH", one, '{"data":{"new":null}}', {"Content-Type": "application/strategic-merge-patch+json"}),
        "apply": Request("PATCH", maps(namespace, "applied") + "?fieldManager=m", json.dumps(configmap("applied")), {"Content-Type": "application/apply-patch+yaml"}),
        "patch missing": Request("PATCH", maps(namespace, "missing"), "{}", {"Content-Type": "application/merge-patch+json"}),
        "patch dry run": Request("PATCH", one + "?dryRun=All", '{"data":{"dry":"run"}}', {"Content-Type": "application/merge-patch+json"}),
        "patch unknown type": Request("PATCH", one, "{}", {"Content-Type": "text/plain"}),
        "status": Request("PATCH", f"/api/v1/namespaces/{namespace}/pods/p/status", '{"status":{"phase":"Running"}}', {"Content-Type": "application/merge-patch+json"}),
        "token": Request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/missing/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["a"]}}),
        "exec": Request("POST", f"/api/v1/namespaces/{namespace}/pods/p/exec?command=ls&stdout=1", headers={"Upgrade": "SPDY/3.1", "Connection": "Upgrade"}),
        "exec without upgrade": Request("POST", f"/api/v1/namespaces/{namespace}/pods/p/exec?command=ls&stdout=1"),
        "binding": Request("POST", f"/api/v1/namespaces/{namespace}/pods/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"name": "node"}}),
        "evict": Request("POST", f"/api/v1/namespaces/{namespace}/pods/p/eviction?dryRun=All", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}),
        "log": Request("GET", f"/api/v1/namespaces/{namespace}/pods/missing/log"),
        "forbidden": Request("GET", one, token="reader"),
        "forbidden create": Request("POST", maps(namespace), configmap("forbidden"), token="reader"),
        "forbidden watch": Request("GET", maps(namespace) + "?watch=1", token="reader"),
        "anonymous": Request("GET", one, token=""),
        "unauthorized": Request("GET", one, token="guess"),
        "unauthorized watch": Request("GET", maps(namespace) + "?watch=1", token="guess"),
        "unauthorized create": Request("POST", maps(namespace), configmap("x"), token="guess"),
        "basic": Request("GET", one, headers={"Authorization": "Basic dTpw"}, token=None),
        "impersonate": Request("GET", one, headers={"Impersonate-User": "other", "Impersonate-Group": "system:masters", "Impersonate-Uid": "7", "Impersonate-Extra-Scope": "a"}),
        "impersonate forbidden": Request("GET", one, headers={"Impersonate-User": "other"}, token="reader"),
        "impersonate nobody": Request("GET", one, headers={"Impersonate-User": "nobody"}),
        "forwarded": Request("GET", one, headers={"X-Forwarded-For": "10.1.2.3, nonsense, 2001:DB8::1, 127.0.0.1", "X-Real-Ip": "10.9.9.9"}),
        "forwarded twice": Request("GET", one, headers={"X-Forwarded-For": "10.1.2.3,10.4.5.6", "X-Real-Ip": "10.1.2.3"}),
        "no such resource": Request("GET", f"/api/v1/namespaces/{namespace}/nonsenses"),
        "no such group": Request("GET", f"/apis/nonsense.example.com/v1/namespaces/{namespace}/nonsenses"),
        "no such method": Request("PUT", maps(namespace), configmap("x")),
        "bad timeout": Request("GET", one + "?timeout=soon"),
        "delete with options": Request("DELETE", one + "?dryRun=All", {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "nonsense"}, "propagationPolicy": "Background"}),
        "delete bare options": Request("DELETE", one + "?dryRun=All", {"gracePeriodSeconds": 0}),
        "delete pod": Request("DELETE", f"/api/v1/namespaces/{namespace}/pods/p", {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}),
        "delete": Request("DELETE", one),
        "delete missing": Request("DELETE", one),
        "delete collection": Request("DELETE", maps(namespace) + "?labelSelector=none"),
        "event": Request("POST", f"/api/v1/namespaces/{namespace}/events", {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": {"namespace": namespace}, "reason": "r"}),
        "widget": Request("POST", f"/apis/audit.test/v1/namespaces/{namespace}/widgets", {"apiVersion": "audit.test/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"text": "t", "unknown": 1}}),
        "widget update": Request("PUT", f"/apis/audit.test/v1/namespaces/{namespace}/widgets/w", {"apiVersion": "audit.test/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}}),
        "widgets": Request("GET", f"/apis/audit.test/v1/namespaces/{namespace}/widgets"),
        "endpoints": Request("GET", f"/api/v1/namespaces/{namespace}/endpoints/none"),
        "local review": Request("POST", f"/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews",
                                {"apiVersion": "authorization.k8s.io/v1", "kind": "LocalSubjectAccessReview", "metadata": {"namespace": namespace},
                                 "spec": {"user": "u", "resourceAttributes": {"namespace": namespace, "verb": "get", "resource": "pods"}}}),
    }


OTHERS = {
    "version": Request("GET", "/version"),
    "health": Request("GET", "/healthz"),
    "groups": Request("GET", "/apis"),
    "no such path": Request("GET", "/nonsense"),
    "namespace": Request("GET", "/api/v1/namespaces/metadata"),
    "namespace status": Request("GET", "/api/v1/namespaces/response/status"),
    "who am I": Request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}),
    "wrong namespace": Request("POST", maps("default") + "?dryRun=All", configmap("x", metadata={"name": "x", "namespace": "other"})),
    "encoded path": Request("GET", "/api/v1/namespaces/def%61ult/configmaps/none?a=%20b"),
    "long agent": Request("GET", "/api/v1/namespaces/none", headers={"User-Agent": "x" * 2000}),
    "no agent": Request("GET", "/api/v1/namespaces/none", headers={"User-Agent": ""}),
    "old watch": Request("GET", "/api/v1/watch/namespaces/metadata?timeoutSeconds=1"),
    "proxy": Request("GET", "/api/v1/nodes/none/proxy/metrics"),
}
