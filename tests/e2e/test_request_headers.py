"""Front proxies that send the user in request headers with configured names."""
import pytest

import mesh
from pki import Pki


@pytest.fixture
def proxied(tmp_path):
    authority = Pki(tmp_path, "proxy")
    authority.issue("proxy", "/CN=front")
    Pki(tmp_path, "other").issue("stranger", "/CN=front")
    with mesh.running_server(tmp_path, f"--requestheader-client-ca-file={authority.ca}", "--requestheader-allowed-names=front",
                             "--requestheader-username-headers=X-Gate-User", "--requestheader-group-headers=X-Gate-Group",
                             "--requestheader-extra-headers-prefix=X-Gate-Extra-") as server:
        yield server


def who(server, certificate, headers):
    pair = (f"{server.folder}/{certificate}.crt", f"{server.folder}/{certificate}.key") if certificate else None
    client = mesh.Client(server.url, token=None, cert=pair)
    return client("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, headers=headers)


GATE = {"X-Gate-User": "jane", "X-Gate-Group": "system:masters", "X-Gate-Extra-Scope": "all"}


def test_own_header_names_are_honoured(proxied):
    answer = who(proxied, "proxy", GATE)
    assert answer.code == 201, answer.body
    user = answer.json()["status"]["userInfo"]
    assert user["username"] == "jane" and "system:masters" in user["groups"] and user["extra"] == {"scope": ["all"]}


@pytest.mark.parametrize("certificate", [None, "stranger"])
def test_nobody_else_is_believed(proxied, certificate):
    answer = who(proxied, certificate, GATE)
    assert answer.code in (401, 403) or answer.json()["status"]["userInfo"]["username"] == "system:anonymous", answer.body
    assert "jane" not in answer.body


def test_other_names_mean_nothing(proxied):
    answer = who(proxied, "proxy", {"X-Remote-User": "jane", "X-Remote-Group": "system:masters"})
    assert "jane" not in answer.body
