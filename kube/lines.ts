/**
 * Lines out of a stream of bytes.
 *
 * @module
 */

/**
 * Cuts bytes, however they are split, into lines. A chunk may hold several lines, a
 * line or a character may span several chunks.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #maxLength: number;
  #pieces: string[] = [];
  #length = 0;

  /** `maxLength` is the longest line taken, in UTF-16 units. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /**
   * The lines that these bytes complete, without blank ones.
   *
   * @throws {RangeError} when a line gets too long
   */
  push(bytes: Uint8Array): string[] {
    const parts = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const last = parts.pop() ?? "";
    const lines: string[] = [];
    for (const part of parts) {
      this.#add(part);
      const line = this.#take();
      if (line.trim() !== "") lines.push(line);
    }
    this.#add(last);
    return lines;
  }

  /** What is left after the last newline. */
  rest(): string {
    this.#add(this.#decoder.decode());
    return this.#take().trim();
  }

  #add(piece: string): void {
    this.#length += piece.length;
    if (this.#length > this.#maxLength) {
      throw new RangeError(`a line is longer than ${this.#maxLength} characters`);
    }
    if (piece !== "") this.#pieces.push(piece);
  }

  #take(): string {
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
