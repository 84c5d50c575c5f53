// Types of the part of the WebAssembly namespace that the host uses. TypeScript has them only in its library for
// browsers, and without JavaScript Promise Integration (JSPI). This file has no code.

declare global {
  namespace WebAssembly {
    interface ModuleImport {
      readonly module: string;
      readonly name: string;
      readonly kind: string;
    }

    class Module {
      constructor(bytes: Uint8Array);
      static imports(module: Module): ModuleImport[];
    }

    class Instance {
      constructor(module: Module, imports: object);
      readonly exports: Readonly<Record<string, unknown>>;
    }

    class Memory {
      readonly buffer: ArrayBuffer;
    }

    class Global {
      value: unknown;
    }

    class CompileError extends Error {}
    class RuntimeError extends Error {}
    /** Thrown when a suspending import is called where the stack cannot be suspended. */
    class SuspendError extends Error {}

    /** Wraps an import that may return a promise: the guest's stack suspends until it settles. */
    const Suspending: new (call: (...parameters: never[]) => unknown) => object;

    /** Wraps an export whose imports may suspend. */
    function promising<Parameters extends unknown[], Result>(
      call: (...parameters: Parameters) => Result,
    ): (...parameters: Parameters) => Promise<Result>;

    function validate(bytes: Uint8Array): boolean;
  }
}
