import { formatRate } from "../../logic/format";
import type { Process, State } from "../../logic/mesh";
import { HEIGHT, WIDTH, layoutOf, useNarrow, type Place } from "./layout";

const NODES = ["clients", "aggregator", "authn-authz", "core-api", "extensions-api", "store"];
const EDGES: [string, string][] = [
  ["clients", "aggregator"],
  ["aggregator", "authn-authz"],
  ["aggregator", "core-api"],
  ["aggregator", "extensions-api"],
  ["core-api", "store"],
  ["extensions-api", "store"],
];

/** The processes and their connections. Lines move while requests pass, and a process that is down is red. */
export function Picture({ processes, store }: { processes: Process[]; store: State }) {
  const byName = new Map(processes.map((one) => [one.name, one]));
  const others = processes.map((one) => one.name).filter((name) => !NODES.includes(name));
  const { width, height, place, curve } = layoutOf(useNarrow(), others);
  const state = (name: string): State => (name === "clients" ? "up" : name === "store" ? store : (byName.get(name)?.state ?? "unknown"));
  const edges: [string, string][] = [...EDGES, ...others.flatMap((name): [string, string][] => [["aggregator", name], [name, "store"]])];
  const names = [...NODES, ...others];
  return (
    <div class="card picture">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={names.slice(1).map((name) => `${name}: ${describe(state(name))}`).join(", ")}>
        {edges.map(([from, to]) => {
          const broken = state(from) === "down" || state(to) === "down";
          const busy = !broken && (byName.get(to) ?? byName.get(from))?.state === "up" && rate(byName, from, to) > 0;
          return <path key={`${from}-${to}`} class={`edge ${broken ? "broken" : busy ? "busy" : ""}`} d={curve(from, to)} />;
        })}
        {names.map((name) => (
          <Node key={name} name={name} place={place(name)} state={state(name)} process={byName.get(name)} />
        ))}
      </svg>
    </div>
  );
}

/** The requests that pass a connection. Every request is authenticated and authorized. */
function rate(byName: Map<string, Process>, from: string, to: string): number {
  const server = to === "store" ? from : to === "authn-authz" ? "aggregator" : to;
  return byName.get(server)?.requestsPerSecond ?? 0;
}

function Node({ name, place, state, process }: { name: string; place: Place; state: State; process?: Process }) {
  return (
    <g class={`node ${state}`} transform={`translate(${place.x - WIDTH / 2} ${place.y - HEIGHT / 2})`} data-process={name} data-state={state}>
      <rect width={WIDTH} height={HEIGHT} rx="12" />
      <circle cx="20" cy="24" r="6" />
      <text class="name" x="34" y="29">
        {name}
      </text>
      <text class="detail" x="20" y="50">
        {name === "clients" ? "kubectl, controllers" : detail(name, state, process)}
      </text>
    </g>
  );
}

function detail(name: string, state: State, process: Process | undefined): string {
  if (state === "down") return "does not answer";
  if (state === "unknown") return "state not known";
  if (name === "store") return "etcd API, healthy";
  if (name === "authn-authz") return "who may do what";
  if (process?.requestsPerSecond === undefined) return "up";
  return `${formatRate(process.requestsPerSecond)}, ${process.watches} ${process.watches === 1 ? "watch" : "watches"}`;
}

function describe(state: State): string {
  return state === "up" ? "up" : state === "down" ? "down" : "not known";
}
