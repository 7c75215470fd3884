import { useMemo, useState } from "preact/hooks";
import type { Resource } from "../../api/discovery";
import { filterRows, sortRows, type Column, type Row } from "../../logic/table";
import { go, href } from "../../router";
import { Empty, Loading, Problem } from "../../ui/states";
import { useNow, useSettled } from "../../ui/use";
import { Grid, type GridColumn } from "../../ui/grid";
import { formatAge } from "../../logic/format";
import { useRows } from "./use_rows";

export function objectHref(resource: Resource, namespace: string | undefined, name: string): string {
  return href("object", [resource.group || "-", resource.plural, namespace || "-", name]);
}

export function ObjectTable({ resource, namespace, filter }: { resource: Resource; namespace: string; filter: string }) {
  const listing = useRows(resource, namespace);
  const [wide, setWide] = useState(false);
  const [order, setOrder] = useState({ column: "", descending: false });
  const text = useSettled(filter);
  const now = useNow(5000);
  const shown = useMemo(() => {
    const found = filterRows(listing.rows, text);
    return order.column ? sortRows(found, listing.columns, order.column, order.descending) : found;
  }, [listing.rows, listing.columns, text, order]);
  const columns = useMemo(() => gridColumns(listing.columns, resource.namespaced && !namespace, wide, now), [listing.columns, wide, now]);

  if (listing.error !== undefined && listing.rows.length === 0) return <Problem error={listing.error} needs={`list and watch on ${resource.plural}`} />;
  if (listing.columns.length === 0) return <Loading what={resource.plural} />;
  return (
    <>
      {listing.error !== undefined && <Problem error={listing.error} />}
      <div class="below-head">
        <span role="status" class="muted" data-count={shown.length}>
          {listing.loading ? `Reading ${listing.rows.length} of ${listing.total ?? "…"}` : countText(shown.length, listing.rows.length)}
        </span>
        <span class={`live ${listing.live ? "on" : ""}`}>{listing.live ? "live" : "not live"}</span>
        {listing.columns.some((column) => column.priority > 0) && (
          <label class="check">
            <input type="checkbox" checked={wide} onChange={(event) => setWide(event.currentTarget.checked)} /> all columns
          </label>
        )}
      </div>
      {shown.length === 0 && !listing.loading ? (
        <Empty title={listing.rows.length === 0 ? `There are no ${resource.plural}${namespace ? ` in ${namespace}` : ""}` : "Nothing matches"}>
          {listing.rows.length === 0 ? "New objects appear here at once." : "Words are searched in all columns and labels; !word excludes."}
        </Empty>
      ) : (
        <Grid
          label={resource.plural}
          columns={columns}
          rows={shown}
          order={order}
          onOrder={setOrder}
          keyOf={(row) => row.object.metadata.uid ?? `${row.object.metadata.namespace}/${row.object.metadata.name}`}
          link={(row) => objectHref(resource, row.object.metadata.namespace, row.object.metadata.name)}
          open={(row) => go(objectHref(resource, row.object.metadata.namespace, row.object.metadata.name))}
        />
      )}
    </>
  );
}

function countText(shown: number, all: number): string {
  return shown === all ? `${all} ${all === 1 ? "object" : "objects"}` : `${shown} of ${all} objects`;
}

/** The columns that kubectl prints, with the namespace first. The age is computed here, so that it advances. */
function gridColumns(columns: Column[], withNamespace: boolean, wide: boolean, now: number): GridColumn<Row>[] {
  const cells = columns
    .map((column, index): GridColumn<Row> & { priority: number } => ({
      name: column.name,
      priority: column.priority,
      width: column.name === "Name" ? "minmax(220px, 3fr)" : "minmax(90px, 1fr)",
      help: column.description,
      text: (row) => (column.name === "Age" ? formatAge(row.object.metadata.creationTimestamp, now) : String(row.cells[index] ?? "")),
    }))
    .filter((column) => wide || column.priority === 0);
  const namespace: GridColumn<Row> = { name: "Namespace", width: "minmax(110px, 1fr)", text: (row) => row.object.metadata.namespace ?? "" };
  return withNamespace ? [cells[0]!, namespace, ...cells.slice(1)] : cells;
}
