import { messages } from "../messages/index.ts";
import { ApiFailure, type Answer } from "./client.ts";

/**
 * Changes an entry of a list, if it is still as the list shows it. A list has no ETags: the entry is read again, and the change
 * is sent with the ETag of what was read.
 *
 * @param byUse - members that change whenever the entry is used, and that nobody decides by
 * @throws ApiFailure 412, as the API itself would, if the entry is not as it was shown
 */
export async function changeAsShown<T extends object, R>(
  shown: T,
  byUse: readonly (keyof T)[],
  read: () => Promise<Answer<T>>,
  change: (etag: string | null) => Promise<R>,
): Promise<R> {
  const { data, etag } = await read();
  const names = Object.keys({ ...shown, ...data }) as (keyof T)[];
  const isSame = (name: keyof T) => JSON.stringify(shown[name]) === JSON.stringify(data[name]);
  if (!names.every((name) => byUse.includes(name) || isSame(name)))
    throw new ApiFailure(412, "PRECONDITION_FAILED", messages.failures.changed);
  return change(etag);
}
