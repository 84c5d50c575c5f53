// ReplacedFunctions are functions of objects that everybody shares, with others in their places until they are put back.

/** Returns the function that takes the place of a real one. */
type Make = (real: never) => unknown;

export class ReplacedFunctions {
  readonly #undo: (() => void)[] = [];

  /** Replaces some functions of an object. */
  replace(target: object, made: Readonly<Record<string, Make>>): void {
    for (const [name, make] of Object.entries(made)) {
      const descriptor = Object.getOwnPropertyDescriptor(target, name);
      const real: unknown = Reflect.get(target, name);
      const value = make(real as never);
      Object.defineProperty(target, name, { value, configurable: true, writable: true });
      this.#undo.push(() => {
        if (descriptor === undefined) Reflect.deleteProperty(target, name);
        else Object.defineProperty(target, name, descriptor);
      });
    }
  }

  /** Puts the real functions back. */
  restore(): void {
    for (const undo of this.#undo.splice(0).toReversed()) undo();
  }
}
