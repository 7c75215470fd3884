import { describe, expect, test } from "vitest";
import { readDiscovery, fullName, pathOf } from "../src/api/discovery";
import { LineSplitter } from "../src/api/watch";
import { diffLines, withContext } from "../src/logic/diff";
import { formatAge, formatBytes, formatDuration, formatSeconds } from "../src/logic/format";
import { readHealth, readProcesses, FAMILIES } from "../src/logic/mesh";
import { quantile, readMetrics } from "../src/logic/metrics";
import { curlCommand, fillPath, kubectlCommand, missingParameters, quote, readOperations } from "../src/logic/openapi";
import { countCalls, countChecks, readDump } from "../src/logic/policies";
import { allows, userOf, whoCan, type Question } from "../src/logic/rbac";
import { filterRows, Rows, sortRows, type Row, type Table } from "../src/logic/table";
import { scrollTo, visibleRows } from "../src/logic/window";
import { fieldTree, fromYaml, toYaml, tokens } from "../src/logic/yaml";
import { href, parseRoute } from "../src/router";

describe("routes", () => {
  test("survive a round trip with any characters", () => {
    const target = href("object", ["-", "pods", "a/b", "ü?#%"], { tab: "x y&z", none: undefined });
    const route = parseRoute(target);
    expect(route.parts).toEqual(["-", "pods", "a/b", "ü?#%"]);
    expect(route.query.get("tab")).toBe("x y&z");
    expect(route.query.has("none")).toBe(false);
  });
  test("the first page is the mesh, and broken escapes do not throw", () => {
    expect(parseRoute("").page).toBe("mesh");
    expect(parseRoute("#/objects/%zz").parts).toEqual(["%zz"]);
  });
});

describe("metrics", () => {
  const text = '# HELP a A.\na{x="1",y="q\\"},{\\n"} 2.5\nb 3\na_more 4\na NaN\n';
  test("only the named families are read, with escaped labels", () => {
    expect(readMetrics(text, new Set(["a"]))).toEqual([{ name: "a", labels: { x: "1", y: 'q"},{\n' }, value: 2.5 }]);
    expect(readMetrics(text, new Set(["b"]))).toEqual([{ name: "b", labels: {}, value: 3 }]);
  });
  test("quantiles are interpolated in their bucket", () => {
    const buckets = new Map([[0.1, 50], [0.2, 100], [Infinity, 100]]);
    expect(quantile(0.5, buckets)).toBeCloseTo(0.1);
    expect(quantile(0.75, buckets)).toBeCloseTo(0.15);
    expect(quantile(0.5, new Map([[0.1, 0], [Infinity, 10]]))).toBe(0.1);
    expect(quantile(0.5, new Map())).toBeUndefined();
  });
});

describe("mesh", () => {
  const metrics = (core: number, requests: number, errors = 0) =>
    readMetrics(
      `apimesh_process_up{process="aggregator"} 1
apimesh_process_up{process="core-api"} ${core}
apimesh_served_group_version{group="",process="core-api",version="v1"} 1
apimesh_served_group_version{group="apiregistration.k8s.io",process="aggregator",version="v1"} 1
process_resident_memory_bytes 1000
process_resident_memory_bytes{process="core-api"} 2000
apiserver_longrunning_requests{group="",version="v1",verb="WATCH"} 3
apiserver_request_total{group="",version="v1",code="200",verb="GET"} ${requests}
apiserver_request_total{group="",version="v1",code="503",verb="GET"} ${errors}
apiserver_request_total{group="apiregistration.k8s.io",version="v1",code="200",verb="GET"} 5
`,
      FAMILIES,
    );
  test("processes have their groups, memory, watches and rates", () => {
    const [aggregator, core] = readProcesses({ time: 3000, samples: metrics(1, 30, 2) }, { time: 1000, samples: metrics(1, 10) });
    expect(aggregator).toMatchObject({ name: "aggregator", state: "up", memoryBytes: 1000, requestsPerSecond: 11, errorsPerSecond: 1, watches: 3 });
    expect(core).toMatchObject({ name: "core-api", state: "up", groups: ["core/v1"], memoryBytes: 2000, requestsPerSecond: 11, watches: 3 });
  });
  test("a process that does not answer is down, and counters that begin again give no rate", () => {
    const [, core] = readProcesses({ time: 3000, samples: metrics(0, 1) }, { time: 1000, samples: metrics(1, 10) });
    expect(core!.state).toBe("down");
    expect(core!.requestsPerSecond).toBeUndefined();
  });
  test("health checks", () => {
    expect(readHealth("[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n")).toEqual([
      { name: "ping", ok: true },
      { name: "etcd", ok: false },
    ]);
  });
});

