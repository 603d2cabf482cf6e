import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call, may } from "../../api/client.ts";
import { useQuery } from "../../api/use-query.ts";
import { requirements as texts } from "../../messages/requirements.ts";
import { Page } from "../../shell.tsx";
import { Choice, Filters, TextFilter, asIs, oneOf } from "../../ui/filters.tsx";
import { Badge, Empty, Time, announce } from "../../ui/parts.tsx";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { PolicyForm } from "./form.tsx";
import { requiredBy } from "./required-by.ts";

export const TYPES = ["authentication", "authorization"] as const;
export const STATUSES = ["active", "inactive"] as const;

/** The requirements that can be assigned to customers. */
export function Policies() {
  const url = useUrlState();
  const type = oneOf(TYPES, url.values["type"]);
  const status = oneOf(STATUSES, url.values["status"]);
  const name = url.values["name"];
  const loaded = useQuery("/policies", {
    query: {
      ...listQuery(url, ["created_at", "updated_at", "name"] as const),
      ...(type && { type }),
      ...(status && { status }),
      ...(name !== undefined && { name }),
    },
  });
  const [creating, setCreating] = useState(false);
  const [, navigate] = useLocation();
  const filtered = [type, status, name].some((value) => value !== undefined);
  return (
    <Page
      title={texts.title}
      actions={
        may("configure") && (
          <button
            type="button"
            class="main"
            onClick={() => {
              setCreating(true);
            }}
          >
            {texts.create}
          </button>
        )
      }
    >
      <p class="quiet">{texts.about}</p>
      <Filters url={url} names={["name", "type", "status"]}>
        <TextFilter name="name" label={texts.search} value={name} />
        <Choice name="type" label={texts.type} url={url} options={asIs(TYPES)} />
        <Choice name="status" label={texts.status} url={url} options={asIs(STATUSES)} />
      </Filters>
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={({ id }) => id}
        empty={
          <Empty title={filtered ? texts.noMatch : texts.none}>{!filtered && <p>{texts.noneText}</p>}</Empty>
        }
        columns={[
          {
            title: texts.name,
            sort: "name",
            cell: ({ id, name: shown }) => <Link href={`/policies/${id}`}>{shown}</Link>,
          },
          { title: texts.type, cell: (policy) => policy.type },
          { title: texts.conditions, cell: ({ conditions }) => requiredBy(conditions).join("; ") },
          { title: texts.status, cell: (policy) => <Badge of={policy.status} /> },
          { title: texts.updatedAt, sort: "updated_at", cell: ({ updated_at: at }) => <Time at={at} /> },
        ]}
      />
      {creating && (
        <PolicyForm
          title={texts.create}
          given={undefined}
          save={async (body) => {
            const { data } = await call("post", "/policies", { body });
            announce(texts.created);
            navigate(`/policies/${data.id}`);
          }}
          onClose={() => {
            setCreating(false);
          }}
        />
      )}
    </Page>
  );
}
