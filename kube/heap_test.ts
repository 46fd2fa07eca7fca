import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Heap } from "./heap.ts";

Deno.test("Heap gives the least item of those in it, whatever the order of pushes and pops", () => {
  const command = fc.option(fc.integer(), { nil: undefined });
  fc.assert(fc.property(fc.array(command, { maxLength: 100 }), (commands) => {
    const heap = new Heap<number>((a, b) => a < b);
    const model: number[] = [];
    for (const value of commands) {
      if (value !== undefined) {
        heap.push(value);
        model.push(value);
        model.sort((a, b) => a - b);
      } else {
        assertEquals(heap.pop(), model.shift());
      }
      assertEquals([heap.size, heap.peek()], [model.length, model[0]]);
    }
  }));
});
