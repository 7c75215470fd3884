"""Requests to versions and kinds that are off by default (test_switched_on.py): discovery, and create, read, update and delete of each."""
import subprocess

import cases
import pod_certificate_cases

G = "/apis"
CERTIFICATES = ("pod-certificate-requests", "pod-certificate-statuses", "certificate-volumes")


def certificate(folder, ca=True):
    """Returns a self-signed certificate in PEM."""
    key = folder / "key.pem"
    file = folder / f"cert-{ca}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", file, "-days", "30",
                    "-subj", "/CN=anchor", "-addext", f"basicConstraints=critical,CA:{'TRUE' if ca else 'FALSE'}"], check=True, capture_output=True)
    return file.read_text()


def post(path, body, **options):
    return {"do": f"POST {path}", "body": body, **options}


def patch(path, body, **options):
    return {"do": f"PATCH {path}", "type": "merge", "body": body, **options}


def written(collection, name, body, change, refused, status=None):
    """Steps for one kind in one version: create, read in every encoding, apply, change, refuse, status, delete."""
    full = {"metadata": {"name": name}, **body}
    steps = [post(collection, full), {"do": f"GET {collection}/{name}"}, {"do": f"GET {collection}/{name}", "accept": "yaml"},
             {"do": f"GET {collection}/{name}", "accept": "protobuf"}, {"do": f"GET {collection}/{name}", "accept": "table"},
             patch(f"{collection}/{name}", change)]
    steps += [post(collection, {"metadata": {"name": f"{name}x"}, **bad}) for bad in refused]
    if status:
        steps += [patch(f"{collection}/{name}/status", {"status": one}) for one in status]
    return steps + [{"do": f"DELETE {collection}/{name}"}]


CONDITION = {"type": "Ready", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
REQUEST_V1 = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c", "count": 2}},
                                       {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}]}}
REQUEST_BETA = {"devices": {"requests": [{"name": "a", "deviceClassName": "c", "count": 2},
                                         {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}]}}
SLICE = {"driver": "d.example.com", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"}
DEVICE = {"attributes": {"a": {"string": "x"}}, "capacity": {"m": {"value": "1Gi"}}}
POLICY = {"spec": {"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
                   "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: \"add\", path: \"/metadata/labels/a\", value: \"b\"}]"}}], "reinvocationPolicy": "Never"}}


def claims(version, request):
    base = f"{G}/resource.k8s.io/{version}/namespaces/$NS"
    other = "v1" if version != "v1" else "v1beta1"
    return [*written(f"{base}/resourceclaims", "c", {"spec": request}, {"metadata": {"labels": {"a": "b"}}},
                     [{"spec": {"devices": {"requests": [{"name": "a"}]}}}, {"spec": {"devices": {"requests": [{"name": "A_b", "deviceClassName": "c"}]}}}]),
            post(f"{base}/resourceclaims", {"metadata": {"name": "d"}, "spec": request}),
            {"do": f"GET {G}/resource.k8s.io/{other}/namespaces/$NS/resourceclaims/d"},
            {"do": f"PATCH {base}/resourceclaims/e?fieldManager=m", "type": "apply",
             "body": {"apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceClaim", "metadata": {"name": "e"}, "spec": request}},
            {"do": f"GET {G}/resource.k8s.io/{other}/namespaces/$NS/resourceclaims/e"},
            *written(f"{base}/resourceclaimtemplates", "t", {"spec": {"spec": request}}, {"metadata": {"labels": {"a": "b"}}}, [])]


def slices(version, device):
    base = f"{G}/resource.k8s.io/{version}"
    return [*written(f"{base}/deviceclasses", "$NS", {"spec": {"selectors": [{"cel": {"expression": "true"}}]}}, {"metadata": {"labels": {"a": "b"}}},
                     [{"spec": {"selectors": [{}]}}]),
            *written(f"{base}/resourceslices", "$NS", {"spec": {**SLICE, "devices": [{"name": "a", **device}]}},
                     {"spec": {"pool": {"name": "p", "resourceSliceCount": 2}}}, [{"spec": {**SLICE, "nodeName": ""}}])]


