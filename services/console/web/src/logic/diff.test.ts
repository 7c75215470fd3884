import { describe, expect, test } from "vitest";
import { diffLines, withContext } from "./diff";

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
