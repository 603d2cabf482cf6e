import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiFailure } from "../api/client.ts";
import { messages } from "../messages/index.ts";
import { ReloadState } from "./error-boundary.tsx";
import { Failure, Loading } from "./parts.tsx";

/** A page in a part of its own, which is loaded when the page is opened for the first time. */
export function lazyPage<Props extends object = object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => VNode {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, setVersion] = useState(0);
    const [failure, setFailure] = useState<ApiFailure | "updated">();
    const get = () => {
      setFailure(undefined);
      load().then(
        (page) => {
          loaded = page;
          setVersion((before) => before + 1);
        },
        async (error: unknown) => {
          setFailure((await isServed()) ? "updated" : new ApiFailure(0, "UNREACHABLE", String(error)));
        },
      );
    };
    useEffect(() => {
      if (loaded === undefined) get();
    }, []);
    if (loaded !== undefined) {
      const Part = loaded;
      return <Part {...props} />;
    }
    if (failure === undefined) return <Loading />;
    // browsers remember that a part could not be loaded, so only a reload asks for it again
    if (failure !== "updated") return <Failure failure={failure} retry={reload} />;
    const texts = messages.failures;
    return <ReloadState title={texts.updated} text={texts.updatedText} />;
  };
}

/** Whether the control plane answers: then a part is missing because another version is served. */
async function isServed(): Promise<boolean> {
  try {
    return (await fetch("/", { cache: "no-store", headers: { accept: "text/html" } })).ok;
  } catch {
    return false;
  }
}

function reload(): void {
  location.reload();
}
