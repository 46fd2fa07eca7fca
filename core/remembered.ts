/**
 * Answers that are worked out once.
 *
 * @module
 */

/**
 * The same function, which works out its answer once for each argument and
 * remembers it for as long as the argument lives. For pure functions of objects
 * that never change, such as those of a store.
 *
 * @example
 * ```ts
 * import { remembered } from "./remembered.ts";
 * const size = remembered((object: { list: number[] }) => object.list.length);
 * size({ list: [1, 2] }); // 2
 * ```
 */
export function remembered<K extends object, V>(fn: (argument: K) => V): (argument: K) => V {
  const answers = new WeakMap<K, { readonly value: V }>();
  return (argument) => {
    let answer = answers.get(argument);
    if (!answer) {
      answer = { value: fn(argument) };
      answers.set(argument, answer);
    }
    return answer.value;
  };
}
