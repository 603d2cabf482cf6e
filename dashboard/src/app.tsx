import { useEffect, useState } from "preact/hooks";
import { ApiFailure, loadSession, session } from "./api/client.ts";
import { Announcements, Failure, Loading } from "./ui/parts.tsx";
import { Shell, EnvironmentBar } from "./shell.tsx";
import { SignIn } from "./pages/sign-in.tsx";

/** Who is signed in decides what is shown; the address stays, so that a sign-in leads back to it. */
export function App() {
  const [failure, setFailure] = useState<ApiFailure>();
  const load = () => {
    setFailure(undefined);
    loadSession().catch((error: unknown) => {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    });
  };
  useEffect(load, []);
  const who = session.value;
  return (
    <>
      {who ? (
        <Shell key={who.user.id} who={who} />
      ) : (
        <>
          <EnvironmentBar />
          <main>
            {failure ? <Failure failure={failure} retry={load} /> : who === null ? <SignIn /> : <Loading />}
          </main>
        </>
      )}
      <Announcements />
    </>
  );
}
