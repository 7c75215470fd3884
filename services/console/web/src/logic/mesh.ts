import { quantile, type Sample } from "./metrics";

/** The families that the mesh page reads. */
export const FAMILIES = new Set([
  "apimesh_process_up",
  "apimesh_served_group_version",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_start_time_seconds",
  "apiserver_request_total",
  "apiserver_longrunning_requests",
  "apiserver_request_duration_seconds_bucket",
]);

export interface Reading {
  time: number; // milliseconds
  samples: Sample[];
}

export type State = "up" | "down" | "unknown";

export interface Process {
  name: string;
  state: State;
  groups: string[];
  memoryBytes?: number;
  startedAt?: number; // milliseconds since 1970
  cpuPercent?: number;
  requestsPerSecond?: number;
  errorsPerSecond?: number;
  p50?: number; // seconds
  p99?: number;
  watches: number;
}

const AGGREGATOR = "aggregator";
const IN_ORDER = [AGGREGATOR, "core-api", "extensions-api", "authn-authz"];

/** The processes of a mesh from two readings of its metrics; rates are missing without `before`. */
export function readProcesses(now: Reading, before?: Reading): Process[] {
  const processes = new Map<string, Process>();
  const get = (name: string) => {
    let found = processes.get(name);
    if (!found) processes.set(name, (found = { name, state: "unknown", groups: [], watches: 0 }));
    return found;
  };
  const servedBy = new Map<string, string>();
  for (const { name, labels, value } of now.samples) {
    if (name === "apimesh_process_up") get(labels.process!).state = value === 1 ? "up" : "down";
    if (name !== "apimesh_served_group_version") continue;
    const version = `${labels.group || "core"}/${labels.version}`;
    servedBy.set(`${labels.group}/${labels.version}`, labels.process!);
    get(labels.process!).groups.push(version);
  }
  for (const { name, labels, value } of now.samples) {
    const process = get(labels.process ?? AGGREGATOR);
    if (name === "process_resident_memory_bytes") process.memoryBytes = value;
    if (name === "process_start_time_seconds") process.startedAt = value * 1000;
    if (name === "apiserver_longrunning_requests" && labels.verb === "WATCH") {
      const server = servedBy.get(`${labels.group}/${labels.version}`);
      if (server && server !== AGGREGATOR) get(server).watches += value;
      get(AGGREGATOR).watches += value;
    }
  }
  if (before) addRates(now, before, servedBy, get);
  return [...processes.values()].sort((one, other) => rank(one.name) - rank(other.name) || one.name.localeCompare(other.name));
}

function rank(name: string): number {
  const index = IN_ORDER.indexOf(name);
  return index < 0 ? IN_ORDER.length : index;
}

interface Counts {
  requests: number;
  errors: number;
  buckets: Map<number, number>;
}

/** The counters of requests by process. The aggregator has all requests, the other servers those for their groups. */
function countRequests(samples: Sample[], servedBy: Map<string, string>): Map<string, Counts> {
  const byProcess = new Map<string, Counts>();
  const get = (name: string) => {
    let found = byProcess.get(name);
    if (!found) byProcess.set(name, (found = { requests: 0, errors: 0, buckets: new Map() }));
    return found;
  };
  for (const { name, labels, value } of samples) {
    if (name !== "apiserver_request_total" && name !== "apiserver_request_duration_seconds_bucket") continue;
    const server = servedBy.get(`${labels.group}/${labels.version}`);
    for (const process of server && server !== AGGREGATOR ? [AGGREGATOR, server] : [AGGREGATOR]) {
      const counts = get(process);
      if (name === "apiserver_request_total") {
        counts.requests += value;
        if (labels.code?.startsWith("5")) counts.errors += value;
      } else if (labels.verb !== "WATCH" && labels.verb !== "CONNECT") {
        const limit = labels.le === "+Inf" ? Infinity : Number(labels.le);
        counts.buckets.set(limit, (counts.buckets.get(limit) ?? 0) + value);
      }
    }
  }
  return byProcess;
}

function addRates(now: Reading, before: Reading, servedBy: Map<string, string>, get: (name: string) => Process) {
  const seconds = (now.time - before.time) / 1000;
  if (seconds <= 0) return;
  const earlier = countRequests(before.samples, servedBy);
  for (const [name, counts] of countRequests(now.samples, servedBy)) {
    const process = get(name);
    const old = earlier.get(name) ?? { requests: 0, errors: 0, buckets: new Map<number, number>() };
    if (counts.requests < old.requests) continue; // the process was restarted and counts from zero
    process.requestsPerSecond = (counts.requests - old.requests) / seconds;
    process.errorsPerSecond = Math.max(counts.errors - old.errors, 0) / seconds;
    const increments = new Map([...counts.buckets].map(([limit, count]) => [limit, count - (old.buckets.get(limit) ?? 0)]));
    process.p50 = quantile(0.5, increments);
    process.p99 = quantile(0.99, increments);
  }
  const cpu = (reading: Reading) =>
    new Map(reading.samples.filter((one) => one.name === "process_cpu_seconds_total").map((one) => [one.labels.process ?? AGGREGATOR, one.value]));
  const cpuBefore = cpu(before);
  for (const [name, value] of cpu(now)) {
    const old = cpuBefore.get(name);
    if (old !== undefined && value >= old) get(name).cpuPercent = ((value - old) / seconds) * 100;
  }
}

export interface HealthCheck {
  name: string;
  ok: boolean;
}

/** Reads the answer of /readyz?verbose. */
export function readHealth(text: string): HealthCheck[] {
  return [...text.matchAll(/^\[([+-])\](\S+)/gm)].map((match) => ({ name: match[2]!, ok: match[1] === "+" }));
}
