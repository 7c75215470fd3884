import { Problem, Loading } from "../../ui/states";
import { Head } from "../../ui/shell";
import { Picture } from "./picture";
import { ProcessCards } from "./processes";
import { useMesh } from "./use_mesh";

export function MeshPage() {
  const mesh = useMesh();
  const down = mesh.processes.filter((one) => one.state !== "up");
  return (
    <>
      <Head
        title="Mesh"
        note={
          mesh.unreachable
            ? "The aggregator does not answer."
            : mesh.metricsError
              ? "Only health checks are available."
              : down.length === 0
                ? "All processes answer."
                : `Not answering: ${down.map((one) => one.name).join(", ")}.`
        }
      />
      {mesh.metricsError !== undefined && <Problem error={mesh.metricsError} needs="get on the path /metrics (the ClusterRole system:monitoring permits it)" />}
      {!mesh.loaded && <Loading what="the mesh" />}
      {mesh.loaded && (
        <>
          <Picture processes={mesh.processes} store={mesh.store} />
          <ProcessCards processes={mesh.processes} />
          <section class="card">
            <h2>Health checks</h2>
            <ul class="checks">
              {mesh.checks.map((check) => (
                <li key={check.name} class={check.ok ? "ok" : "bad"}>
                  {check.name}
                  <span class="visually-hidden">{check.ok ? " succeeds" : " fails"}</span>
                </li>
              ))}
            </ul>
            {mesh.checks.length === 0 && <p class="muted">No answer to /readyz.</p>}
          </section>
        </>
      )}
    </>
  );
}
