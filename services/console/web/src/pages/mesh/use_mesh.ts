import { useEffect, useState } from "preact/hooks";
import { ApiError, getText, send } from "../../api/client";
import { FAMILIES, readHealth, readProcesses, type HealthCheck, type Process, type Reading, type State } from "../../logic/mesh";
import { readMetrics } from "../../logic/metrics";

export interface Mesh {
  loaded: boolean;
  unreachable: boolean;
  metricsError?: unknown; // for example 403
  processes: Process[];
  store: State;
  checks: HealthCheck[];
}

const EVERY = 1500;
const KNOWN = ["aggregator", "core-api", "extensions-api", "authn-authz"];

/** Reads the state of the mesh again and again while the page is visible. */
export function useMesh(): Mesh {
  const [mesh, setMesh] = useState<Mesh>({ loaded: false, unreachable: false, processes: [], store: "unknown", checks: [] });
  useEffect(() => {
    const abort = new AbortController();
    let before: Reading | undefined;
    let known: Process[] = KNOWN.map((name) => ({ name, state: "unknown", groups: [], watches: 0 }));
    const round = async () => {
      const [metrics, health] = await Promise.allSettled([getText("/metrics", { signal: abort.signal }), readiness(abort.signal)]);
      if (abort.signal.aborted) return;
      const checks = health.status === "fulfilled" ? health.value : [];
      const unreachable = checks.length === 0;
      if (metrics.status === "fulfilled") {
        const now: Reading = { time: Date.now(), samples: readMetrics(metrics.value, FAMILIES) };
        known = merge(known, readProcesses(now, before));
        before = now;
      } else {
        before = undefined;
        known = known.map((one) => ({ ...one, state: stateWithoutMetrics(one, unreachable, metrics.reason) }));
      }
      const forbidden = metrics.status === "rejected" && metrics.reason instanceof ApiError && metrics.reason.code === 403;
      setMesh({ loaded: true, unreachable, metricsError: forbidden ? metrics.reason : undefined, processes: known, store: storeState(checks), checks });
    };
    let timer: ReturnType<typeof setTimeout>;
    const loop = async () => {
      if (!document.hidden) await round();
      if (!abort.signal.aborted) timer = setTimeout(loop, EVERY);
    };
    void loop();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
  return mesh;
}

/** /readyz answers 500 while a check fails; the list of checks is in the body of both answers. */
async function readiness(signal: AbortSignal): Promise<HealthCheck[]> {
  const answer = await send("GET", "/readyz?verbose", { accept: "text/plain", signal });
  return readHealth(await answer.text());
}

/** A process that is not in the metrics any more keeps its place in the picture. */
function merge(known: Process[], read: Process[]): Process[] {
  const names = new Set(read.map((one) => one.name));
  return [...read, ...known.filter((one) => !names.has(one.name)).map((one) => ({ ...one, state: "down" as State }))];
}

/** Without metrics, the aggregator is known to be down if nothing answers; the others are not known. */
function stateWithoutMetrics(process: Process, unreachable: boolean, reason: unknown): State {
  if (process.name === "aggregator") return unreachable ? "down" : "up";
  // The aggregator answers 503 to requests that it cannot authenticate or authorize.
  if (!unreachable && process.name === "authn-authz" && reason instanceof ApiError && reason.code === 503) return "down";
  return "unknown";
}

function storeState(checks: HealthCheck[]): State {
  const etcd = checks.filter((check) => check.name.startsWith("etcd"));
  if (etcd.length === 0) return "unknown";
  return etcd.every((check) => check.ok) ? "up" : "down";
}
