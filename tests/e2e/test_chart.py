"""deploy/k8s: the flags and objects of the Helm chart, and its installation into our own server with helm 3 and helm 4."""
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest
import yaml

import mesh
from pki import Pki
from test_deploy import OURS, Composed, flags_of, names_of

CHART = mesh.ROOT / "deploy/k8s"
HELMS = [path for path in os.environ.get("APIMESH_HELMS", shutil.which("helm") or "").split(":") if path]
ALL_ON = ("networkPolicies.enabled=true", "serviceMonitor.enabled=true", "podDisruptionBudgets.enabled=true", "topologySpread.enabled=true")

needs_helm = pytest.mark.skipif(not HELMS, reason="needs helm, which ./apimesh test builds from the Go registry; set APIMESH_HELMS to the paths of other binaries")


def settings(*values):
    return [word for value in values for word in ("--set", value)]


def rendered(*values):
    """Returns the objects of the chart without its tests."""
    subprocess.run([HELMS[0], "lint", str(CHART), *settings(*values)], check=True, capture_output=True, timeout=60)
    text = subprocess.run([HELMS[0], "template", "apimesh", str(CHART), "--namespace", "default", "--skip-tests", *settings(*values)], check=True,
                          capture_output=True, text=True, timeout=60).stdout
    return [item for item in yaml.safe_load_all(text) if item]


def named(objects, kind):
    return {item["metadata"]["name"]: item for item in objects if item["kind"] == kind}


def pod_specs(objects):
    return {item["metadata"]["name"]: item["spec"]["template"]["spec"] for item in objects if item["kind"] in ("Deployment", "StatefulSet")}


@pytest.mark.skipif(bool(HELMS), reason="with helm, the next test checks each flag with its binary")
def test_flags_exist_in_one_of_the_binaries():
    known = set().union(*(flags_of(name) for name in OURS))
    for template in CHART.glob("templates/*"):
        if template.is_file():
            assert set(re.findall(r"(?<=[\s\"\[])--[a-z][a-z0-9-]*", template.read_text())) <= known, template


@needs_helm
def test_flags_exist():
    specs = pod_specs(rendered())
    containers = [container for spec in specs.values() for container in spec["containers"] if container["command"][0] in OURS]
    assert {container["command"][0] for container in containers} == set(OURS)
    for container in containers:
        assert names_of(container["args"]) <= flags_of(container["command"][0])


@needs_helm
def test_values():
    specs = pod_specs(rendered("processResources.core-api.limits.memory=4Gi", "etcdServers=https://etcd:2379"))
    assert "store" not in specs
    assert specs["core-api"]["containers"][0]["resources"] == {"limits": {"memory": "4Gi"}}
    assert specs["aggregator"]["containers"][0]["resources"]["limits"] == {"memory": "1Gi"}
    for name, spec in specs.items():
        assert spec["topologySpreadConstraints"][0]["labelSelector"] == {"matchLabels": {"app": name}}
    assert set(named(rendered(), "PodDisruptionBudget")) == set(specs)
    off = rendered("topologySpread.enabled=false", "podDisruptionBudgets.enabled=false")
    assert not named(off, "PodDisruptionBudget") and not named(off, "NetworkPolicy") and not named(off, "ServiceMonitor")
    assert not any("topologySpreadConstraints" in spec for spec in pod_specs(off).values())


