#!/usr/bin/env python3
"""./apimesh bench --admission: the CPU time of creating a pod of 6 KB with all admission plugins that are on by default (ServiceAccount included), with NamespaceLifecycle only,
and with a ValidatingAdmissionPolicy of three rules in addition to the default plugins. Both servers are measured with each, in interleaved rounds."""
import argparse
import json
import statistics
import sys
import tempfile
import time

import run
import servers
import workloads

# The plugins that are on by default in v1.36, without NamespaceLifecycle.
OTHERS = ("CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass",
          "DefaultTolerationSeconds", "JobValidation", "LimitRanger", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NodeDeclaredFeatureValidator",
          "PersistentVolumeClaimResize", "PodGroupProtection", "PodGroupWorkloadExists", "PodResizeValidator", "PodSecurity", "PodTopologyLabels", "Priority", "ResourceQuota",
          "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook")
GROUP = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
RULES = ("object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)",
         "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))", "'app' in object.metadata.labels && object.metadata.labels['app'] != ''")
POLICY = {"metadata": {"name": "bench"}, "spec": {
    "matchConstraints": {"resourceRules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]},
    "validations": [{"expression": rule} for rule in RULES]}}
BINDING = {"metadata": {"name": "bench"}, "spec": {"policyName": "bench", "validationActions": ["Deny"]}}
NAMESPACE = "/api/v1/namespaces/bench"


def create(server, method, path, body):
    result = workloads.once(server, method, path, json.dumps(body))
    if result["errors"]:
        raise RuntimeError(f"{server.name}: {path}: {result['errorTexts']}")


def prepare(server, with_policy):
    create(server, "POST", "/api/v1/namespaces", {"metadata": {"name": "bench"}})
    create(server, "POST", NAMESPACE + "/serviceaccounts", {"metadata": {"name": "default"}})
    if not with_policy:
        return
    create(server, "POST", GROUP + "ies", POLICY)
    create(server, "POST", GROUP + "ybindings", BINDING)
    bad = {"metadata": {"name": "bad"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    for _ in range(300):  # until the policy rejects a pod
        if workloads.once(server, "POST", NAMESPACE + "/pods?dryRun=All", json.dumps(bad))["errors"]:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{server.name}: the policy has no effect")


def pods(first):
    body = workloads.pod("new-{n}", "none")
    del body["spec"]["automountServiceAccountToken"]  # ServiceAccount adds the volume of the token

    def work(server, seconds):
        return workloads.load(server, "requests", "--method", "POST", "--path", NAMESPACE + "/pods", "--body", json.dumps(body), "--connections", "8", "--seconds", str(seconds),
                              "--first", str(first), "--expect-code", "201", headers=["Content-Type: application/json"])
    return work


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--ours-only", action="store_true")
    arguments = parser.parse_args()
    kinds = [("ours", servers.Ours)]
    if not arguments.ours_only and (reference := run.find_reference()):
        servers.Reference.binary = reference
        kinds.append(("kube-apiserver", servers.Reference))
    etcd, running, samples = run.find_etcd(), [], {}
    with tempfile.TemporaryDirectory(prefix="apimesh-bench-", ignore_cleanup_errors=True) as folder:
        try:
            for name, kind in kinds:
                for what, off in (("only NamespaceLifecycle", OTHERS), ("default plugins", ()), ("default plugins and a policy", ())):
                    server = kind(f"{name} {what}", folder, etcd, off)
                    running.append((name, what, server))
                    prepare(server, what.endswith("policy"))
            for turn in range(arguments.rounds):
                for name, what, server in running[turn % len(running):] + running[:turn % len(running)]:
                    run.progress(f"round {turn + 1} of {arguments.rounds}: {name}, {what}")
                    samples.setdefault((name, what), []).append(run.measure(server, pods(turn * 1_000_000), arguments.seconds))
        finally:
            run.progress("")
            for _, _, server in running:
                server.stop()
    print(f"creation of a pod of 6 KB, medians of {arguments.rounds} rounds of {arguments.seconds:g} s with 8 connections\n\n| server | plugins | CPU | p99 | ratio |\n|---|---|---|---|---|")
    for (name, what), found in samples.items():
        cpu, base = (statistics.median(one["cpu_us"] for one in samples[name, key]) for key in (what, "only NamespaceLifecycle"))
        print(f"| {name} | {what} | {cpu:.0f} µs | {statistics.median(one['p99_us'] for one in found):.0f} µs | {cpu / base:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