def taint_rules(version):
    return written(f"{G}/resource.k8s.io/{version}/devicetaintrules", f"$NS-{version}",
                   {"spec": {"deviceSelector": {"driver": "d.example.com"}, "taint": {"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}}},
                   {"spec": {"taint": {"value": "v"}}}, [{"spec": {"taint": {"key": "", "effect": "Never"}}}, {"spec": {"deviceSelector": {"pool": ""}, "taint": {"key": "k", "effect": "None"}}}],
                   [{"conditions": [CONDITION]}, {"conditions": [{"type": "x"}]}])


def policies(version):
    base = f"{G}/admissionregistration.k8s.io/{version}"
    return [*written(f"{base}/mutatingadmissionpolicies", f"$NS-{version}", POLICY, {"spec": {"failurePolicy": "Ignore"}}, [{"spec": {}}]),
            *written(f"{base}/mutatingadmissionpolicybindings", f"$NS-{version}", {"spec": {"policyName": "p"}}, {"spec": {"policyName": "q"}}, [{"spec": {}}])]


def candidates(version):
    spec = {"leaseName": "l", "binaryVersion": "1.36.0", "emulationVersion": "1.36.0", "strategy": "OldestEmulationVersion"}
    return written(f"{G}/coordination.k8s.io/{version}/namespaces/$NS/leasecandidates", "c", {"spec": spec}, {"spec": {"binaryVersion": "1.37.0"}},
                   [{"spec": {}}, {"spec": {**spec, "binaryVersion": "1.35.0"}}, {"spec": {**spec, "strategy": "Newest"}}, {"spec": {**spec, "binaryVersion": "x"}}])


def groups():
    """Steps of single kinds. The names of clustertrustbundles and the like must be unique on the server."""
    podgroup = {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
    return {
        "discovery": [{"do": f"GET {path}"} for path in (
            "/apis", *(f"{G}/{gv}" for gv in (
                "admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1", "certificates.k8s.io/v1alpha1", "certificates.k8s.io/v1beta1",
                "coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1", "internal.apiserver.k8s.io/v1alpha1", "networking.k8s.io/v1beta1",
                "resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2", "scheduling.k8s.io/v1alpha2", "storage.k8s.io/v1beta1",
                "storagemigration.k8s.io/v1beta1", "authentication.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta3")))],
        "claims-v1beta1": claims("v1beta1", REQUEST_BETA),
        "claims-v1beta2": claims("v1beta2", REQUEST_V1),
        "slices-v1beta1": slices("v1beta1", {"basic": DEVICE}),
        "slices-v1beta2": slices("v1beta2", DEVICE),
        "taint-rules": [*taint_rules("v1alpha3"), *taint_rules("v1beta2")],
        "pool-requests": written(f"{G}/resource.k8s.io/v1alpha3/resourcepoolstatusrequests", "$NS", {"spec": {"driver": "d.example.com"}},
                                 {"spec": {"limit": 7}}, [{"spec": {}}, {"spec": {"driver": "d", "limit": 0}}, {"spec": {"driver": "d", "limit": 1001}}],
                                 [{"poolCount": 1, "pools": [{"driver": "d", "poolName": "p", "generation": 1, "totalDevices": 3}]}, {"poolCount": -1}]),
        "policies": [*policies("v1beta1"), *policies("v1alpha1")],
        "addresses": [*written(f"{G}/networking.k8s.io/v1beta1/ipaddresses", "192.0.2.7", {"spec": {"parentRef": {"resource": "services", "name": "a", "namespace": "b"}}},
                               {"metadata": {"labels": {"a": "b"}}}, [{"spec": {}}]),
                      *written(f"{G}/networking.k8s.io/v1beta1/servicecidrs", "$NS", {"spec": {"cidrs": ["198.51.100.0/24"]}},
                               {"metadata": {"labels": {"a": "b"}}}, [{"spec": {"cidrs": []}}], [{"conditions": [CONDITION]}])],
        "volume-attributes": written(f"{G}/storage.k8s.io/v1beta1/volumeattributesclasses", "$NS", {"driverName": "d.example.com", "parameters": {"a": "b"}},
                                     {"metadata": {"labels": {"a": "b"}}}, [{"driverName": "", "parameters": {}}]),
        "candidates": [*candidates("v1beta1"), *candidates("v1alpha2")],
        "storage-versions": written(f"{G}/internal.apiserver.k8s.io/v1alpha1/storageversions", "example.com.widgets", {"spec": {}},
                                    {"metadata": {"labels": {"a": "b"}}}, [],
                                    [{"storageVersions": [{"apiServerID": "a", "encodingVersion": "v1", "decodableVersions": ["v1"]}], "commonEncodingVersion": "v1"},
                                     {"storageVersions": [{"apiServerID": "A_b", "encodingVersion": "a/b/c", "decodableVersions": ["v2"], "servedVersions": ["v3"]}]}]),
        "storage-migrations": written(f"{G}/storagemigration.k8s.io/v1beta1/storageversionmigrations", "$NS", {"spec": {"resource": {"resource": "pods"}}},
                                      {"spec": {"resource": {"resource": "nodes"}}}, [{"spec": {}}, {"spec": {"resource": {"resource": "A", "group": "B_c"}}}],
                                      [{"resourceVersion": "5", "conditions": [{**CONDITION, "type": "Running"}]}, {"resourceVersion": "6"}, {"resourceVersion": "x"},
                                       {"conditions": [{**CONDITION, "type": "Succeeded"}, {**CONDITION, "type": "Failed"}]}]),
        "pod-groups": [*written(f"{G}/scheduling.k8s.io/v1alpha2/namespaces/$NS/podgroups", "g", podgroup, {"spec": {"schedulingPolicy": {"basic": {}}}},
                                [{"spec": {}}, {"spec": {"schedulingPolicy": {"basic": {}, "gang": {"minCount": 0}}}},
                                 {"spec": {**podgroup["spec"], "podGroupTemplateRef": {"workload": {"workloadName": "A_b", "podGroupTemplateName": "B"}}}}],
                                [{"conditions": [{**CONDITION, "type": "PodGroupScheduled"}]}, {"resourceClaimStatuses": [{"name": "x"}]}]),
                       *written(f"{G}/scheduling.k8s.io/v1alpha2/namespaces/$NS/workloads", "w",
                                {"spec": {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"basic": {}}}]}}, {"metadata": {"labels": {"a": "b"}}},
                                [{"spec": {}}, {"spec": {"podGroupTemplates": [{"name": "A", "schedulingPolicy": {}}]}}])],
        "fields-of-features": [
            post("/api/v1/namespaces/$NS/pods", {"metadata": {"name": "p"}, "spec": {"os": {"name": "linux"}, "containers": [
                {"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGINT"}}], "volumes": [{"name": "v", "projected": {"sources": [
                    {"clusterTrustBundle": {"name": "b", "path": "f"}}]}}]}}),
            {"do": "GET /api/v1/namespaces/$NS/pods/p"}],
    }


def trust_bundles(folder):
    anchor, leaf = certificate(folder), certificate(folder, ca=False)
    steps = []
    for version in ("v1beta1", "v1alpha1"):
        collection = f"{G}/certificates.k8s.io/{version}/clustertrustbundles"
        steps += written(collection, f"example.com:a:{version}", {"spec": {"signerName": "example.com/a", "trustBundle": anchor}}, {"metadata": {"labels": {"a": "b"}}},
                         [{"spec": {"trustBundle": anchor, "signerName": "b"}}, {"spec": {"trustBundle": leaf}}, {"spec": {"trustBundle": anchor + anchor}}, {"spec": {"trustBundle": "x"}},
                          {"spec": {"trustBundle": anchor.replace("CERTIFICATE", "KEY")}}])
    return steps


def load(folder):
    everything = {**groups(), "trust-bundles": trust_bundles(folder), **pod_certificate_cases.load(folder)}
    return [cases.Case("switched", name, {}, steps) for name, steps in everything.items()]
