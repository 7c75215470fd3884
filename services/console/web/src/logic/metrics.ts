/** A sample of a text in the Prometheus format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the samples of the named families; others are skipped, because /metrics is long. */
export function readMetrics(text: string, names: Set<string>): Sample[] {
  const samples: Sample[] = [];
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    const line = text.slice(start, end);
    start = end + 1;
    const nameEnd = line.search(/[{ ]/);
    if (nameEnd <= 0 || line[0] === "#" || !names.has(line.slice(0, nameEnd))) continue;
    const space = line.lastIndexOf(" ");
    const value = Number(line.slice(space + 1));
    if (Number.isNaN(value)) continue;
    samples.push({ name: line.slice(0, nameEnd), labels: readLabels(line.slice(nameEnd, space)), value });
  }
  return samples;
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name, value] of text.matchAll(LABEL)) labels[name!] = value!.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
  return labels;
}

/** An estimate of a quantile from the increments of cumulative buckets: upper limit in seconds -> count. */
export function quantile(share: number, buckets: Map<number, number>): number | undefined {
  const limits = [...buckets.keys()].sort((a, b) => a - b);
  const total = buckets.get(limits[limits.length - 1] ?? 0) ?? 0;
  if (total <= 0) return undefined;
  const wanted = share * total;
  let below = 0;
  let lower = 0;
  for (const limit of limits) {
    const count = buckets.get(limit)!;
    if (count >= wanted) {
      if (limit === Infinity) return lower;
      return lower + ((limit - lower) * (wanted - below)) / Math.max(count - below, 1e-9);
    }
    below = count;
    lower = limit;
  }
  return lower;
}
