import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { scrollTo, visibleRows } from "../logic/window";

export interface GridColumn<T> {
  name: string;
  width: string; // a track of a CSS grid
  help?: string;
  text: (row: T) => string;
}

export interface Order {
  column: string;
  descending: boolean;
}

interface Props<T> {
  label: string;
  columns: GridColumn<T>[];
  rows: T[];
  order: Order;
  onOrder: (order: Order) => void;
  keyOf: (row: T) => string;
  link: (row: T) => string;
  open: (row: T) => void;
}

const ROW = 36;

/** A table of any length, of which only the rows in view are rendered. The arrow keys choose a row, Enter opens it. */
export function Grid<T>({ label, columns, rows, order, onOrder, keyOf, link, open }: Props<T>) {
  const body = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(0);
  const tracks = columns.map((column) => column.width).join(" ");
  const window = visibleRows(rows.length, ROW, view.top, view.height);
  const measure = () => body.current && setView({ top: body.current.scrollTop, height: body.current.clientHeight - ROW });

  useLayoutEffect(() => void measure(), []);
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(body.current!);
    return () => observer.disconnect();
  }, []);

  const move = (index: number) => {
    const next = Math.min(Math.max(index, 0), rows.length - 1);
    setActive(next);
    body.current!.scrollTop = scrollTo(next, ROW, body.current!.scrollTop, view.height);
  };
  const key = (event: KeyboardEvent) => {
    const page = Math.max(Math.floor(view.height / ROW) - 1, 1);
    const targets: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.length - 1 };
    if (event.target !== body.current) return;
    if (event.key === "Enter" && rows[active]) open(rows[active]);
    else if (targets[event.key] !== undefined) move(targets[event.key]!);
    else return;
    event.preventDefault();
  };
  const row = (index: number) => `row-${index}`;

  return (
    <div
      ref={body}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={rows.length > 0 ? row(Math.min(active, rows.length - 1)) : undefined}
      onScroll={measure}
      onKeyDown={key}
    >
      <div class="row header" role="row" style={{ gridTemplateColumns: tracks }}>
        {columns.map((column) => (
          <span key={column.name} role="columnheader" title={column.help} aria-sort={order.column !== column.name ? "none" : order.descending ? "descending" : "ascending"}>
            <button type="button" tabIndex={-1} onClick={() => onOrder({ column: column.name, descending: order.column === column.name && !order.descending })}>
              {column.name}
              {order.column === column.name && <span aria-hidden="true">{order.descending ? " ↓" : " ↑"}</span>}
            </button>
          </span>
        ))}
      </div>
      <div class="rows" role="rowgroup" style={{ height: `${window.total}px` }}>
        <div style={{ transform: `translateY(${window.before}px)` }}>
          {rows.slice(window.first, window.last).map((one, offset) => {
            const index = window.first + offset;
            return (
              <div key={keyOf(one)} id={row(index)} class={`row ${index === active ? "active" : ""}`} role="row" aria-rowindex={index + 2} style={{ gridTemplateColumns: tracks }} onMouseDown={() => setActive(index)}>
                {columns.map((column, place) => (
                  <span key={column.name} role="gridcell" title={column.text(one)}>
                    {place === 0 ? (
                      <a href={link(one)} tabIndex={-1}>
                        {column.text(one)}
                      </a>
                    ) : (
                      column.text(one)
                    )}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
