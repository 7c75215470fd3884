export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/** The shortest difference of two texts by lines (Myers). Beyond `most` edits, the rest is one replacement. */
export function diffLines(before: string, after: string, most = 500): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = shortest(a.slice(start, a.length - end), b.slice(start, b.length - end), most);
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

function shortest(a: string[], b: string[], most: number): DiffLine[] {
  const trace: Map<number, number>[] = [];
  let frontier = new Map<number, number>([[1, 0]]);
  const limit = Math.min(a.length + b.length, most);
  for (let edits = 0; edits <= limit; edits++) {
    trace.push(new Map(frontier));
    const next = new Map(frontier);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = diagonal === -edits || (diagonal !== edits && (frontier.get(diagonal - 1) ?? -1) < (frontier.get(diagonal + 1) ?? -1));
      let x = down ? (frontier.get(diagonal + 1) ?? 0) : (frontier.get(diagonal - 1) ?? 0) + 1;
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      next.set(diagonal, x);
      if (x >= a.length && y >= b.length) return walkBack(a, b, trace);
    }
    frontier = next;
  }
  return [...a.map((text): DiffLine => ({ kind: "removed", text })), ...b.map((text): DiffLine => ({ kind: "added", text }))];
}

function walkBack(a: string[], b: string[], trace: Map<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const frontier = trace[edits]!;
    const diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && (frontier.get(diagonal - 1) ?? -1) < (frontier.get(diagonal + 1) ?? -1));
    const previous = down ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : (frontier.get(previous) ?? 0);
    const fromY = edits === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) {
      lines.push({ kind: "same", text: a[--x]! });
      y--;
    }
    if (edits === 0) break;
    if (down) lines.push({ kind: "added", text: b[--y]! });
    else lines.push({ kind: "removed", text: a[--x]! });
  }
  return lines.reverse();
}

/** The changed lines with some lines around them; undefined stands for lines that are left out. */
export function withContext(lines: DiffLine[], around = 3): (DiffLine | undefined)[] {
  const shown = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let i = index - around; i <= index + around; i++) shown.add(i);
  });
  const result: (DiffLine | undefined)[] = [];
  lines.forEach((line, index) => {
    if (shown.has(index)) result.push(line);
    else if (result.length === 0 || result[result.length - 1] !== undefined) result.push(undefined);
  });
  return result;
}
