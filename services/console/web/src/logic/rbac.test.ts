import { describe, expect, test } from "vitest";
import { allows, userOf, whoCan, type Question } from "./rbac";

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