@needs_helm
def test_shards():
    """A shard has the arguments of its common server and those of a shard, and the aggregator finds it in a ConfigMap, so that it need not restart."""
    chosen = [f"shards[{number}].{key}={value}" for number, shard in enumerate((("core-api-apps", "core-api", "apps", 0), ("extensions-api-example", "extensions-api", "example.com", 2)))
              for key, value in zip(("name", "process", "groups[0]", "replicas"), shard)]
    objects, without = rendered(*chosen, "networkPolicies.enabled=true"), rendered("networkPolicies.enabled=true")
    specs, deployments = pod_specs(objects), named(objects, "Deployment")
    assert [deployments[name]["spec"]["replicas"] for name in ("core-api-apps", "extensions-api-example")] == [0, 2]
    for name, process, group in (("core-api-apps", "core-api", "apps"), ("extensions-api-example", "extensions-api", "example.com")):
        container = specs[name]["containers"][0]
        assert container["command"] == [process]
        assert container["args"] == specs[process]["containers"][0]["args"] + ["--shard", f"--api-groups={group}"]
    assert yaml.safe_load(named(objects, "ConfigMap")["apimesh-shards"]["data"]["shards.json"]) == {"shards": [
        {"name": "apps", "process": "core-api", "address": "core-api-apps:7443"}, {"name": "example.com", "process": "extensions-api", "address": "extensions-api-example:7443"}]}
    assert specs["aggregator"] == pod_specs(without)["aggregator"]
    assert yaml.safe_load(named(without, "ConfigMap")["apimesh-shards"]["data"]["shards.json"]) == {"shards": []}
    assert {"core-api-apps", "extensions-api-example"} <= set(named(objects, "NetworkPolicy"))


@needs_helm
def test_network_policies_admit_the_callers_of_the_mesh():
    """The policies follow the table in lib/mesh/callers.cc, and every process that a flag names can be reached."""
    objects = rendered("networkPolicies.enabled=true")
    admitted = {name: {app for rule in policy["spec"]["ingress"] for source in rule.get("from", ()) for app in source["podSelector"]["matchExpressions"][0]["values"]}
                for name, policy in named(objects, "NetworkPolicy").items()}
    assert set(admitted) == set(pod_specs(objects))
    constant = {"kCoreApi": "core-api", "kExtensionsApi": "extensions-api", "kAuthnAuthz": "authn-authz", "kAggregator": "aggregator", "kEnvoy": "envoy"}
    rows = re.findall(r"^ +\{(k\w+), (k\w+), \{", (mesh.ROOT / "lib/mesh/callers.cc").read_text(), re.M)
    assert len(rows) >= 9
    for server in ("core-api", "extensions-api", "authn-authz"):
        assert admitted[server] == {constant[caller] for callee, caller in rows if constant[callee] == server}
    assert admitted["aggregator"] == {"envoy"} and admitted["envoy"] == set()
    for caller, spec in pod_specs(objects).items():
        arguments = " ".join(spec["containers"][0].get("args", ()))
        for server in re.findall(r"(?:=|//)(store|core-api|extensions-api|authn-authz)(?::\d+)", arguments):
            assert caller in admitted[server] or caller == server, f"{caller} calls {server}"


def pki_files(spec):
    """Returns {file in /pki: (Secret, key)} of a pod."""
    volume, = (volume for volume in spec["volumes"] if volume["name"] == "pki")
    return {item["path"]: (source["secret"]["name"], item["key"]) for source in volume["projected"]["sources"] for item in source["secret"]["items"]}


@needs_helm
@pytest.mark.parametrize("values", [(), ("etcdServers=https://etcd:2379", "etcdSecret=own-etcd"), ("serviceMonitor.enabled=true", "coreApi.shards[0].name=core-api", "coreApi.shards[1].name=core-api-events",
                                                  "shards[0].name=extensions-api-example", "shards[0].process=extensions-api", "shards[0].groups={example.com}")])
def test_cert_manager_makes_every_file_that_a_process_uses(values):
    objects = rendered("certManager.enabled=true", *values)
    certificates, issuers = named(objects, "Certificate"), named(objects, "Issuer")
    secrets = {certificate["spec"]["secretName"] for certificate in certificates.values()} | ({"own-etcd"} if "etcdSecret=own-etcd" in values else set())
    authorities = {issuer["spec"]["ca"]["secretName"] for issuer in issuers.values() if "ca" in issuer["spec"]}
    assert authorities <= secrets
    for certificate in certificates.values():
        assert certificate["spec"]["issuerRef"]["name"] in issuers
    mounted = set()
    for name, spec in pod_specs(objects).items():
        files = pki_files(spec)
        used = set(re.findall(r"/pki/([\w.-]+)", " ".join(spec["containers"][0].get("args", ()))))
        if name == "envoy":
            used = {"ca.crt", "apiserver.crt", "apiserver.key", "mesh-ca.crt", "mesh.crt", "mesh.key"}
        assert used <= set(files), name
        assert {secret for secret, _ in files.values()} <= secrets, name
        assert not [secret for secret, key in files.values() if secret in authorities and key == "tls.key"], f"{name} has the key of an authority"
        assert ("sa.key" in files) == name.startswith("core-api")
        mounted |= {secret for secret, _ in files.values()}
        if "mesh.crt" in files:
            binary = spec["containers"][0]["command"][0]
            assert certificates[files["mesh.crt"][0]]["spec"]["uris"] == [f"spiffe://apimesh/{binary}"]
            assert name == "envoy" or name in certificates[files["mesh.crt"][0]]["spec"]["dnsNames"]
    assert secrets - mounted <= authorities | {"apimesh-admin"}, "a certificate that nobody uses"
    assert "apimesh-pki-" not in str(objects)


