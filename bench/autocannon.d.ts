// What the benchmark uses of autocannon, which has no types of its own.
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    readonly requests: readonly {
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
    }[];
  }
  interface Outcome {
    readonly non2xx: number;
    readonly errors: number;
    /** Per second. */
    readonly requests: { readonly average: number };
  }
  function autocannon(options: Options): Promise<Outcome>;
  // oxlint-disable-next-line import/no-default-export -- it is a CommonJS module
  export default autocannon;
}
