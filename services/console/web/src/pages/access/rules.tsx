import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { PolicyRule } from "../../logic/rbac";
import { Loading, Problem } from "../../ui/states";
import { useLoaded } from "../../ui/use";

interface Review {
  status: { resourceRules?: PolicyRule[]; nonResourceRules?: { verbs: string[]; nonResourceURLs?: string[] }[]; incomplete?: boolean; evaluationError?: string };
}

/** What the user may do in a namespace. */
export function Rules() {
  const [namespace, setNamespace] = useState("default");
  const review = useLoaded(
    () => post<Review>("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } }),
    [namespace],
  );
  return (
    <>
      <div class="question card">
        <div class="field">
          <label for="rules-namespace">Namespace</label>
          <input id="rules-namespace" data-search value={namespace} onChange={(event) => setNamespace(event.currentTarget.value.trim() || "default")} />
        </div>
      </div>
      {review.error !== undefined && <Problem error={review.error} />}
      {review.loading && !review.value && <Loading what="rules" />}
      {review.value && (
        <>
          {review.value.status.incomplete && <p class="notice">The list is not complete: {review.value.status.evaluationError || "an authorizer cannot list its rules"}.</p>}
          <div class="scroll" tabIndex={0}>
            <table class="plain">
              <thead>
                <tr>
                  <th>Verbs</th>
                  <th>Resources or paths</th>
                  <th>Groups</th>
                  <th>Names</th>
                </tr>
              </thead>
              <tbody>
                {(review.value.status.resourceRules ?? []).map((rule, index) => (
                  <tr key={index}>
                    <td>{rule.verbs.join(", ")}</td>
                    <td class="wrap">{(rule.resources ?? []).join(", ")}</td>
                    <td class="wrap">{(rule.apiGroups ?? []).map((group) => group || "core").join(", ")}</td>
                    <td class="wrap">{(rule.resourceNames ?? []).join(", ") || "any"}</td>
                  </tr>
                ))}
                {(review.value.status.nonResourceRules ?? []).map((rule, index) => (
                  <tr key={`path-${index}`}>
                    <td>{rule.verbs.join(", ")}</td>
                    <td class="wrap" colSpan={3}>
                      {(rule.nonResourceURLs ?? []).join(", ")}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}