describe("tables", () => {
  const row = (name: string, cells: unknown[], labels = {}): Row => ({ cells, object: { metadata: { name, namespace: "n", labels, resourceVersion: "7" } } });
  const table = (...rows: Row[]): Table => ({ kind: "Table", rows });
  test("events change rows, and their order is that of names", () => {
    const rows = new Rows();
    rows.add([row("b", ["b"]), row("a", ["a"])]);
    expect(rows.apply([{ type: "ADDED", object: table(row("c", ["c"])) }, { type: "DELETED", object: table(row("a", ["a"])) }, { type: "MODIFIED", object: table(row("b", ["changed"])) }])).toBe("7");
    expect(rows.all().map((one) => one.cells[0])).toEqual(["changed", "c"]);
    expect(rows.apply([{ type: "BOOKMARK", object: { kind: "Table", metadata: { resourceVersion: "9" } } }])).toBe("9");
    expect(() => rows.apply([{ type: "ERROR", object: { kind: "Status", code: 410 } as unknown as Table }])).toThrow();
  });
  test("filters by words, labels and exclusions", () => {
    const rows = [row("web", ["web", "Running"], { app: "shop" }), row("db", ["db", "Pending"])];
    const names = (text: string) => filterRows(rows, text).map((one) => one.object.metadata.name);
    expect(names("")).toEqual(["web", "db"]);
    expect(names("app=shop")).toEqual(["web"]);
    expect(names("PEND")).toEqual(["db"]);
    expect(names("n !pending")).toEqual(["web"]);
    expect(names("web pending")).toEqual([]);
  });
  test("sorts numbers as numbers", () => {
    const columns = [{ name: "Name", type: "string", priority: 0 }, { name: "Restarts", type: "integer", priority: 0 }];
    const rows = [row("a", ["a", 10]), row("b", ["b", 9])];
    expect(sortRows(rows, columns, "Restarts", false).map((one) => one.cells[1])).toEqual([9, 10]);
    expect(sortRows([row("x", ["web-10"]), row("y", ["web-9"])], columns, "Name", true).map((one) => one.cells[0])).toEqual(["web-10", "web-9"]);
  });
  test("only the rows in view are rendered", () => {
    expect(visibleRows(10_000, 36, 36_000, 720, 5)).toEqual({ first: 995, last: 1025, before: 35_820, total: 360_000 });
    expect(visibleRows(3, 36, 9_999, 720, 5)).toEqual({ first: 0, last: 3, before: 0, total: 108 });
    expect(visibleRows(0, 36, 0, 720)).toMatchObject({ first: 0, last: 0 });
    expect([scrollTo(0, 36, 100, 360), scrollTo(20, 36, 0, 360), scrollTo(5, 36, 0, 360)]).toEqual([0, 396, 0]);
  });
});

describe("watches", () => {
  test("lines are joined over pieces", () => {
    const splitter = new LineSplitter();
    expect(splitter.push('{"a":1}\n{"b"')).toEqual(['{"a":1}']);
    expect(splitter.push(':2}\n\n')).toEqual(['{"b":2}']);
  });
});

