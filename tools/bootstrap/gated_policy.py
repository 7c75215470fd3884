#!/usr/bin/env python3
"""Writes services/core-api/data/bootstrap/gated_policy.json, the parts of the cluster roles and their bindings that depend on feature gates.

The table has the facts of Kubernetes v1.36 (plugin/pkg/auth/authorizer/rbac/bootstrappolicy). tests/differential/test_gates.py compares the result with kube-apiserver."""
import json
import pathlib

OUT = pathlib.Path(__file__).resolve().parents[2] / "services/core-api/data/bootstrap/gated_policy.json"
READ, WRITE = "get list watch", "create delete deletecollection patch update"
RESOURCE, SCHEDULING, CERTIFICATES = "resource.k8s.io", "scheduling.k8s.io", "certificates.k8s.io"
EVENTS = ("create patch update", " events.k8s.io", "events")
CONTROLLER = "system:controller:"

# (gate, role, rule): the rules are the last ones of their roles, in this order.
RULES = [
    ("GenericWorkload", "system:aggregate-to-view", (READ, SCHEDULING, "podgroups podgroups/status workloads")),
    ("GenericWorkload", "system:aggregate-to-edit", (WRITE, SCHEDULING, "podgroups workloads")),
    ("ClusterTrustBundle", "system:node", (READ, CERTIFICATES, "clustertrustbundles")),
    ("KubeletServiceAccountTokenForCredentialProviders", "system:node", ("get", "", "serviceaccounts")),
    ("PodCertificateRequest", "system:node", ("create get list watch", CERTIFICATES, "podcertificaterequests")),
    ("DRAExtendedResource", "system:kube-scheduler", ("create delete", RESOURCE, "resourceclaims")),
    ("DRADeviceTaintRules", "system:kube-scheduler", (READ, RESOURCE, "devicetaintrules")),
    ("DRAResourceClaimGranularStatusAuthorization", "system:kube-scheduler", ("patch update", RESOURCE, "resourceclaims/binding")),
    ("GenericWorkload", "system:kube-scheduler", (READ, SCHEDULING, "podgroups")),
    ("GenericWorkload", "system:kube-scheduler", ("patch update", SCHEDULING, "podgroups/status")),
    ("DRAWorkloadResourceClaims", CONTROLLER + "resource-claim-controller", (READ, SCHEDULING, "podgroups")),
    ("DRAWorkloadResourceClaims", CONTROLLER + "resource-claim-controller", ("patch update", SCHEDULING, "podgroups/status")),
    ("DRAResourceClaimGranularStatusAuthorization", CONTROLLER + "resource-claim-controller", ("patch update", RESOURCE, "resourceclaims/binding")),
    ("DRADeviceTaintRules", CONTROLLER + "device-taint-eviction-controller", ("patch update", RESOURCE, "devicetaintrules/status")),
    ("DRADeviceTaintRules", CONTROLLER + "device-taint-eviction-controller", (READ, RESOURCE, "devicetaintrules")),
    ("WorkloadWithJob", CONTROLLER + "job-controller", ("create get list watch", SCHEDULING, "podgroups workloads")),
]
URLS = [("ComponentFlagz", "system:monitoring", "/flagz"), ("ComponentStatusz", "system:monitoring", "/statusz")]
# Roles of the default that exist only with a gate.
NAMES = [("DRADeviceTaints", CONTROLLER + "device-taint-eviction-controller")]
# (gate, name, rules): roles of controllers with their bindings, which the default does not have.
CONTROLLERS = [
    ("DRAResourcePoolStatus", "resourcepoolstatusrequest-controller", [
        ("delete get list watch", RESOURCE, "resourcepoolstatusrequests"), ("patch update", RESOURCE, "resourcepoolstatusrequests/status"),
        (READ, RESOURCE, "resourceslices"), (READ, RESOURCE, "resourceclaims"), EVENTS]),
    ("GenericWorkload", "podgroup-protection-controller", [("get list update watch", SCHEDULING, "podgroups"), (READ, "", "pods")]),
    ("ClusterTrustBundle", "kube-apiserver-serving-clustertrustbundle-publisher", [
        ("attest", CERTIFICATES, "signers", "kubernetes.io/kube-apiserver-serving"), ("create delete list update watch", CERTIFICATES, "clustertrustbundles"), EVENTS]),
    ("PodCertificateRequest", "podcertificaterequestcleaner", [("delete get list watch", CERTIFICATES, "podcertificaterequests")]),
    ("StorageVersionAPI", "storage-version-garbage-collector", [
        (READ, "coordination.k8s.io", "leases"), ("delete get list patch update watch", "internal.apiserver.k8s.io", "storageversions"),
        ("get patch update", "internal.apiserver.k8s.io", "storageversions/status")]),
    ("StorageVersionMigrator", "storage-version-migrator-controller", [
        ("create list patch", "*", "*"), ("get", "apiextensions.k8s.io", "customresourcedefinitions"),
        ("patch", "apiextensions.k8s.io", "customresourcedefinitions/status"), ("update", "storagemigration.k8s.io", "storageversionmigrations/status")]),
]


def rule(verbs, groups, resources, names=None):
    made = {"apiGroups": groups.split(" "), "resources": resources.split(" ")}
    if names:
        made["resourceNames"] = [names]
    return {**made, "verbs": verbs.split(" ")}


def metadata(name):
    return {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}, "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"}}


def role(name, rules):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata(name), "rules": [rule(*one) for one in rules]}


def binding(name, subject):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": metadata(name),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}, "subjects": [subject]}


def main():
    made = [{"gate": gate, "role": name, "rule": rule(*one)} for gate, name, one in RULES]
    made += [{"gate": gate, "role": name, "url": url} for gate, name, url in URLS]
    made += [{"gate": gate, "name": name} for gate, name in NAMES]
    for gate, name, rules in CONTROLLERS:
        made.append({"gate": gate, "object": role(CONTROLLER + name, rules)})
        made.append({"gate": gate, "object": binding(CONTROLLER + name, {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"})})
    discovery = "system:cluster-trust-bundle-discovery"
    made.append({"gate": "ClusterTrustBundle", "object": role(discovery, [(READ, CERTIFICATES, "clustertrustbundles")])})
    made.append({"gate": "ClusterTrustBundle", "object": binding(discovery, {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:serviceaccounts"})})
    OUT.write_text("[\n" + ",\n".join(json.dumps(one, separators=(",", ":")) for one in made) + "\n]\n")
    print(f"{OUT.name}: {len(made)}")


main()