@needs_helm
def test_own_etcd_secret_without_cert_manager():
    spec = pod_specs(rendered("etcdServers=https://etcd:2379", "etcdSecret=own-etcd"))
    volume, = (volume for volume in spec["core-api"]["volumes"] if volume["name"] == "pki")
    first, second = volume["projected"]["sources"]
    assert first == {"secret": {"name": "apimesh-pki-core-api"}} and second["secret"]["name"] == "own-etcd"
    assert {item["path"] for item in second["secret"]["items"]} == {"etcd-ca.crt", "etcd.crt", "etcd.key"}
    assert spec["authn-authz"]["volumes"][0]["secret"]["secretName"] == "apimesh-pki-authn-authz"


class Charted(Composed):
    """The processes of the chart, with certificates that are issued as cert-manager issues them."""

    def __init__(self, folder):
        self.objects = rendered("certManager.enabled=true")
        self.specs = pod_specs(self.objects)
        super().__init__(folder, {name: [*spec["containers"][0]["command"], *spec["containers"][0].get("args", ())] for name, spec in self.specs.items()})

    def shards(self):
        return named(self.objects, "ConfigMap")["apimesh-shards"]["data"]["shards.json"]

    def make_certificates(self):
        secrets, authorities = {}, {}
        certificates = {name: certificate["spec"] for name, certificate in named(self.objects, "Certificate").items()}
        for name, spec in sorted(certificates.items(), key=lambda item: not item[1].get("isCA")):
            issuer = spec["issuerRef"]["name"]
            if issuer == "apimesh-self-signed":
                authority = Pki(self.folder / "issued", name)
                authorities[name] = authority
                secrets[spec["secretName"]] = {"tls.crt": authority.ca, "tls.key": authority.key, "ca.crt": authority.ca}
                continue
            usage = ",".join({"client auth": "clientAuth", "server auth": "serverAuth"}[usage] for usage in spec["usages"])
            san = ",".join([*(f"DNS:{value}" for value in spec.get("dnsNames", ())), *(f"IP:{value}" for value in spec.get("ipAddresses", ())), *(f"URI:{value}" for value in spec.get("uris", ()))])
            organizations = "".join(f"/O={value}" for value in spec.get("subject", {}).get("organizations", ()))
            certificate, key = authorities[issuer].issue(name, f"{organizations}/CN={spec['commonName']}", usage, san=san or f"DNS:{spec['commonName']}")
            secrets[spec["secretName"]] = {"tls.crt": certificate, "tls.key": key, "ca.crt": authorities[issuer].ca}
        for name, spec in self.specs.items():
            folder = self.folder / "pki" / name
            folder.mkdir(parents=True)
            for file, (secret, key) in pki_files(spec).items():
                shutil.copyfile(secrets[secret][key], folder / file)
                (folder / file).chmod(0o600)
        for file in ("crt", "key"):
            shutil.copyfile(secrets["apimesh-admin"][f"tls.{file}"], self.folder / f"pki/admin.{file}")
        start = self.specs["envoy"]["initContainers"][0]
        arguments = [f"--dir={self.folder}/pki/envoy" if argument == "--dir=/envoy" else self.local("envoy", argument, self.ports) for argument in start["args"]]
        subprocess.run([str(mesh.BIN / start["command"][0]), *arguments], check=True, capture_output=True)


