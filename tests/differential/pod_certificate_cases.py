"""Requests for PodCertificateRequests (test_switched_on.py): keys of every type, bad requests, and what a signer may write into the status."""
import base64
import subprocess

API = "/apis/certificates.k8s.io/v1beta1/namespaces/$NS/podcertificaterequests"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
UID = "11111111-2222-3333-4444-555555555555"
KEYS = {"p256": ("EC", "ec_paramgen_curve:P-256"), "p384": ("EC", "ec_paramgen_curve:P-384"), "p521": ("EC", "ec_paramgen_curve:P-521"), "p224": ("EC", "ec_paramgen_curve:P-224"),
        "ed25519": ("ED25519", None), "rsa3072": ("RSA", "rsa_keygen_bits:3072"), "rsa2048": ("RSA", "rsa_keygen_bits:2048")}
SUPPORTED = ("p256", "p384", "p521", "ed25519", "rsa3072")


def openssl(*arguments, stdin=None):
    return subprocess.run(["openssl", *arguments], input=stdin, check=True, capture_output=True).stdout


class Key:
    """A key with what a client sends of it."""

    def __init__(self, folder, name):
        algorithm, option = KEYS[name]
        self.file = str(folder / f"{name}.key")
        openssl("genpkey", "-algorithm", algorithm, *(["-pkeyopt", option] if option else []), "-out", self.file)
        self.public = self.encoded(openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER"))
        self.request = self.encoded(openssl("req", "-new", "-key", self.file, "-subj", "/", "-outform", "DER"))
        text = folder / "uid"
        text.write_text(UID)
        options = {"RSA": ["-rawin", "-digest", "sha256", "-pkeyopt", "rsa_padding_mode:pss"], "EC": ["-rawin", "-digest", "sha256"], "ED25519": ["-rawin"]}[algorithm]
        self.proof = self.encoded(openssl("pkeyutl", "-sign", "-inkey", self.file, "-in", str(text), *options))

    @staticmethod
    def encoded(data):
        return base64.b64encode(data).decode()

    def certificate(self, days="1", *options):
        """Returns a self-signed certificate in PEM and its times."""
        pem = openssl("req", "-x509", "-key", self.file, "-subj", "/CN=pod", "-days", days, *options)
        dates = openssl("x509", "-noout", "-startdate", "-enddate", "-dateopt", "iso_8601", stdin=pem).decode().split("\n")
        return pem.decode(), *(line.split("=")[1].replace(" ", "T") for line in dates[:2])


def spec(key, **changes):
    full = {"signerName": "example.com/signer", "podName": "p", "podUID": UID, "serviceAccountName": "s", "serviceAccountUID": "u", "nodeName": "n", "nodeUID": "v",
            "maxExpirationSeconds": 86400, "stubPKCS10Request": key.request, **changes}
    return {name: value for name, value in full.items() if value is not None}


def post(name, body, **options):
    return {"do": f"POST {API}", "body": {"metadata": {"name": name}, "spec": body}, **options}


def status(name, body, **options):
    return {"do": f"PATCH {API}/{name}/status", "type": "merge", "body": {"status": body}, **options}


def condition(kind, value="True", **more):
    return {"type": kind, "status": value, "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z", **more}


def creations(keys):
    key = keys["p256"]
    old = {"stubPKCS10Request": None, "pkixPublicKey": key.public, "proofOfPossession": key.proof}
    large = base64.b64encode(b"x" * 10241).decode()
    bad = [{"signerName": None}, {"signerName": "example"}, {"signerName": "a/b"}, {"podName": None}, {"podName": "P_"}, {"podUID": None}, {"podUID": "x" * 129},
           {"serviceAccountName": "A"}, {"serviceAccountUID": ""}, {"serviceAccountUID": "x" * 129}, {"nodeName": "a_b"}, {"nodeUID": ""}, {"nodeUID": "x" * 129},
           {"maxExpirationSeconds": 3599}, {"maxExpirationSeconds": 91 * 86400 + 1}, {"signerName": "kubernetes.io/a", "maxExpirationSeconds": 86401},
           {"signerName": "x.kubernetes.io/a", "maxExpirationSeconds": 86401}, {"stubPKCS10Request": None}, {**old, "proofOfPossession": None}, {**old, "stubPKCS10Request": key.request},
           {**old, "pkixPublicKey": None}, {"stubPKCS10Request": "eHg="}, {"stubPKCS10Request": large}, {**old, "pkixPublicKey": "eHg="}, {**old, "pkixPublicKey": large},
           {**old, "proofOfPossession": large}, {**old, "proofOfPossession": keys["p384"].proof}, {**old, "podUID": "other"}, {"stubPKCS10Request": key.request[:-4] + "AAAA"},
           {"unverifiedUserAnnotations": {"a": "b"}}, {"unverifiedUserAnnotations": {"example.com/A": "b"}}, {"unverifiedUserAnnotations": {"example.com/a b": "c"}},
           {"unverifiedUserAnnotations": {"example.com/a": "x" * 262144}}, *({"stubPKCS10Request": keys[name].request} for name in ("p224", "rsa2048")),
           *({**old, "pkixPublicKey": keys[name].public, "proofOfPossession": keys[name].proof} for name in ("p224", "rsa2048")), {"podName": None, "nodeUID": None, "signerName": ""}]
    steps = [post(name, spec(keys[name])) for name in SUPPORTED]
    steps += [post(f"{name}-old", spec(keys[name], stubPKCS10Request=None, pkixPublicKey=keys[name].public, proofOfPossession=keys[name].proof)) for name in SUPPORTED]
    steps += [post("d", spec(key, maxExpirationSeconds=None, unverifiedUserAnnotations={"example.com/a": "b", "example.com/c": "d"})),
              {"do": f"POST {API}", "body": {"metadata": {"name": "e"}, "spec": spec(key), "status": {"certificateChain": "x"}}}]
    steps += [{"do": f"GET {API}/d", "accept": accept} for accept in ("yaml", "protobuf", "table")]
    steps += [{"do": f"GET {API}?fieldSelector={selector}"} for selector in ("spec.nodeName=other", "spec.podName=other", "spec.signerName=a/b", "spec.nodeUID=v")]
    steps += [{"do": f"PATCH {API}/d", "type": "merge", "body": body} for body in (
        {"metadata": {"labels": {"a": "b"}}}, {"status": {"certificateChain": "x"}})]
    steps += [{"do": f"PATCH {API}/d", "type": "merge", "body": {"spec": {"podName": "q"}}, "only": ["status", "body.details.causes.0.field", "body.reason"]}]
    return steps + [post("x", spec(key, **changes)) for changes in bad]


def statuses(keys):
    key = keys["p256"]
    pem, begin, end = key.certificate()
    other = keys["p384"].certificate()[0]
    long, long_begin, long_end = key.certificate("3")
    named = key.certificate("1", "-addext", "subjectAltName=DNS:.a..b.,email:x")[0]
    refresh = f"{end[:10]}T00:00:00Z"
    full = {"conditions": [condition("Issued")], "certificateChain": pem, "notBefore": begin, "notAfter": end, "beginRefreshAt": refresh}
    bad = [{"conditions": [condition("Ready")]}, {"conditions": [condition("Denied", "False")]}, {"conditions": [condition("Denied"), condition("Failed")]},
           {"conditions": [condition("Issued", reason="")]}, {"conditions": [{"type": "Denied", "status": "True"}]}, {"conditions": [condition("Denied")], "certificateChain": pem},
           {"conditions": [condition("Failed")], "notBefore": begin}, {"certificateChain": pem}, {"notBefore": begin},
           {"conditions": [condition("Issued")]}, {**full, "certificateChain": "x"}, {**full, "certificateChain": pem.replace("CERTIFICATE", "KEY")},
           {**full, "certificateChain": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, {**full, "certificateChain": other}, {**full, "certificateChain": named},
           {**full, "certificateChain": "x" * 102401}, *({**full, field: None} for field in ("notBefore", "notAfter", "beginRefreshAt")),
           {**full, "notBefore": None, "notAfter": None}, {**full, "notBefore": "2020-01-01T00:00:00Z"}, {**full, "notAfter": "2020-01-01T00:00:00Z"},
           {**full, "beginRefreshAt": begin}, {**full, "beginRefreshAt": end}, {**full, "certificateChain": long, "notBefore": long_begin, "notAfter": long_end},
           {**full, "certificateChain": pem + other.replace("CERTIFICATE", "KEY")}, {**full, "certificateChain": pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}]
    role = {"name": "signs-$NS"}
    rules = [{"apiGroups": ["certificates.k8s.io"], "resources": ["podcertificaterequests", "podcertificaterequests/status"], "verbs": ["*"]},
             {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "resourceNames": ["example.com/*"], "verbs": ["sign"]}]
    steps = [{"do": f"POST {RBAC}/clusterroles", "setup": True, "body": {"metadata": role, "rules": rules}},
             {"do": f"POST {RBAC}/clusterrolebindings", "setup": True, "body": {"metadata": role, "subjects": [{"kind": "User", "name": "signer-$NS", "apiGroup": "rbac.authorization.k8s.io"}],
                                                                                "roleRef": {"kind": "ClusterRole", **role, "apiGroup": "rbac.authorization.k8s.io"}}},
             {"do": f"GET {API}", "setup": True, "user": "signer-$NS", "until": 200},
             *(post(name, spec(key)) for name in ("a", "b", "c")), post("k", spec(key, signerName="kubernetes.io/a"))]
    steps += [status("a", body) for body in bad]
    steps += [status("a", body, user="signer-$NS") for body in ({}, {"conditions": [condition("Ready")]})]
    steps += [status("k", {"conditions": [condition("Denied")]}, user="signer-$NS"), status("k", {"conditions": [condition("Denied")]}),
              status("b", {"conditions": [condition("Failed")]}, user="signer-$NS"), status("b", {"conditions": [condition("Denied")]}), status("b", {"conditions": None}),
              status("a", full, user="signer-$NS"), {"do": f"GET {API}/a", "accept": "protobuf"}, {"do": f"GET {API}/a", "accept": "table"}, status("a", {"certificateChain": other}),
              {"do": f"PATCH {API}/c/status?fieldManager=m", "type": "apply", "body": {"apiVersion": "certificates.k8s.io/v1beta1", "kind": "PodCertificateRequest", "metadata": {"name": "c", "labels": {"l": "m"}},
                                                                                      "spec": {"podName": "q"}, "status": {"conditions": [condition("Denied")]}}},
              {"do": f"DELETE {API}/a"}]
    return steps


def projections():
    """Pods with volumes that have certificates and trust bundles."""
    good = {"signerName": "example.com/signer", "keyType": "ED25519", "credentialBundlePath": "a"}
    sources = [good, {**good, "maxExpirationSeconds": 3600, "userAnnotations": {"example.com/a": "b"}, "keyPath": "k", "certificateChainPath": "c"}, {**good, "signerName": "x"},
               {**good, "keyType": "RSA"}, {**good, "maxExpirationSeconds": 3599}, {**good, "maxExpirationSeconds": 91 * 86400 + 1}, {**good, "signerName": "kubernetes.io/a", "maxExpirationSeconds": 86401},
               {**good, "credentialBundlePath": "/a"}, {**good, "credentialBundlePath": "../a"}, {**good, "keyPath": "a"}, {**good, "certificateChainPath": "..a"}, {"signerName": "a.b/c", "keyType": "ED25519"},
               {**good, "userAnnotations": {"a": "b"}}, {}]
    bundles = [{"name": "b", "path": "f"}, {"name": "example.com:a:b", "path": "f"}, {"signerName": "example.com/a", "labelSelector": {"matchLabels": {"a": "b"}}, "path": "f"}, {"path": "f"}, {"name": "", "path": "f"},
               {"name": "a:B", "path": "f"}, {"signerName": "", "path": "f"}, {"signerName": "a", "path": "f"}, {"name": "b"}, {"name": "b", "path": "/f"},
               {"signerName": "example.com/a", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]}, "path": "f"}]
    volumes = [[{"podCertificate": one}] for one in sources] + [[{"clusterTrustBundle": one}] for one in bundles]
    volumes += [[{"podCertificate": good, "clusterTrustBundle": {"name": "b", "path": "f"}}], [{"podCertificate": good}, {"podCertificate": good}],
                [{"clusterTrustBundle": {"name": "b", "path": "a"}}, {"podCertificate": good}], [{"clusterTrustBundle": {"name": "b"}}, {"clusterTrustBundle": {"name": "c"}}]]
    return [{"do": "POST /api/v1/namespaces/$NS/pods?dryRun=All", "body": {"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "projected": {"sources": one}}]}}} for one in volumes]


def load(folder):
    keys = {name: Key(folder, name) for name in KEYS}
    return {"pod-certificate-requests": creations(keys), "pod-certificate-statuses": statuses(keys), "certificate-volumes": projections()}
