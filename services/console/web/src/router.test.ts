import { describe, expect, test } from "vitest";
import { href, parseRoute } from "./router";

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
