import { describe, expect, test } from "vitest";
import { curlCommand, fillPath, kubectlCommand, missingParameters, quote, readOperations } from "./openapi";

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
