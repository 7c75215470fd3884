import { describe, expect, test } from "vitest";
import { scrollTo, visibleRows } from "./window";

describe("virtual lists", () => {
  test("only the rows in view are rendered", () => {
    expect(visibleRows(10_000, 36, 36_000, 720, 5)).toEqual({ first: 995, last: 1025, before: 35_820, total: 360_000 });
    expect(visibleRows(3, 36, 9_999, 720, 5)).toEqual({ first: 0, last: 3, before: 0, total: 108 });
    expect(visibleRows(0, 36, 0, 720)).toMatchObject({ first: 0, last: 0 });
    expect([scrollTo(0, 36, 100, 360), scrollTo(20, 36, 0, 360), scrollTo(5, 36, 0, 360)]).toEqual([0, 396, 0]);
  });
});