@needs_helm
def test_the_certificates_of_cert_manager_make_a_mesh(tmp_path):
    charted = Charted(tmp_path)
    try:
        mesh.wait_until(lambda: charted.client.answers("/readyz"), 40, "the mesh is ready through Envoy")
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        assert charted.client("POST", accounts, {"metadata": {"name": "me"}}).code == 201
        token = charted.client("POST", f"{accounts}/me/token", {"spec": {}}).json()["status"]["token"]
        answer = mesh.Client(charted.client.url, token=token).get("/api/v1/nodes")
        assert answer.code == 403 and "system:serviceaccount:default:me" in answer.body, "the key of tokens is not the one that signs them"
        assert charted.run_readiness_test("apimesh.default.svc") == 0
    finally:
        charted.stop()


def let_pods_succeed(server, stop):
    """There is no kubelet: sets the phase of every pod to Succeeded."""
    pods = "/api/v1/namespaces/apimesh/pods"
    while not stop.wait(0.1):
        for pod in server.client.get(pods).json()["items"]:
            if pod.get("status", {}).get("phase") != "Succeeded":
                server.client("PATCH", f"{pods}/{pod['metadata']['name']}/status", {"status": {"phase": "Succeeded"}},
                              headers={"Content-Type": "application/merge-patch+json"})


@pytest.mark.parametrize("helm", HELMS or [pytest.param(None, marks=needs_helm)], ids=lambda path: pathlib.Path(path).name if path else "helm")
def test_install_upgrade_test_uninstall(server, helm, tmp_path):
    monitors = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "servicemonitors.monitoring.coreos.com"},
                "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced", "names": {"plural": "servicemonitors", "kind": "ServiceMonitor"},
                         "versions": [{"name": "v1", "served": True, "storage": True,
                                       "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
    assert server.client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", monitors).code in (201, 409)
    mesh.wait_until(lambda: server.client.answers("/apis/monitoring.coreos.com/v1"), 10, "ServiceMonitors are served")

    def run(*arguments):
        environment = dict(os.environ, HELM_CACHE_HOME=str(tmp_path), HELM_CONFIG_HOME=str(tmp_path), HELM_DATA_HOME=str(tmp_path))
        answer = subprocess.run([helm, f"--kubeconfig={server.kubeconfig()}", "--namespace=apimesh", *arguments], capture_output=True, text=True, timeout=120,
                                env=environment)
        assert answer.returncode == 0, f"helm {' '.join(arguments)}: {answer.stdout}{answer.stderr}"
        return answer.stdout

    def exists(kind, name):
        return server.kubectl("-n", "apimesh", "get", kind, name, check=False).returncode == 0

    run("install", "apimesh", str(CHART), "--create-namespace", *settings(*ALL_ON))
    for kind in ("deployments", "statefulsets", "services", "poddisruptionbudgets", "networkpolicies", "servicemonitors"):
        expected = {name for item in rendered(*ALL_ON) for name in [item["metadata"]["name"]] if item["kind"].lower() + "s" == kind or (kind, item["kind"]) == ("networkpolicies", "NetworkPolicy")}
        found = server.kubectl("-n", "apimesh", "get", kind, "-o", "name").stdout.split()
        assert {name.split("/")[1] for name in found} == expected, kind

    run("upgrade", "apimesh", str(CHART), "--reuse-values", *settings("replicas.aggregator=3", "networkPolicies.enabled=false"))
    deployment = server.client.get("/apis/apps/v1/namespaces/apimesh/deployments/aggregator").json()
    assert deployment["spec"]["replicas"] == 3 and not exists("networkpolicy", "aggregator")
    stop = threading.Event()
    kubelet = threading.Thread(target=let_pods_succeed, args=(server, stop))
    kubelet.start()
    try:
        assert "Succeeded" in run("test", "apimesh", "--timeout", "60s")
    finally:
        stop.set()
        kubelet.join()
    run("rollback", "apimesh", "1")
    assert exists("networkpolicy", "aggregator")
    run("uninstall", "apimesh")
    assert not exists("deployment", "aggregator") and not exists("networkpolicy", "aggregator")
