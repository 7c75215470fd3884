import type { WatchEvent } from "../api/watch";

export interface Column {
  name: string;
  type: string;
  priority: number;
  description?: string;
}

export interface PartialMetadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  creationTimestamp?: string;
  labels?: Record<string, string>;
}

export interface Row {
  cells: unknown[];
  object: { metadata: PartialMetadata };
}

/** A meta.k8s.io/v1 Table. */
export interface Table {
  kind: string;
  metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  columnDefinitions?: Column[];
  rows?: Row[];
}

export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** The rows of a list, in the order of namespace and name, as watch events change them. */
export class Rows {
  private byKey = new Map<string, Row>();
  private sorted: Row[] | undefined = [];

  get size() {
    return this.byKey.size;
  }

  add(rows: Row[]) {
    for (const row of rows) this.byKey.set(keyOf(row), row);
    this.sorted = undefined;
  }

  /** Returns the resource version of the last event, and throws the Status of an ERROR event. */
  apply(events: WatchEvent<Table>[]): string | undefined {
    let version: string | undefined;
    for (const { type, object } of events) {
      if (type === "ERROR") throw object;
      version = object.metadata?.resourceVersion ?? version;
      if (type === "BOOKMARK") continue;
      for (const row of object.rows ?? []) {
        version = row.object.metadata.resourceVersion ?? version;
        if (type === "DELETED") this.byKey.delete(keyOf(row));
        else this.byKey.set(keyOf(row), row);
      }
      this.sorted = undefined;
    }
    return version;
  }

  all(): Row[] {
    this.sorted ??= [...this.byKey.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    return this.sorted;
  }
}

function keyOf(row: Row): string {
  const { namespace, name } = row.object.metadata;
  return `${namespace ?? ""}\0${name}`;
}

/**
 * The rows that contain every word of the text, in a cell, the namespace or a label. "name=value" and "!word" restrict
 * to rows with this label, and to rows without the word.
 */
export function filterRows(rows: Row[], text: string): Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const { namespace, labels } = row.object.metadata;
    const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
    const content = [...row.cells, namespace, ...pairs].join("\0").toLowerCase();
    return words.every((word) => (word.startsWith("!") && word.length > 1 ? !content.includes(word.slice(1)) : content.includes(word)));
  });
}

/** Sorts by a column: numbers and ages by their value, all others as text. Does not change `rows`. */
export function sortRows(rows: Row[], columns: Column[], name: string, descending: boolean): Row[] {
  const index = columns.findIndex((column) => column.name === name);
  const value = (row: Row): string | number => {
    if (name === "Age") return -Date.parse(row.object.metadata.creationTimestamp ?? "") || 0;
    const cell = index < 0 ? "" : row.cells[index];
    return typeof cell === "number" ? cell : String(cell ?? "");
  };
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => ({ row, key: value(row) }))
    .sort((one, other) => (typeof one.key === "number" && typeof other.key === "number" ? one.key - other.key : String(one.key).localeCompare(String(other.key), "en", { numeric: true })) * sign)
    .map(({ row }) => row);
}
