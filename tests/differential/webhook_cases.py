"""Requests for test_webhooks.py."""

NS = "/api/v1/namespaces/$NS"
MAPS = f"{NS}/configmaps"
APPS = "/apis/apps/v1/namespaces/$NS"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA = {"openAPIV3Schema": {"type": "object", "properties": {
    "spec": {"type": "object", "properties": {"replicas": {"type": "integer", "default": 1}, "size": {"type": "string"}}},
    "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}}
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
DEPLOYMENT = {"metadata": {"name": "d"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
    "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
HPA = {"metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}}


def crd(plural, *versions):
    group = f"{plural}.webhooks.test"
    return {"metadata": {"name": f"{plural}.{group}"}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": plural.capitalize(), "singular": plural[:-1]},
        "versions": [{"name": version, "served": True, "storage": index == 0, "schema": SCHEMA, "subresources": {
            "status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}} for index, version in enumerate(versions)]}}


def merge(path, body, **options):
    return {"do": f"PATCH {path}", "body": body, "type": "merge", **options}


# Requests that two webhooks see that match everything.
REVIEWS = {
    "config-maps": [
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "<v>&\u2028é"}}},
        {"do": f"POST {MAPS}?fieldManager=me&fieldValidation=Strict&dryRun=All", "body": {"metadata": {"name": "b"}}},
        {"do": f"PUT {MAPS}/a", "body": {"metadata": {"name": "a"}, "data": {"k": "2"}}},
        {"do": f"PUT {MAPS}/a?fieldManager=m", "body": {"metadata": {"name": "a"}, "binaryData": {"k": "AAEC"}, "immutable": False}},
        merge(f"{MAPS}/a?fieldValidation=Ignore", {"data": {"more": "1"}}),
        {"do": f"PATCH {MAPS}/a", "body": [{"op": "add", "path": "/metadata/annotations", "value": {"n": "1"}}], "type": "jsonpatch"},
        {"do": f"PATCH {MAPS}/a", "body": {"metadata": {"annotations": {"n": "2"}}}, "type": "strategic"},
        {"do": f"PATCH {MAPS}/a?fieldManager=applier&force=true", "body": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "3"}}, "type": "apply"},
        {"do": f"PATCH {MAPS}/new?fieldManager=applier", "body": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"k": "3"}}, "type": "apply"},
        {"do": f"GET {MAPS}/a"}, {"do": f"GET {MAPS}"},
        {"do": f"DELETE {MAPS}/a?dryRun=All"},
        {"do": f"DELETE {MAPS}/a?gracePeriodSeconds=0&propagationPolicy=Background"},
        {"do": f"DELETE {MAPS}/new", "body": {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 3, "propagationPolicy": "Foreground"}},
        {"do": f"DELETE {MAPS}/nothing"},
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "x"}}}, {"do": f"POST {MAPS}", "body": {"metadata": {"name": "y"}}},
        {"do": f"DELETE {MAPS}?labelSelector=x!%3Dy"},
    ],
    "users": [
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "a"}}, "user": "jane", "headers": {"Impersonate-Group": "system:masters"}},
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "b"}}, "user": "jane", "headers": {
            "Impersonate-Group": "system:masters", "Impersonate-Uid": "42", "Impersonate-Extra-scopes": "one"}},
    ],
    "deployments": [
        {"do": f"POST {APPS}/deployments", "body": DEPLOYMENT},
        {"do": f"PUT {APPS}/deployments/d/scale", "body": {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "d", "namespace": "$NS"}, "spec": {"replicas": 2}}},
        merge(f"{APPS}/deployments/d/scale", {"spec": {"replicas": 3}}),
        merge(f"{APPS}/deployments/d/status", {"status": {"replicas": 3}}),
        {"do": f"DELETE {APPS}/deployments/d"},
    ],
    "pods": [
        {"do": f"POST {NS}/pods", "body": POD},
        merge(f"{NS}/pods/p/status", {"status": {"phase": "Running"}}),
        {"do": f"POST {NS}/pods/p/eviction?dryRun=All", "body": {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "p", "namespace": "$NS"}}},
        {"do": f"PATCH {NS}/pods/p/ephemeralcontainers", "type": "strategic", "body": {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}}},
        {"do": f"POST {NS}/pods/p/exec?command=ls&command=-l&stdout=true&container=c"},
        {"do": f"POST {NS}/pods/p/attach?stdin=true&tty=true"},
        {"do": f"POST {NS}/pods/p/portforward?ports=80"},
        {"do": f"POST {NS}/pods/p/binding", "body": {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}},
        {"do": f"DELETE {NS}/pods/p?gracePeriodSeconds=0", "setup": True},  # the reference reviews it two or three times
    ],
    "proxies": [
        {"do": f"POST {NS}/pods", "body": POD, "setup": True}, {"do": f"POST {NS}/services", "body": {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}, "setup": True},
        {"do": "POST /api/v1/nodes", "body": {"metadata": {"name": "proxied-$NS"}}, "setup": True},
        # No pod runs, so only the reviews and the status are compared.
        *[{"do": f"{method} {path}", "only": ["status"]} for method, path in (
            ("GET", f"{NS}/pods/p/proxy"), ("GET", f"{NS}/pods/p/proxy/some/path?a=b&c=%20d"), ("POST", f"{NS}/pods/p:80/proxy/x"), ("GET", f"{NS}/services/s/proxy/"),
            ("PUT", f"{NS}/services/http:s:80/proxy/some/path?a=b"), ("GET", "/api/v1/nodes/proxied-$NS/proxy/metrics"), ("DELETE", "/api/v1/nodes/proxied-$NS/proxy/x"))],
        {"do": "DELETE /api/v1/nodes/proxied-$NS", "setup": True},
    ],
    "cluster-scope": [
        {"do": "POST /api/v1/namespaces", "body": {"metadata": {"name": "$NS-more", "labels": {"q": "r"}}}},
        merge("/api/v1/namespaces/$NS-more", {"metadata": {"labels": {"q": "s"}}}),
        {"do": "DELETE /api/v1/namespaces/$NS-more"},
        {"do": "POST /apis/storage.k8s.io/v1/storageclasses", "body": {"metadata": {"name": "$NS"}, "provisioner": "p"}},
        {"do": "DELETE /apis/storage.k8s.io/v1/storageclasses/$NS"},
        {"do": "POST /api/v1/nodes", "body": {"metadata": {"name": "$NS"}}},
        {"do": "DELETE /api/v1/nodes/$NS"},
    ],
    "reviews-and-tokens": [
        {"do": "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "body": {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}, "only": ["status"]},
        {"do": f"POST {NS}/serviceaccounts", "body": {"metadata": {"name": "s"}}},
        {"do": f"POST {NS}/serviceaccounts/s/token", "body": {"spec": {"expirationSeconds": 3600, "audiences": ["a"]}}, "without": ["token", "expirationTimestamp"]},
    ],
    "events": [
        {"do": f"POST {NS}/events", "body": {"metadata": {"name": "e"}, "involvedObject": {"namespace": "$NS", "kind": "Pod", "name": "p"}, "reason": "r", "message": "m", "type": "Normal"}},
        {"do": "DELETE /apis/events.k8s.io/v1/namespaces/$NS/events/e"},
    ],
    "custom-resources": [
        {"do": f"POST {CRDS}", "body": crd("things", "v1"), "setup": True},
        {"do": "GET /apis/things.webhooks.test/v1/things", "setup": True, "until": 200},
        {"do": "POST /apis/things.webhooks.test/v1/namespaces/$NS/things", "body": {"kind": "Things", "apiVersion": "things.webhooks.test/v1", "metadata": {"name": "t"}, "spec": {"size": "<b>"}},
         "until": 201, "setup": True},
        merge("/apis/things.webhooks.test/v1/namespaces/$NS/things/t", {"spec": {"size": "large"}}),
        merge("/apis/things.webhooks.test/v1/namespaces/$NS/things/t/status", {"status": {"replicas": 2}}),
        merge("/apis/things.webhooks.test/v1/namespaces/$NS/things/t/scale", {"spec": {"replicas": 5}}),
        {"do": "DELETE /apis/things.webhooks.test/v1/namespaces/$NS/things/t"},
        {"do": f"DELETE {CRDS}/things.things.webhooks.test", "setup": True},
    ],
    "api-services": [
        {"do": "POST /apis/apiregistration.k8s.io/v1/apiservices", "body": {"metadata": {"name": "v1.$NS.test"}, "spec": {
            "group": "$NS.test", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10, "insecureSkipTLSVerify": True,
            "service": {"namespace": "$NS", "name": "s"}}}, "without": ["time", "lastTransitionTime", "conditions"]},
        {"do": "DELETE /apis/apiregistration.k8s.io/v1/apiservices/v1.$NS.test", "setup": True},
    ],
    "configurations-are-exempt": [
        {"do": "POST /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "body": {"metadata": {"name": "empty-$NS"}}},
        {"do": "DELETE /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/empty-$NS"},
    ],
}


def rule(group="", version="v1", resource="configmaps", operations=("*",), **more):
    return {"rules": [{"operations": list(operations), "apiGroups": [group], "apiVersions": [version], "resources": [resource], **more}]}


def create(name, **metadata):
    return {"do": f"POST {MAPS}", "body": {"metadata": {"name": name, **metadata}}}


def condition(*expressions):
    return {"matchConditions": [{"name": f"c{index}", "expression": text} for index, text in enumerate(expressions)]}


# Name: (mutating webhooks, validating webhooks, requests). A webhook is its path and fields.
CONFIGURATIONS = {
    "operations": ([("/allow", rule(operations=["CREATE"])), ("/allow", rule(operations=["UPDATE", "DELETE"]))], [("/allow", rule(operations=["DELETE"]))],
                   [create("a"), merge(f"{MAPS}/a", {"data": {"x": "y"}}), {"do": f"DELETE {MAPS}/a"}]),
    "scopes": ([("/allow", rule("*", "*", "*", scope="Cluster")), ("/allow", rule("*", "*", "*", scope="Namespaced"))], [],
               [create("a"), {"do": "POST /api/v1/namespaces?dryRun=All", "body": {"metadata": {"name": "$NS-x"}}}]),
    "subresources": ([("/allow", rule(resource="pods")), ("/allow", rule(resource="pods/*")), ("/allow", rule(resource="pods/status")), ("/allow", rule(resource="*/status"))], [],
                     [{"do": f"POST {NS}/pods", "body": POD}, merge(f"{NS}/pods/p/status", {"status": {"phase": "Running"}})]),
    "namespace-selector": ([("/allow", {"namespaceSelector": {"matchLabels": {"team": "a"}}}), ("/allow", {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}})],
                           [("/allow", {"namespaceSelector": {"matchLabels": {"team": "b"}}})],
                           [create("a"), {"do": "POST /api/v1/namespaces", "body": {"metadata": {"name": "$NS-b", "labels": {"team": "b"}}}},
                            {"do": "POST /api/v1/namespaces/missing/configmaps", "body": {"metadata": {"name": "a"}}}]),
    "object-selector": ([("/allow", {"objectSelector": {"matchLabels": {"app": "web"}}})], [("/allow", {"objectSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}})],
                        [create("a", labels={"app": "web"}), create("b"), merge(f"{MAPS}/a", {"metadata": {"labels": {"app": "db"}}}), {"do": f"DELETE {MAPS}/a"}]),
    "labels-change": ([("/annotate", {}), ("/allow", {"objectSelector": {"matchLabels": {"app": "web"}}})], [], [create("a", labels={"app": "web"})]),
    "equivalent": ([("/allow", rule("autoscaling", "v1", "horizontalpodautoscalers")), ("/annotate", rule("autoscaling", "v1", "horizontalpodautoscalers") | {"matchPolicy": "Exact"})],
                   [("/allow", rule("autoscaling", "v2", "horizontalpodautoscalers")), ("/allow", rule("", "v1", "events"))],
                   [{"do": "POST /apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers", "body": HPA},
                    {"do": "POST /apis/autoscaling/v1/namespaces/$NS/horizontalpodautoscalers?dryRun=All", "body": {**HPA, "metadata": {"name": "i"}}},
                    merge("/apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers/h", {"spec": {"metrics": [
                        {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}}}]}}),
                    {"do": "DELETE /apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers/h"},
                    {"do": "POST /apis/events.k8s.io/v1/namespaces/$NS/events", "body": {"metadata": {"name": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a.b/c",
                     "reportingInstance": "i", "action": "x", "reason": "r", "type": "Normal", "regarding": {"namespace": "$NS", "kind": "Pod", "name": "p"}}}]),
    "equivalent-patched": ([("/annotate", rule("autoscaling", "v1", "horizontalpodautoscalers"))], [],
                           [{"do": "POST /apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers", "body": HPA}]),
    "conditions": ([("/allow", condition("object.metadata.name == 'a'")), ("/allow", condition("!has(object.data)", "request.operation != 'DELETE'")),
                    ("/allow", condition("authorizer.group('').resource('pods').check('create').allowed()"))],
                   [("/allow", condition("request.userInfo.username == 'nobody'")), ("/allow", condition("oldObject == null"))],
                   [create("a"), create("b"), merge(f"{MAPS}/a", {"data": {"x": "y"}}), {"do": f"DELETE {MAPS}/a"}]),
    "conditions-fail": ([("/allow", condition("object.data.missing == 'x'") | rule())], [], [create("a")]),
    "conditions-fail-open": ([("/allow", condition("object.data.missing == 'x'") | rule() | {"failurePolicy": "Ignore"})], [], [create("a")]),
    "review-versions": ([("/allow", {"admissionReviewVersions": ["v1beta1", "v1"]}), ("/annotate", {"admissionReviewVersions": ["v99", "v1beta1"]})], [("/allow", {"admissionReviewVersions": ["v1beta1"]})],
                        [create("a"), {"do": f"DELETE {MAPS}/a"}]),
    "dry-run": ([("/allow", {"sideEffects": "NoneOnDryRun"})], [], [{"do": f"POST {MAPS}?dryRun=All", "body": {"metadata": {"name": "a"}}}]),
    "order": ([("/annotate", {}), ("/allow", {"reinvocationPolicy": "IfNeeded"}), ("/annotate", {}), ("/warn", {"reinvocationPolicy": "IfNeeded"})], [("/warn", {}), ("/allow", {})],
              [create("a"), create("b", annotations={"patched": "yes"})]),
    "reinvocation": ([("/allow", {"reinvocationPolicy": "IfNeeded"}), ("/annotate", {}), ("/allow", {"reinvocationPolicy": "Never"})], [], [create("a"), {"do": f"POST {NS}/pods", "body": POD}]),
    "first-rejection": ([("/allow", {}), ("/deny-message", {}), ("/allow", {})], [("/allow", {})], [create("a")]),
    "timeouts": ([("/allow", {"timeoutSeconds": 7})], [("/allow", {"timeoutSeconds": 30})], [create("a"), {"do": f"POST {MAPS}?timeout=5s", "body": {"metadata": {"name": "b"}}}]),
    "services": ([], [("/allow", {"clientConfig": {"service": {"namespace": "$NS", "name": "missing", "path": "/x"}}} | rule())], [create("a")]),
    "patched-kinds": ([("/annotate", {})], [("/allow", {})],
                      [{"do": f"POST {NS}/pods", "body": POD}, {"do": f"POST {APPS}/deployments", "body": DEPLOYMENT}, {"do": f"POST {NS}/secrets", "body": {"metadata": {"name": "s"}, "stringData": {"a": "b"}}},
                       {"do": f"POST {NS}/services", "body": {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}, "setup": True},  # has a random address
                       {"do": f"PUT {APPS}/deployments/d/scale", "body": {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "d", "namespace": "$NS"}, "spec": {"replicas": 2}}}]),
    "custom-versions": ([("/annotate", rule("gadgets.webhooks.test", "v2", "gadgets"))], [("/allow", rule("gadgets.webhooks.test", "v1", "gadgets"))],
                        [{"do": f"POST {CRDS}", "body": crd("gadgets", "v1", "v2"), "setup": True},
                         {"do": "GET /apis/gadgets.webhooks.test/v2/gadgets", "setup": True, "until": 200},
                         {"do": "POST /apis/gadgets.webhooks.test/v1/namespaces/$NS/gadgets", "setup": True, "until": 201,
                          "body": {"kind": "Gadgets", "apiVersion": "gadgets.webhooks.test/v1", "metadata": {"name": "t"}, "spec": {"size": "s"}}},
                         merge("/apis/gadgets.webhooks.test/v1/namespaces/$NS/gadgets/t", {"spec": {"size": "large"}}),
                         merge("/apis/gadgets.webhooks.test/v2/namespaces/$NS/gadgets/t", {"spec": {"size": "larger"}}),
                         {"do": "DELETE /apis/gadgets.webhooks.test/v2/namespaces/$NS/gadgets/t"},
                         {"do": f"DELETE {CRDS}/gadgets.gadgets.webhooks.test", "setup": True}]),
}
