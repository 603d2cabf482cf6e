import { useState } from "preact/hooks";
import { changeAsShown } from "../../api/as-shown.ts";
import { call, session } from "../../api/client.ts";
import type { Item } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Confirm, ShownOnce } from "../../ui/confirm.tsx";
import { Badge, Dialog, Empty, Field, FormFailure, NamedEnvironment, Time } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";
import { Table, listQuery, type Column } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const texts = messages.settings;
const ROLES = ["viewer", "admin", "owner"] as const;
type Role = (typeof ROLES)[number];
type Member = Item<"/dashboard/users">;
interface Invitation {
  readonly url: string;
  readonly expires_at: string;
}
type Opened =
  | { readonly kind: "invite" }
  | { readonly kind: "link"; readonly invitation: Invitation }
  | { readonly kind: "role" | "remove" | "new link"; readonly member: Member };

/** The people who may sign in to the dashboard. */
export function Team() {
  const url = useUrlState();
  const loaded = useQuery("/dashboard/users", {
    query: listQuery(url, ["created_at", "email", "name"] as const),
  });
  const [opened, setOpened] = useState<Opened>();
  const close = () => {
    setOpened((now) => (now?.kind === "link" ? now : undefined));
  };
  const show = (invitation: Invitation) => {
    setOpened({ kind: "link", invitation });
    loaded.reload();
  };
  return (
    <>
      <p>
        <button
          type="button"
          onClick={() => {
            setOpened({ kind: "invite" });
          }}
        >
          {texts.invite}
        </button>
      </p>
      <Table
        caption={texts.tabs.people}
        loaded={loaded}
        url={url}
        idOf={(member) => member.id}
        empty={<Empty title={texts.none} />}
        columns={columns(setOpened)}
      />
      {opened?.kind === "invite" && <Invite onInvited={show} onClose={close} />}
      {opened?.kind === "link" && (
        <ShownOnce
          title={texts.linkTitle}
          text={texts.linkText(opened.invitation.expires_at)}
          label={texts.link}
          secret={opened.invitation.url}
          done={texts.linkDone}
          onClose={() => {
            setOpened(undefined);
          }}
        />
      )}
      {opened?.kind === "role" && (
        <ChangeRole member={opened.member} reload={loaded.reload} onClose={close} />
      )}
      {opened?.kind === "new link" && (
        <Confirm
          title={texts.newLinkOf(opened.member.email)}
          text={texts.newLinkText}
          action={texts.newLink}
          onConfirm={async () => {
            const { data } = await call("post", "/dashboard/users/{id}/invitation", {
              params: { id: opened.member.id },
            });
            show(data.invitation);
          }}
          onClose={close}
        />
      )}
      {opened?.kind === "remove" && (
        <Confirm
          title={texts.removeOf(opened.member.email)}
          text={texts.removeText}
          action={texts.remove}
          danger
          done={texts.removed}
          based={basedOn(opened.member, loaded.reload)}
          onConfirm={async () => {
            const { id } = opened.member;
            await asShown(opened.member, (ifMatch) =>
              call("delete", "/dashboard/users/{id}", { params: { id }, ifMatch }),
            );
            loaded.reload();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

function columns(open: (opened: Opened) => void): readonly Column<Member>[] {
  const self = session.value?.user.id;
  return [
    {
      title: texts.name,
      sort: "name",
      cell: ({ id, name }) => (
        <>
          {name} {id === self && <span class="quiet">{texts.you}</span>}
        </>
      ),
    },
    { title: texts.email, sort: "email", cell: ({ email }) => email },
    { title: texts.role, cell: ({ role }) => role },
    { title: texts.status, cell: ({ status }) => <Badge of={status} /> },
    { title: texts.lastSignIn, cell: (member) => <Time at={member.last_sign_in_at} /> },
    {
      title: messages.actions,
      cell: (member) =>
        member.id !== self && (
          <div class="row">
            <button
              type="button"
              aria-label={texts.changeRoleOf(member.email)}
              onClick={() => {
                open({ kind: "role", member });
              }}
            >
              {texts.changeRole}
            </button>
            {member.status === "invited" && (
              <button
                type="button"
                aria-label={texts.newLinkOf(member.email)}
                onClick={() => {
                  open({ kind: "new link", member });
                }}
              >
                {texts.newLink}
              </button>
            )}
            <button
              type="button"
              class="danger"
              aria-label={texts.removeOf(member.email)}
              onClick={() => {
                open({ kind: "remove", member });
              }}
            >
              {texts.remove}
            </button>
          </div>
        ),
    },
  ];
}

interface InviteProps {
  readonly onInvited: (invitation: Invitation) => void;
  readonly onClose: () => void;
}

function Invite({ onInvited, onClose }: InviteProps) {
  const { run, busy, failure } = useAction();
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text } = readForm(form);
      const { data } = await call("post", "/dashboard/users", {
        body: { email: text("email"), name: text("name"), role: roleOf(text("role")) },
      });
      onInvited(data.invitation);
    });
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="email" label={texts.email} failure={failure}>
          {(given) => <input {...given} type="email" autocomplete="off" required />}
        </Field>
        <Field name="name" label={texts.name} failure={failure}>
          {(given) => <input {...given} autocomplete="off" required />}
        </Field>
        <Field name="role" label={texts.role} failure={failure}>
          {(given) => (
            <select {...given}>
              {ROLES.map((role) => (
                <option key={role} value={role}>
                  {texts.roles[role]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["email", "name", "role"]} />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {texts.invite}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const read = ({ id }: Member) => call("get", "/dashboard/users/{id}", { params: { id } });
const asShown = <R,>(member: Member, change: (etag: string | null) => Promise<R>) =>
  changeAsShown(member, ["last_sign_in_at"], () => read(member), change);
const basedOn = (member: Member, reload: () => void) => ({
  on: member,
  reread: async () => (await read(member)).data,
  reload,
});

interface ChangeRoleProps {
  readonly member: Member;
  readonly reload: () => void;
  readonly onClose: () => void;
}

function ChangeRole({ member, reload, onClose }: ChangeRoleProps) {
  const [role, setRole] = useState<Role>(member.role);
  return (
    <Confirm
      title={texts.changeRoleOf(member.email)}
      text={texts.changeRoleText}
      action={texts.changeRole}
      done={texts.roleChanged}
      based={basedOn(member, reload)}
      onConfirm={async () => {
        const { id } = member;
        await asShown(member, (ifMatch) =>
          call("put", "/dashboard/users/{id}", { params: { id }, body: { role }, ifMatch }),
        );
        reload();
      }}
      onClose={onClose}
    >
      <Field name="role" label={texts.role}>
        {(given) => (
          <select
            {...given}
            value={role}
            onChange={({ currentTarget }) => {
              setRole(roleOf(currentTarget.value));
            }}
          >
            {ROLES.map((one) => (
              <option key={one} value={one}>
                {texts.roles[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Confirm>
  );
}

function roleOf(text: string): Role {
  return ROLES.find((role) => role === text) ?? "viewer";
}
