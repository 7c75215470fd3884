import { useEffect, useState } from "preact/hooks";

export interface Place {
  x: number;
  y: number;
}

/** Where the picture shows the processes: from left to right, or from top to bottom on a narrow screen. */
export interface Layout {
  width: number;
  height: number;
  place: (name: string) => Place;
  curve: (from: string, to: string) => string;
}

export const WIDTH = 172;
export const HEIGHT = 64;

const WIDE: Record<string, Place> = {
  clients: { x: 90, y: 150 },
  aggregator: { x: 310, y: 150 },
  "authn-authz": { x: 560, y: 50 },
  "core-api": { x: 560, y: 150 },
  "extensions-api": { x: 560, y: 250 },
  store: { x: 810, y: 150 },
};
const NARROW: Record<string, Place> = {
  clients: { x: 92, y: 40 },
  aggregator: { x: 92, y: 140 },
  "authn-authz": { x: 288, y: 140 },
  "core-api": { x: 92, y: 250 },
  "extensions-api": { x: 288, y: 250 },
  store: { x: 190, y: 360 },
};

/** `others` are processes that the drawing does not know, such as API servers for some groups. */
export function layoutOf(narrow: boolean, others: string[]): Layout {
  const known = narrow ? NARROW : WIDE;
  const place = (name: string): Place => {
    const index = others.indexOf(name);
    if (index < 0) return known[name]!;
    return narrow ? { x: 92 + 196 * (index % 2), y: 470 + 100 * Math.floor(index / 2) } : { x: 560, y: 350 + 100 * index };
  };
  const rows = narrow ? Math.ceil(others.length / 2) : others.length;
  return { width: narrow ? 380 : 900, height: (narrow ? 400 : 300) + 100 * rows, place, curve: (from, to) => curve(place(from), place(to)) };
}

/** A line that leaves and enters the boxes in the direction in which they are further apart. */
function curve(from: Place, to: Place): string {
  if (Math.abs(to.x - from.x) > WIDTH) {
    const start = from.x + WIDTH / 2;
    const end = to.x - WIDTH / 2;
    const middle = (start + end) / 2;
    return `M${start} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${end} ${to.y}`;
  }
  const start = from.y + HEIGHT / 2;
  const end = to.y - HEIGHT / 2;
  const middle = (start + end) / 2;
  return `M${from.x} ${start}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${end}`;
}

export function useNarrow(): boolean {
  const query = "(max-width: 800px)";
  const [narrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = () => setNarrow(list.matches);
    list.addEventListener("change", change);
    return () => list.removeEventListener("change", change);
  }, []);
  return narrow;
}
