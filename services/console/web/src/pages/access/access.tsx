import { href, type Route } from "../../router";
import { Head } from "../../ui/shell";
import { Tabs } from "../../ui/tabs";
import { CanI } from "./can_i";
import { Rules } from "./rules";
import { WhoAmI } from "./who_am_i";
import { WhoCan } from "./who_can";

const TABS = [
  { id: "me", label: "Who am I" },
  { id: "can", label: "Can I" },
  { id: "who", label: "Who can" },
  { id: "rules", label: "My rules" },
];

export function Access({ route }: { route: Route }) {
  const tab = route.parts[0] ?? "me";
  return (
    <>
      <Head title="Access" note="Who you are, and who may do what" />
      <Tabs tabs={TABS} current={tab} link={(id) => href("access", [id])} />
      {tab === "me" && <WhoAmI />}
      {tab === "can" && <CanI />}
      {tab === "who" && <WhoCan />}
      {tab === "rules" && <Rules />}
    </>
  );
}