describe("differences", () => {
  const render = (before: string, after: string) => diffLines(before, after).map((line) => ({ same: " ", added: "+", removed: "-" })[line.kind] + line.text);
  test("are the shortest", () => {
    expect(render("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
    expect(render("a\nb", "a\nb")).toEqual([" a", " b"]);
    expect(render("", "a")).toEqual(["-", "+a"]);
    expect(render("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc").filter((line) => line[0] !== " ")).toHaveLength(5);
  });
  test("rebuild both texts", () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    for (let round = 0; round < 300; round++) {
      const [one, other] = [0, 1].map(() => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n")) as [string, string];
      const lines = diffLines(one, other);
      expect(lines.filter((line) => line.kind !== "added").map((line) => line.text).join("\n")).toBe(one);
      expect(lines.filter((line) => line.kind !== "removed").map((line) => line.text).join("\n")).toBe(other);
    }
  });
  test("beyond the limit, the rest is replaced", () => {
    const lines = diffLines("a\nb\nc\nd", "e\nf\ng\nh", 2);
    expect(lines.map((line) => line.kind)).toEqual([...Array(4).fill("removed"), ...Array(4).fill("added")]);
  });
  test("unchanged parts are left out", () => {
    const lines = diffLines("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\nx");
    expect(withContext(lines, 1).map((line) => line?.text)).toEqual([undefined, "5", "6", "x"]);
  });
});

describe("YAML", () => {
  test("hides managed fields and survives a round trip", () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", managedFields: [{ manager: "m", operation: "Apply", apiVersion: "v1" }] }, data: { n: "01", y: "yes", t: "a\nb\n" } };
    const text = toYaml(object);
    expect(text).not.toContain("managedFields");
    expect(fromYaml(text)).toEqual({ ...object, metadata: { name: "a" } });
  });
  test("documents that are no object are refused", () => {
    expect(() => fromYaml("- a")).toThrow("not an object");
    expect(() => fromYaml("a: [")).toThrow();
    expect(() => fromYaml("a: &a [1]\nb: [*a]".padEnd(10))).not.toThrow();
  });
  test("colours keep the text", () => {
    for (const line of ['  - name: "a: b"', "plain", "a: 1 # c", '"x:y": true', "    - image: nginx:1.27", "", "url: https://a/b"])
      expect(tokens(line).map((one) => one.text).join("")).toBe(line);
    expect(tokens("  replicas: 3").map((one) => one.kind)).toEqual(["plain", "key", "plain", "number"]);
  });
  test("managed fields become a tree", () => {
    expect(fieldTree({ "f:spec": { ".": {}, 'k:{"name":"c"}': {} } })).toEqual([{ name: "spec", children: [{ name: '{"name":"c"}', children: [] }] }]);
  });
});

describe("permissions", () => {
  const question = (change: Partial<Question> = {}): Question => ({ verb: "delete", group: "", resource: "secrets", namespace: "", name: "", ...change });
  const rule = { verbs: ["delete"], apiGroups: [""], resources: ["secrets"] };
  test("rules match as in the RBAC authorizer", () => {
    expect(allows(rule, question())).toBe(true);
    expect(allows(rule, question({ verb: "get" }))).toBe(false);
    expect(allows(rule, question({ group: "apps" }))).toBe(false);
    expect(allows({ ...rule, resourceNames: ["a"] }, question())).toBe(false);
    expect(allows({ ...rule, resourceNames: ["a"] }, question({ name: "a" }))).toBe(true);
    expect(allows({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, question({ resource: "pods/log" }))).toBe(true);
    expect(allows({ ...rule, resources: ["*/scale"] }, question({ resource: "deployments/scale" }))).toBe(true);
    expect(allows({ verbs: ["get"], nonResourceURLs: ["*"] }, question({ verb: "get" }))).toBe(false);
  });
  test("bindings of a namespace count only there", () => {
    const roles = [{ metadata: { name: "r" }, rules: [rule] }, { metadata: { name: "r", namespace: "n" }, rules: [rule] }];
    const jane = [{ kind: "User", name: "jane" }];
    const bindings = [
      { metadata: { name: "wide" }, roleRef: { kind: "ClusterRole", name: "r" }, subjects: [{ kind: "ServiceAccount", name: "s", namespace: "x" }] },
      { metadata: { name: "narrow", namespace: "n" }, roleRef: { kind: "Role", name: "r" }, subjects: jane },
      { metadata: { name: "other", namespace: "m" }, roleRef: { kind: "Role", name: "r" }, subjects: jane },
      { metadata: { name: "dangling" }, roleRef: { kind: "ClusterRole", name: "none" }, subjects: jane },
    ];
    expect(whoCan(question(), roles, bindings).map((one) => one.binding.metadata.name)).toEqual(["wide"]);
    expect(whoCan(question({ namespace: "n" }), roles, bindings).map((one) => one.binding.metadata.name)).toEqual(["wide", "narrow"]);
    expect(whoCan(question({ namespace: "m" }), roles, bindings).map((one) => one.binding.metadata.name)).toEqual(["wide"]);
    expect(userOf({ kind: "ServiceAccount", name: "s", namespace: "x" })).toBe("system:serviceaccount:x:s");
  });
});

describe("OpenAPI", () => {
  const [get, patch] = readOperations({
    paths: {
      "/apis/apps/v1/namespaces/{namespace}/deployments/{name}": {
        parameters: [{ name: "name", in: "path" }, { name: "namespace", in: "path" }],
        get: { operationId: "read", parameters: [{ name: "pretty", in: "query" }] },
        patch: { requestBody: { content: { "application/merge-patch+json": {} } } },
      },
    },
  });
  test("operations have the parameters of their path", () => {
    expect(get!.parameters.map((one) => one.name)).toEqual(["name", "namespace", "pretty"]);
    expect(patch!.bodyTypes).toEqual(["application/merge-patch+json"]);
    expect(missingParameters(get!, { name: "a" })).toEqual(["namespace"]);
    expect(fillPath(get!, { name: "a/b", namespace: "n", pretty: "x y", other: "z" })).toBe("/apis/apps/v1/namespaces/n/deployments/a%2Fb?pretty=x+y");
  });
  test("commands are quoted", () => {
    const path = fillPath(get!, { name: "a", namespace: "n" });
    expect(kubectlCommand("GET", `${path}?a=b&c`, "")).toBe(`kubectl get --raw '${path}?a=b&c'`);
    expect(kubectlCommand("PATCH", path, `{"a":"it's"}`)).toBe(`kubectl patch deployments.apps a -n n --type=merge -p '{"a":"it'\\''s"}'`);
    expect(kubectlCommand("PATCH", "/api/v1/nodes/n1/status", "{}")).toBe("kubectl patch nodes n1 --subresource=status --type=merge -p '{}'");
    expect(curlCommand("POST", "/api", "application/json", "{}")).toContain(`-X POST -H 'Content-Type: application/json' --data '{}'`);
    expect(quote("$(rm)")).toBe("'$(rm)'");
  });
});

describe("policies", () => {
  test("calls of webhooks are counted by their result", () => {
    const samples = readMetrics(
      `apiserver_admission_webhook_rejection_count{error_type="no_error",name="w"} 2
apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="w"} 3
apiserver_admission_webhook_request_total{code="200",name="w"} 7
apiserver_admission_webhook_fail_open_count{name="w"} 1
apiserver_validating_admission_policy_check_total{policy="p",enforcement_action="deny",error_type="no_error"} 4
`,
      new Set(["apiserver_admission_webhook_rejection_count", "apiserver_admission_webhook_request_total", "apiserver_admission_webhook_fail_open_count", "apiserver_validating_admission_policy_check_total"]),
    );
    expect(countCalls(samples).get("w")).toEqual({ calls: 7, refused: 2, failed: 3, ignored: 1 });
    expect(countChecks(samples).get("p")).toEqual({ deny: 4 });
  });
  test("dumps are read by their head", () => {
    expect(readDump("A,   B,\nx,   1,\n\n")).toEqual([{ A: "x", B: "1", "": "" }]);
  });
});

describe("discovery and formats", () => {
  test("the first version of a group is preferred", () => {
    const resource = (name: string) => ({ resource: name, scope: "Namespaced", verbs: ["list"], responseKind: { kind: "K" } });
    const found = readDiscovery({ items: [{ metadata: { name: "apps" }, versions: [{ version: "v1", resources: [resource("a")] }, { version: "v1beta1", resources: [resource("a"), resource("b")] }] }] });
    expect(found.map((one) => `${fullName(one)}/${one.version}`)).toEqual(["a.apps/v1", "b.apps/v1beta1"]);
    expect(pathOf(found[0]!, "n", "x")).toBe("/apis/apps/v1/namespaces/n/a/x");
    expect(pathOf({ group: "", version: "v1", plural: "nodes", namespaced: false }, "n")).toBe("/api/v1/nodes");
  });
  test("durations are those of kubectl", () => {
    const minute = 60_000;
    expect([1000, 119_000, 5 * minute + 3000, 90 * minute, 200 * minute, 30 * 60 * minute, 49 * 60 * minute, 900 * 24 * 60 * minute].map(formatDuration)).toEqual(["1s", "119s", "5m3s", "90m", "3h20m", "30h", "2d1h", "2y170d"]);
    expect(formatAge(undefined, 0)).toBe("<unknown>");
    expect([formatBytes(undefined), formatBytes(31_000_000), formatSeconds(0.0042), formatSeconds(2)]).toEqual(["–", "30 MiB", "4.2 ms", "2.0 s"]);
  });
});
