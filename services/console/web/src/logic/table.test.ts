import { describe, expect, test } from "vitest";
import { filterRows, Rows, sortRows, type Row, type Table } from "./table";

describe("tables", () => {
  const row = (name: string, cells: unknown[], labels = {}): Row => ({ cells, object: { metadata: { name, namespace: "n", labels, resourceVersion: "7" } } });
  const table = (...rows: Row[]): Table => ({ kind: "Table", rows });
  test("events change rows, and their order is that of names", () => {
    const rows = new Rows();
    rows.add([row("b", ["b"]), row("a", ["a"])]);
    expect(rows.apply([{ type: "ADDED", object: table(row("c", ["c"])) }, { type: "DELETED", object: table(row("a", ["a"])) }, { type: "MODIFIED", object: table(row("b", ["changed"])) }])).toBe("7");
    expect(rows.all().map((one) => one.cells[0])).toEqual(["changed", "c"]);
    expect(rows.apply([{ type: "BOOKMARK", object: { kind: "Table", metadata: { resourceVersion: "9" } } }])).toBe("9");
    expect(() => rows.apply([{ type: "ERROR", object: { kind: "Status", code: 410 } as unknown as Table }])).toThrow();
  });
  test("filters by words, labels and exclusions", () => {
    const rows = [row("web", ["web", "Running"], { app: "shop" }), row("db", ["db", "Pending"])];
    const names = (text: string) => filterRows(rows, text).map((one) => one.object.metadata.name);
    expect(names("")).toEqual(["web", "db"]);
    expect(names("app=shop")).toEqual(["web"]);
    expect(names("PEND")).toEqual(["db"]);
    expect(names("n !pending")).toEqual(["web"]);
    expect(names("web pending")).toEqual([]);
  });
  test("sorts numbers as numbers", () => {
    const columns = [{ name: "Name", type: "string", priority: 0 }, { name: "Restarts", type: "integer", priority: 0 }];
    const rows = [row("a", ["a", 10]), row("b", ["b", 9])];
    expect(sortRows(rows, columns, "Restarts", false).map((one) => one.cells[1])).toEqual([9, 10]);
    expect(sortRows([row("x", ["web-10"]), row("y", ["web-9"])], columns, "Name", true).map((one) => one.cells[0])).toEqual(["web-10", "web-9"]);
  });
});
