import { describe, expect, test } from "vitest";
import { LineSplitter } from "./watch";

describe("watches", () => {
  test("lines are joined over pieces", () => {
    const splitter = new LineSplitter();
    expect(splitter.push('{"a":1}\n{"b"')).toEqual(['{"a":1}']);
    expect(splitter.push(':2}\n\n')).toEqual(['{"b":2}']);
  });
});
