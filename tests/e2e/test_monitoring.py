"""The dashboard and the alerts of deploy/monitoring name only metrics and labels that exist."""
import json
import pathlib
import re
import sys
import time

import mesh
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "monitoring"
sys.path.insert(0, str(ROOT / "tests" / "differential"))
import metrics_text  # noqa: E402

WORDS = set("""sum by rate irate increase changes histogram_quantile topk time max min avg predict_linear without on and or unless
    bool offset ignoring group_left group_right""".split())
# Series that exist only after the failure that they report, with the file that declares each.
AFTER_FAILURES = {
    "apimesh_admission_webhook_failing_seconds": "lib/admission/webhooks",
    "apiserver_admission_webhook_admission_duration_seconds": "lib/admission/webhooks",
    "apiserver_flowcontrol_rejected_requests_total": "services/aggregator/fairness",
    "etcd_request_errors_total": "lib/service/stores",
}


def expressions():
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"dashboard: {panel['title']}", target["expr"]
    lines = (FOLDER / "alerts.yaml").read_text().splitlines()
    name, expression, indent = None, None, 0
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if expression is not None and depth > indent:
            expression += " " + line.strip()
            continue
        if expression is not None:
            yield f"alert: {name}", expression
            expression = None
        if match := re.match(r"\s*- alert: (\w+)", line):
            name = match[1]
        elif match := re.match(r"(\s*)expr: (.*)", line):
            indent, expression = len(match[1]), match[2].removeprefix(">-").strip()


def selectors(expression):
    """[(metric, names of labels)]"""
    found = []
    bare = re.sub(r"\b(by|without|on|ignoring) \([^)]*\)", " ", expression)
    for match in re.finditer(r"([a-zA-Z_:][\w:]*)(\{[^}]*\})?", re.sub(r"\[[^\]]*\]", "", bare)):
        name, labels = match.groups()
        if name in WORDS or (labels is None and "_" not in name):
            continue
        found.append((name, set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", labels or "")) - {"job"}))
    return found


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitoring")
    with mesh.running_server(folder) as server:
        client = mesh.Client(server.url)
        client("POST", "/api/v1/namespaces", {"metadata": {"name": "m"}})
        assert client.get("/api/v1/configmaps?watch=1&timeoutSeconds=1").code == 200
        mesh.wait_until(lambda: client.get("/api/v1/pods?timeout=1ms").code == 504, 20, "a request takes longer than its limit")
        time.sleep(1)  # the metrics of a request are written after its response
        yield metrics_text.read(client.get("/metrics").body)


def test_all_files_have_expressions():
    names = [where.split(":")[0] for where, _ in expressions()]
    assert names.count("dashboard") > 20 and names.count("alert") == 9
    assert selectors('sum by (a) (rate(x_bucket{job="j",le=~"1"}[5m])) > 2 * y_total') == [("x_bucket", {"le"}), ("y_total", set())]


@pytest.mark.parametrize("where,expression", list(expressions()))
def test_metrics_and_labels_exist(families, where, expression):
    named = selectors(expression)
    assert named, f"{where} names no metric"
    for name, labels in named:
        family = families.get(name) or families.get(re.sub(r"_(bucket|sum|count)$", "", name))
        base = name if name in AFTER_FAILURES else re.sub(r"_(bucket|sum|count)$", "", name)
        if (family is None or not family.samples) and base in AFTER_FAILURES:
            assert any(base.split("_", 2)[-1] in file.read_text() for file in (ROOT / AFTER_FAILURES[base]).rglob("*.cc")), f"{where}: {name} is declared nowhere"
            continue
        assert family is not None and family.samples, f"{where}: {name} does not exist"
        known = {label for sample, sample_labels, _ in family.samples for label in sample_labels}
        assert labels <= known, f"{where}: {name} has no label {labels - known}"


@pytest.mark.parametrize("where,expression", [(w, e) for w, e in expressions() if w.startswith("dashboard")])
def test_groupings_are_labels(families, where, expression):
    for group, name in re.findall(r"by \(([^)]*)\) \((?:rate\()?([\w:]+)", expression):
        family = families.get(name) or families.get(re.sub(r"_(bucket|sum|count)$", "", name))
        if family is None:
            continue
        known = {label for _, labels, _ in family.samples for label in labels}
        assert {label.strip() for label in group.split(",")} <= known, where
