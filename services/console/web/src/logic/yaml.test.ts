import { describe, expect, test } from "vitest";
import { fieldTree, fromYaml, toYaml, tokens } from "./yaml";

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
