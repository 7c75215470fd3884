"""The web console: its pages in a real Chromium, as a user works with them."""
import base64
import concurrent.futures
import http.client
import json
import os
import re
import signal
import ssl
import subprocess

import pytest

import console
import mesh
import pki
import tls_server

pytestmark = [
    pytest.mark.skipif(not (console.PAGES / "index.html").exists(), reason="the pages of the console are not built, which requires npm (tools/console_pages)"),
    pytest.mark.skipif(not console.CHROMIUM, reason="there is no Chromium (tools/deps/debian-test.txt)"),
]
PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A server whose processes the tests kill, with some objects."""
    folder = tmp_path_factory.mktemp("console-cluster")
    store = mesh.Store(folder / "store")
    server = mesh.KubeApiserver(folder, store.url).start()
    for number in range(24):
        app = "shop" if number % 3 == 0 else "web"
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{app}-{number:02}", "labels": {"app": app}},
               "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]}}
        assert server.client("POST", PODS, pod).code == 201
    yield server
    server.stop()
    store.stop()


@pytest.fixture(scope="module")
def app(cluster, tmp_path_factory):
    app = console.Console(tmp_path_factory.mktemp("console"), cluster.kubeconfig())
    yield app
    app.stop()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with console.browser(tmp_path_factory.mktemp("chromium")) as context:
        yield context


@pytest.fixture
def tab(chromium, app):
    tab = console.Tab(chromium, app)
    yield tab
    assert tab.problems == []
    assert tab.hosts == {app.host}  # no request goes to anyone else
    tab.page.close()


@pytest.fixture
def refusing_webhook(cluster, tmp_path_factory):
    """A webhook that refuses ConfigMaps with the label forbidden, and says why."""
    def refuse(request, body):
        answer = {"uid": json.loads(body)["request"]["uid"], "allowed": False, "status": {"message": "the label team is missing"}}
        request.send(200, json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": answer}))

    authority = pki.Pki(tmp_path_factory.mktemp("webhook"), "webhook")
    server = tls_server.TlsServer(authority.issue_server("hook", san="IP:127.0.0.1"), authority.ca, refuse)
    bundle = base64.b64encode(authority.ca.read_bytes()).decode()
    hook = {"name": "labels.example.com", "clientConfig": {"url": f"https://127.0.0.1:{server.port}/check", "caBundle": bundle}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "objectSelector": {"matchLabels": {"forbidden": "yes"}},
            "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}
    configuration = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "labels"}, "webhooks": [hook]}
    assert cluster.client("POST", HOOKS, configuration).code == 201
    yield server
    cluster.client("DELETE", f"{HOOKS}/labels")


def test_up_runs_the_console(tmp_path):
    """`up --console` prints a URL, `apimesh console` prints another one, and a console that is killed comes back."""
    port = mesh.free_port()

    def run(*arguments):
        return subprocess.run([mesh.BIN / "apimesh", *arguments, "--dir", tmp_path / "mesh"], capture_output=True, text=True, timeout=60 * mesh.SLOWDOWN)

    def secret_in(text):
        return re.search(rf"http://127\.0\.0\.1:{port}/#login=([0-9a-f]{{64}})\n", text)[1]

    up = run("up", "--detach", "--front-proxy=none", "--console", f"--console-port={port}", f"--port={mesh.free_port()}")
    try:
        assert up.returncode == 0, up.stderr
        app = console.Client(port)
        first, second = secret_in(up.stdout), secret_in(run("console").stdout)
        pid = next(one["pid"] for one in json.loads(run("status", "--json").stdout)["processes"] if one["name"] == "console")
        session = app.session({"secret": first})
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        user = app.send("POST", "/cluster/apis/authentication.k8s.io/v1/selfsubjectreviews", review, session).json()["status"]["userInfo"]
        assert "system:masters" in user["groups"]
        assert app.send("POST", "/console/login", {"secret": first}).code == 401
        os.kill(pid, signal.SIGKILL)
        mesh.wait_until(app.listens, 20, "the console is restarted")
        assert app.send("GET", "/cluster/version", headers=session).code == 401  # sessions are only in memory
        assert app.send("GET", "/cluster/version", headers=app.session({"secret": second})).code == 200
        assert "console-logins" in "".join(str(path) for path in (tmp_path / "mesh").iterdir())
    finally:
        assert run("down").returncode == 0


def test_console_in_the_foreground(cluster, tmp_path):
    """With --kubeconfig, the console needs no mesh of `up`. A port that is in use is reported with its owner."""
    port = mesh.free_port()
    arguments = [mesh.BIN / "apimesh", "console", "--dir", tmp_path, f"--kubeconfig={cluster.kubeconfig()}", f"--port={port}"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    try:
        secret = next(match[1] for line in process.stdout if (match := re.search("#login=([0-9a-f]+)", line)))
        app = console.Client(port)
        mesh.wait_until(app.listens, 20, "the console listens")
        assert app.send("GET", "/cluster/version", headers=app.session({"secret": secret})).code == 200
        again = subprocess.run(arguments, capture_output=True, text=True, timeout=30)
        assert again.returncode == 1 and f"port {port} is already used by console" in again.stderr
    finally:
        process.terminate()
        assert process.wait(20) == 0


def count(page):
    return int(page.locator("[data-count]").get_attribute("data-count"))


def test_find_a_pod_and_change_a_label(cluster, tab):
    page = tab.log_in().page
    page.get_by_role("link", name="Objects").click()
    page.get_by_role("link", name="Pod pods (po)").first.click()
    page.locator("[data-count='24']").wait_for()
    tab.picture("objects")
    page.keyboard.press("/")
    page.keyboard.type("app=shop 03")
    page.locator("[data-count='1']").wait_for()
    page.get_by_role("link", name="shop-03").click()
    page.get_by_role("link", name="Edit").click()
    editor = page.get_by_label("YAML of the object")
    editor.fill(editor.input_value().replace("app: shop", "app: bakery"))
    page.get_by_role("button", name="Review changes").click()
    page.locator(".d-added", has_text="app: bakery").wait_for()
    assert page.locator(".d-removed").all_inner_texts() == ["-     app: shop\n"]
    assert cluster.client.get(f"{PODS}/shop-03").json()["metadata"]["labels"] == {"app": "shop"}  # a dry run
    tab.picture("diff")
    page.get_by_role("button", name="Save").click()
    page.locator(".summary code", has_text="app=bakery").wait_for()
    pod = cluster.client.get(f"{PODS}/shop-03").json()["metadata"]
    assert pod["labels"] == {"app": "bakery"}
    page.get_by_role("link", name="Managed fields").click()
    page.get_by_role("heading", name="apimesh-console Update").wait_for()


def test_edits_that_the_server_refuses_say_why(tab):
    page = tab.log_in().page
    tab.open("#/object/-/pods/default/web-01?tab=edit")
    editor = page.get_by_label("YAML of the object")
    text = editor.input_value()
    editor.fill(text.replace("image: nginx:1.27", "imagge: nginx:1.27"))
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("alert").filter(has_text='unknown field "spec.containers[0].imagge"').wait_for()
    editor.fill("a: [")
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("alert").filter(has_text="line 1").wait_for()
    editor.fill(text)
    page.get_by_role("button", name="Review changes").click()
    page.get_by_text("The server would store the same object.").wait_for()


def test_lists_are_live(cluster, tab):
    page = tab.log_in().page
    tab.open("#/objects/-/configmaps?ns=default")
    page.get_by_text("live", exact=True).wait_for()
    for name in ("one", "two"):
        assert cluster.client("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).code == 201
    page.get_by_role("link", name="two").wait_for()
    before = count(page)
    cluster.client("DELETE", f"{MAPS}/one")
    page.locator(f"[data-count='{before - 1}']").wait_for()
    page.get_by_role("link", name="two").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete two").click()
    page.locator(f"[data-count='{before - 2}']").wait_for()


def test_see_why_a_webhook_refuses(cluster, tab, refusing_webhook):
    cluster.client("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "guarded"}})
    page = tab.log_in().page
    tab.open("#/object/-/configmaps/default/guarded?tab=edit")
    editor = page.get_by_label("YAML of the object")
    editor.fill(editor.input_value().replace("  name: guarded\n", "  name: guarded\n  labels:\n    forbidden: \"yes\"\n"))

    def refused():
        page.get_by_role("button", name="Review changes").click()
        page.wait_for_timeout(300)
        return page.get_by_role("alert").filter(has_text='admission webhook "labels.example.com" denied the request: the label team is missing').count()
    mesh.wait_until(refused, 20, "the webhook takes effect and its message is shown")
    tab.picture("refused")
    refusing_webhook.stop()
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("alert").filter(has_text="failed calling webhook").wait_for()
    tab.open("#/policies")
    page.get_by_role("heading", name="labels.example.com").wait_for()
    page.get_by_text("could not call this webhook").wait_for()
    tab.picture("webhooks")


def test_find_who_may_delete_secrets(cluster, tab):
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "secret-cleaner"},
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["delete"]}]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "clean-up"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "secret-cleaner"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]}
    assert cluster.client("POST", f"{rbac}/clusterroles", role).code == 201
    assert cluster.client("POST", f"{rbac}/clusterrolebindings", binding).code == 201
    page = tab.log_in().page
    page.get_by_role("link", name="Access").click()
    page.get_by_role("heading", name="admin", exact=True).wait_for()
    page.get_by_role("link", name="Who can").click()
    page.get_by_role("button", name="Find").click()
    row = page.get_by_role("row").filter(has_text="jane")
    row.get_by_role("button").click()
    row.get_by_text("allowed", exact=True).wait_for()
    tab.picture("who_can")
    page.get_by_role("link", name="Can I").click()
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("Yes", exact=True).wait_for()


def test_api_explorer(tab):
    page = tab.log_in().page
    page.get_by_role("link", name="API", exact=True).click()
    page.get_by_label("Search operations").fill("get namespaces/{namespace}/pods/{name} read")
    page.get_by_role("link", name="GET /api/v1/namespaces/{namespace}/pods/{name} ").first.click()
    page.get_by_label("name (path)").first.fill("web-02")
    page.get_by_label("namespace (path)").fill("default")
    page.get_by_role("button", name="Try it").click()
    page.locator(".answer", has_text='"name": "web-02"').wait_for()
    assert "kubectl get --raw /api/v1/namespaces/default/pods/web-02" in page.locator(".command").first.inner_text()
    tab.picture("explorer")


def state(page, process):
    return page.locator(f"[data-process='{process}']").get_attribute("data-state")


def test_a_killed_process_is_shown_and_comes_back(cluster, tab):
    """The launcher restarts a killed process at once, so it is stopped until the page has noticed."""
    page = tab.log_in().page
    page.locator("[data-process='core-api'][data-state='up']").wait_for()
    page.locator("[data-process='store'][data-state='up']").wait_for()
    page.get_by_text("All processes answer.").wait_for()

    def lines_move():
        cluster.client.get(PODS)
        cluster.client.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        return page.locator(".edge.busy").count() >= 6
    mesh.wait_until(lines_move, 30, "the lines of the picture move while requests pass")
    tab.picture("mesh")
    page.set_viewport_size(console.PHONE)
    tab.picture("mesh_phone")
    page.set_viewport_size(console.DESKTOP)
    pid = cluster.children()["extensions-api"]
    os.kill(pid, signal.SIGKILL)
    held = [pid]

    def hold():
        """Kills each new process until the page shows that there is none."""
        now = cluster.children().get("extensions-api")
        if now and now not in held:
            held.append(now)
            os.kill(now, signal.SIGKILL)
        return state(page, "extensions-api") == "down"
    mesh.wait_until(hold, 30, "the page shows that extensions-api is down")
    page.emulate_media(color_scheme="dark")
    tab.picture("mesh_down")
    page.emulate_media(color_scheme="light")
    page.locator("[data-process='extensions-api'][data-state='up']").wait_for(timeout=60_000 * mesh.SLOWDOWN)
    page.get_by_text("All processes answer.").wait_for()


def test_missing_permissions_are_named(cluster, tab, app):
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "guest"}}
    assert cluster.client("POST", "/api/v1/namespaces/default/serviceaccounts", account).code == 201
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.client("POST", "/api/v1/namespaces/default/serviceaccounts/guest/token", request).json()["status"]["token"]
    page = tab.page
    page.goto(app.url)
    page.evaluate("localStorage.clear()")
    page.reload()
    page.get_by_label("Bearer token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").filter(has_text="does not accept this token").wait_for()
    page.get_by_label("Bearer token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("the ClusterRole system:monitoring permits it").wait_for()
    tab.open("#/objects/-/secrets")
    page.get_by_role("alert").filter(has_text='cannot list resource "secrets"').wait_for()
    page.get_by_role("button", name="Log out").click()
    page.get_by_label("Bearer token").wait_for()


def test_keyboard_and_phone(tab):
    tab.page.set_viewport_size(console.PHONE)
    page = tab.log_in().page
    for fragment in ("#/mesh", "#/objects", "#/objects/-/pods", "#/object/-/pods/default/web-01", "#/explorer", "#/access/who", "#/policies/flow"):
        tab.open(fragment)
        page.locator("main h1").wait_for()
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, f"{fragment} is wider than the screen"
    tab.open("#/objects/-/pods")
    page.locator("[data-count='24']").wait_for()
    tab.picture("objects_phone")
    page.keyboard.press("Tab")
    page.get_by_role("grid").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.get_by_role("heading", name="shop-03").wait_for()  # the second row
    page.reload()
    page.locator("main h1").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_ten_thousand_objects_scroll(chromium, cluster, app, tab):
    """Only some rows are in the document, and a frame of scrolling takes little time."""
    def create(first):
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=context, timeout=60)
        for number in range(first, 10_000, 16):
            body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"item-{number:05}"}})
            connection.request("POST", "/api/v1/namespaces/kube-public/configmaps", body, {"Authorization": f"Bearer {mesh.ADMIN_TOKEN}", "Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            assert response.status == 201
    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        list(threads.map(create, range(16)))
    page = tab.log_in().page
    tab.open("#/objects/-/configmaps?ns=kube-public")
    page.locator("[data-count='10000']").wait_for(timeout=30_000 * mesh.SLOWDOWN)
    frames = page.evaluate("""async () => {
        const grid = document.querySelector('.grid'), times = [];
        for (let step = 0; step < 60; step++) {
            const began = performance.now();
            grid.scrollTop = step * 6000;
            await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
            times.push(performance.now() - began);
        }
        return times.sort((a, b) => a - b);
    }""")
    assert page.locator(".grid .rows .row").count() < 100
    assert frames[len(frames) // 2] < 60 * mesh.SLOWDOWN, frames
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    page.get_by_role("link", name="item-09999").wait_for()
