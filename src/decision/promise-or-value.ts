/** A value that is there at once, where nothing has to be waited for. */
export type PromiseOrValue<T> = T | Promise<T>;

/** Goes on with a value: at once where it is there, so that what is known takes no turn of the event loop. */
export function andThen<A, B>(
  value: PromiseOrValue<A>,
  next: (value: A) => PromiseOrValue<B>,
): PromiseOrValue<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}
