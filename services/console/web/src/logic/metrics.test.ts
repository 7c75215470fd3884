import { describe, expect, test } from "vitest";
import { quantile, readMetrics } from "./metrics";

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
