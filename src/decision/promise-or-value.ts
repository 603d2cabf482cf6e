/** A value, or a promise of it if there is something to wait for. */
export type PromiseOrValue<T> = T | Promise<T>;

/**
 * Continues with a value: synchronously if it is available, so that no turn of the event loop is spent on known values.
 */
export function andThen<A, B>(
  value: PromiseOrValue<A>,
  next: (value: A) => PromiseOrValue<B>,
): PromiseOrValue<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}
