export interface Window {
  first: number;
  last: number; // exclusive
  before: number; // pixels above the first row
  total: number; // pixels of all rows
}

/** The rows of a virtual list that are rendered: those in view, and `extra` above and below. */
export function visibleRows(count: number, rowHeight: number, scrollTop: number, height: number, extra = 12): Window {
  const top = Math.min(Math.max(scrollTop, 0), Math.max(count * rowHeight - height, 0));
  const first = Math.max(Math.floor(top / rowHeight) - extra, 0);
  const last = Math.min(Math.ceil((top + height) / rowHeight) + extra, count);
  return { first, last, before: first * rowHeight, total: count * rowHeight };
}

/** The scroll position that brings a row into view with the least movement. */
export function scrollTo(index: number, rowHeight: number, scrollTop: number, height: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return scrollTop;
}
