// ComponentOutline: the definitions at the top level of a component's binary, as index spaces in file order.
// The outline copies nothing of the file: core modules, nested components and custom sections are views.
import { SvcError } from '@svc/kit/svc-error';

export type StringEncoding = 'utf8' | 'utf16' | 'latin1+utf16';

export interface ComponentExtern {
  readonly name: string;
  readonly kind: ComponentSort;
}

export type ComponentSort =
  | 'core function'
  | 'core table'
  | 'core memory'
  | 'core global'
  | 'core module'
  | 'core instance'
  | 'function'
  | 'type'
  | 'component'
  | 'instance';

/** An item of an index space. */
export interface Item {
  readonly sort: ComponentSort;
  readonly index: number;
}
export interface NamedItem extends Item {
  readonly name: string;
}

export interface CustomSection {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** An export of a core instance. `instance`: index of the core instance. */
export interface CoreAlias {
  readonly kind: 'alias';
  readonly instance: number;
  readonly name: string;
}

/** `memory`, `realloc`, `postReturn`: indexes of core memories and core functions. Undefined: the option is absent. */
export interface CanonicalOptions {
  readonly encoding: StringEncoding | undefined;
  readonly memory: number | undefined;
  readonly realloc: number | undefined;
  readonly postReturn: number | undefined;
}

export type CoreInstance =
  /** An instance of a core module. `given`: the arguments of the instantiation. */
  | { readonly kind: 'instance'; readonly module: number; readonly given: readonly NamedItem[] }
  /** Items under names, without a core module (inline exports). */
  | { readonly kind: 'bundle'; readonly items: readonly NamedItem[] };

export type CoreFunction =
  | CoreAlias
  | { readonly kind: 'lower'; readonly function: number; readonly options: CanonicalOptions }
  | { readonly kind: 'resource'; readonly intrinsic: 'new' | 'drop' | 'rep' };

export type ComponentFunction =
  | { readonly kind: 'alias'; readonly instance: number; readonly name: string }
  | { readonly kind: 'lift'; readonly function: number; readonly options: CanonicalOptions };

export type ComponentInstance =
  | { readonly kind: 'imported'; readonly name: string }
  /** An instance of a nested component. `given`: the arguments of the instantiation. */
  | { readonly kind: 'instance'; readonly component: number; readonly given: readonly NamedItem[] }
  /** The item that an export of an instance adds to the index space of instances. */
  | { readonly kind: 'exported' };

export interface ComponentExport extends ComponentExtern {
  readonly index: number;
}

export interface ComponentOutline {
  readonly imports: readonly ComponentExtern[];
  readonly exports: readonly ComponentExport[];
  readonly coreModules: readonly Uint8Array[];
  readonly components: readonly Uint8Array[];
  readonly coreInstances: readonly CoreInstance[];
  readonly coreFunctions: readonly CoreFunction[];
  readonly coreMemories: readonly CoreAlias[];
  readonly coreTables: readonly CoreAlias[];
  readonly functions: readonly ComponentFunction[];
  readonly instances: readonly ComponentInstance[];
  readonly customSections: readonly CustomSection[];
}

/** Creates an error SVC_MODULE_STRUCTURE. `problem`: a sentence about the module, without its subject. */
export function structure(problem: string): SvcError {
  return new SvcError(
    'SVC_MODULE_STRUCTURE',
    `The module ${problem}. Build it with \`svc build\` for the world 'service' of svc:runtime.`,
  );
}
