import { describe, expect, test } from "vitest";
import { formatAge, formatBytes, formatDuration, formatSeconds } from "./format";

describe("formats", () => {
  test("durations are those of kubectl", () => {
    const minute = 60_000;
    expect([1000, 119_000, 5 * minute + 3000, 90 * minute, 200 * minute, 30 * 60 * minute, 49 * 60 * minute, 900 * 24 * 60 * minute].map(formatDuration)).toEqual(["1s", "119s", "5m3s", "90m", "3h20m", "30h", "2d1h", "2y170d"]);
    expect(formatAge(undefined, 0)).toBe("<unknown>");
    expect([formatBytes(undefined), formatBytes(31_000_000), formatSeconds(0.0042), formatSeconds(2)]).toEqual(["–", "30 MiB", "4.2 ms", "2.0 s"]);
  });
});
