import { describe, expect, test } from "vitest";
import { readDiscovery, fullName, pathOf } from "./discovery";

describe("discovery", () => {
  test("the first version of a group is preferred", () => {
    const resource = (name: string) => ({ resource: name, scope: "Namespaced", verbs: ["list"], responseKind: { kind: "K" } });
    const found = readDiscovery({ items: [{ metadata: { name: "apps" }, versions: [{ version: "v1", resources: [resource("a")] }, { version: "v1beta1", resources: [resource("a"), resource("b")] }] }] });
    expect(found.map((one) => `${fullName(one)}/${one.version}`)).toEqual(["a.apps/v1", "b.apps/v1beta1"]);
    expect(pathOf(found[0]!, "n", "x")).toBe("/apis/apps/v1/namespaces/n/a/x");
    expect(pathOf({ group: "", version: "v1", plural: "nodes", namespaced: false }, "n")).toBe("/api/v1/nodes");
  });
});
