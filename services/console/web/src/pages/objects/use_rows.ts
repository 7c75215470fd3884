import { useEffect, useState } from "preact/hooks";
import { ApiError, getJson, type Status } from "../../api/client";
import { pathOf, type Resource } from "../../api/discovery";
import { follow } from "../../api/watch";
import { Rows, TABLE, type Column, type Row, type Table } from "../../logic/table";

export interface Listing {
  columns: Column[];
  rows: Row[];
  total?: number; // while the list is being read
  loading: boolean;
  live: boolean;
  error?: unknown;
}

const PAGE = 500;
const PAUSE = 1000;

/** The objects of a resource as a table, which follows a watch. */
export function useRows(resource: Resource, namespace: string): Listing {
  const [listing, setListing] = useState<Listing>({ columns: [], rows: [], loading: true, live: false });
  useEffect(() => {
    const abort = new AbortController();
    void keepListing(pathOf(resource, namespace), abort.signal, setListing);
    return () => abort.abort();
  }, [resource, namespace]);
  return listing;
}

type Publish = (change: (old: Listing) => Listing) => void;

/** Lists and watches until the signal is aborted. A watch that ends is resumed; after 410, the list is read again. */
async function keepListing(path: string, signal: AbortSignal, publish: Publish) {
  while (!signal.aborted) {
    try {
      const rows = new Rows();
      let version = await readList(path, rows, signal, publish);
      for (;;) {
        publish((old) => ({ ...old, rows: rows.all(), live: true, error: undefined }));
        version = await readEvents(path, version, rows, signal, publish);
      }
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof ApiError ? error.code : (error as Status).code;
      if (code === 410) continue;
      publish((old) => ({ ...old, loading: false, live: false, error }));
      if (code === 403 || code === 404 || code === 405) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

/** Returns the resource version from which a watch continues. */
async function readList(path: string, rows: Rows, signal: AbortSignal, publish: Publish): Promise<string> {
  let next = "";
  for (;;) {
    const table: Table = await getJson<Table>(`${path}?limit=${PAGE}${next && `&continue=${encodeURIComponent(next)}`}`, { accept: TABLE, signal });
    rows.add(table.rows ?? []);
    next = table.metadata?.continue ?? "";
    const total = rows.size + (table.metadata?.remainingItemCount ?? 0);
    publish((old) => ({ ...old, columns: table.columnDefinitions ?? old.columns, rows: rows.all(), total: next ? total : undefined, loading: next !== "" }));
    if (!next) return table.metadata?.resourceVersion ?? "0";
  }
}

async function readEvents(path: string, version: string, rows: Rows, signal: AbortSignal, publish: Publish): Promise<string> {
  let last = version;
  const url = `${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`;
  await follow<Table>(url, TABLE, signal, async (events) => {
    last = rows.apply(events) ?? last;
    publish((old) => ({ ...old, rows: rows.all() }));
    // At most one rendering per frame, however many events arrive.
    await new Promise((resolve) => setTimeout(resolve, 30));
  });
  return last;
}
