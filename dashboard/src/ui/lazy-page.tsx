import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiFailure } from "../api/client.ts";
import { Failure, Loading } from "./parts.tsx";

/** A page in a part of its own, which is loaded when the page is opened for the first time. */
export function lazyPage<Props extends object = object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => VNode {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, setVersion] = useState(0);
    const [failure, setFailure] = useState<ApiFailure>();
    const get = () => {
      setFailure(undefined);
      load().then(
        (page) => {
          loaded = page;
          setVersion((before) => before + 1);
        },
        // the part was not reached, or belongs to a version that is no longer served
        (error: unknown) => {
          setFailure(new ApiFailure(0, "UNREACHABLE", String(error)));
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
    return failure ? <Failure failure={failure} retry={get} /> : <Loading />;
  };
}
