import { post } from "../../api/client";
import { Loading, Problem } from "../../ui/states";
import { useLoaded } from "../../ui/use";

interface Review {
  status: { userInfo: { username: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> } };
}

export function WhoAmI() {
  const review = useLoaded(() => post<Review>("/apis/authentication.k8s.io/v1/selfsubjectreviews", { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }), []);
  if (review.error) return <Problem error={review.error} />;
  if (!review.value) return <Loading what="your user" />;
  const user = review.value.status.userInfo;
  return (
    <section class="card">
      <h2>{user.username}</h2>
      <dl class="pairs">
        {user.uid && (
          <div>
            <dt>uid</dt>
            <dd>{user.uid}</dd>
          </div>
        )}
        <div>
          <dt>groups</dt>
          <dd class="tags">
            {(user.groups ?? []).map((group) => (
              <code key={group}>{group}</code>
            ))}
          </dd>
        </div>
        {Object.entries(user.extra ?? {}).map(([name, values]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{values.join(", ")}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
