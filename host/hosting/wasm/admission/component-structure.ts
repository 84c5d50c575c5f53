// ComponentStructure: compares a component with what the host runs of it. The host runs the main core module
// alone and binds its imports and exports by their names. So everything else in the component has to agree:
// the function that an interface exports, the memory and allocator that a call uses, the target of an import.
// A component that differs, or contains more, is refused.
import {
  type CanonicalOptions,
  type ComponentFunction,
  type ComponentOutline,
  type CoreAlias,
  type CoreFunction,
  type NamedItem,
  type StringEncoding,
  structure,
} from '../binary/component-outline.ts';
import {
  type CoreInterface,
  INITIALIZE_EXPORT,
  MEMORY_EXPORT,
  REALLOC_EXPORT,
  postReturnOf,
} from '../binary/core-interface.ts';
import { type CoreModule, coreExportNames } from '../binary/core-module-reader.ts';
import { type GlueModule, type Imported, readGlueModule } from './glue-module.ts';
import { readInterfaceShell } from './interface-shell.ts';
import { printable } from '../binary/printable.ts';

type Shim = Extract<GlueModule, { kind: 'shim' }>;
type Fixup = Extract<GlueModule, { kind: 'fixup' }>;
type Lift = Extract<ComponentFunction, { kind: 'lift' }>;

const INITIALIZE = `main#${INITIALIZE_EXPORT}`;

/** Returns the index of the one core module that exports the entity's functions. */
export function mainModuleIndex(
  { coreModules }: ComponentOutline,
  { names }: CoreInterface,
): number {
  const found = [...coreModules.keys()].filter((index) =>
    coreExportNames(coreModules[index]!).includes(names.command),
  );
  const [main, second] = found;
  if (main === undefined) throw structure(`has no core module that exports '${names.command}'`);
  if (second !== undefined)
    throw structure(`has several core modules that export '${names.command}'`);
  return main;
}

/** Returns the one encoding of all strings that the component passes; `utf8` if it passes none. */
export function soleEncoding({ functions, coreFunctions }: ComponentOutline): StringEncoding {
  const encodings = new Set<StringEncoding>();
  for (const definition of [...functions, ...coreFunctions]) {
    if (definition.kind !== 'lift' && definition.kind !== 'lower') continue;
    const { encoding, memory } = definition.options;
    // A function that passes nothing through memory has no strings, so its default encoding is ignored.
    if (encoding !== undefined) encodings.add(encoding);
    else if (memory !== undefined) encodings.add('utf8');
  }
  const [encoding = 'utf8', other] = encodings;
  if (other !== undefined) throw structure(`mixes the string encodings ${encoding} and ${other}`);
  return encoding;
}

/** Throws SVC_MODULE_STRUCTURE. `core`: the module at `mainIndex`. */
export function checkStructure(
  outline: ComponentOutline,
  mainIndex: number,
  core: CoreModule,
  world: CoreInterface,
): void {
  new Structure(outline, mainIndex, world).check(core);
}

class Structure {
  readonly #outline: ComponentOutline;
  readonly #world: CoreInterface;
  /** Index of the main module's core instance. */
  readonly #main: number;
  readonly #shim: { readonly module: Shim; readonly instance: number } | undefined;
  readonly #fixups: readonly { readonly module: Fixup; readonly given: readonly NamedItem[] }[];

  constructor(outline: ComponentOutline, mainIndex: number, world: CoreInterface) {
    this.#outline = outline;
    this.#world = world;
    this.#main = this.#instanceOf(mainIndex).instance;
    const glue = [...outline.coreModules.entries()].flatMap(([index, bytes]) =>
      index === mainIndex ? [] : [{ module: readGlueModule(bytes), ...this.#instanceOf(index) }],
    );
    const shims = glue.flatMap(({ module, instance }) =>
      module.kind === 'shim' ? [{ module, instance }] : [],
    );
    this.#fixups = glue.flatMap(({ module, given }) =>
      module.kind === 'fixup' ? [{ module, given }] : [],
    );
    this.#shim = shims[0];
    if (shims.length > 1) throw structure('has several core modules that are shims');
    const filling = this.#fixups.filter(({ module }) => module.slots.length > 0);
    const starting = this.#fixups.filter(({ module }) => module.start !== undefined);
    if (filling.length > 1 || starting.length > 1 || this.#fixups.length > 2)
      throw structure('has several core modules that do the same');
  }

  check(core: CoreModule): void {
    for (const { module, given } of this.#fixups)
      if (module.start !== undefined && this.#link(given, module.start) !== INITIALIZE)
        throw structure('calls something else than its initialisation at the start');
    for (const definition of this.#outline.coreFunctions)
      if (definition.kind === 'lower') this.#checkOptions(definition.options, undefined);
    this.#checkImports(core);
    this.#checkExports(new Set(core.exports.map(({ name }) => name)));
  }

  /** Finds the one instance of a core module. */
  #instanceOf(module: number): { instance: number; given: readonly NamedItem[] } {
    const found = [...this.#outline.coreInstances.entries()].flatMap(([instance, definition]) =>
      definition.kind === 'instance' && definition.module === module
        ? [{ instance, given: definition.given }]
        : [],
    );
    const [one, second] = found;
    if (one === undefined || second !== undefined)
      throw structure('has a core module that is not instantiated exactly once');
    return one;
  }

  /** Checks that each import of the main module leads to what the host provides for it. */
  #checkImports({ imports }: CoreModule): void {
    const definition = this.#outline.coreInstances[this.#main];
    const given = definition?.kind === 'instance' ? definition.given : [];
    for (const imported of imports) {
      const { module, name } = imported;
      const wanted = module === this.#world.entityResource ? name : `${module}#${name}`;
      if (this.#link(given, imported) !== wanted)
        throw structure(
          `links the import '${printable(name)}' of '${printable(module)}' to something else`,
        );
    }
  }

  /** Finds the target of a core module's import by the arguments of its instance; '' if it is unknown. */
  #link(given: readonly NamedItem[], imported: Imported, isSlot = false): string {
    const candidates = given.filter(({ name }) => name === imported.module);
    const [argument] = candidates;
    if (argument === undefined || candidates.length > 1) return '';
    const bundle = this.#outline.coreInstances[argument.index];
    if (bundle?.kind !== 'bundle') return this.#exportOf(argument.index, imported.name, isSlot);
    const items = bundle.items.filter(({ name }) => name === imported.name);
    const [item] = items;
    if (item?.sort !== 'core function' || items.length > 1) return '';
    const found = this.#outline.coreFunctions[item.index];
    switch (found?.kind) {
      case 'resource':
        return `[resource-${found.intrinsic}]instance`;
      case 'lower':
        return this.#importedFunction(found.function);
      case 'alias':
        return this.#exportOf(found.instance, found.name, isSlot);
      case undefined:
        return '';
    }
  }

  /**
   * Finds the target of an export of a core instance: in the main module, the export itself; in the shim, what the
   * fixup puts into the shim's table. '' for any other export, and for a shim's function in a slot of the fixup
   * (`isSlot`).
   */
  #exportOf(instance: number, name: string, isSlot: boolean): string {
    if (instance === this.#main) return `main#${name}`;
    if (this.#shim === undefined || instance !== this.#shim.instance || isSlot) return '';
    const fixup = this.#fixups.find(({ module }) => module.slots.length > 0);
    const slot = fixup?.module.slots.find((_slot, at) => name === String(at));
    return slot === undefined ? '' : this.#link(fixup!.given, slot, true);
  }

  #importedFunction(index: number): string {
    const alias = this.#outline.functions[index];
    const instance = alias?.kind === 'alias' ? this.#outline.instances[alias.instance] : undefined;
    return alias?.kind === 'alias' && instance?.kind === 'imported'
      ? `${instance.name}#${alias.name}`
      : '';
  }

  /** Checks that each interface exports the main module's functions of the same names, each lifted correctly. */
  #checkExports(exported: ReadonlySet<string>): void {
    const { exports, instances, components, functions } = this.#outline;
    const shells = components.map(readInterfaceShell);
    const made = instances.filter(({ kind }) => kind === 'instance');
    if (shells.length !== exports.length || made.length !== exports.length)
      throw structure('has another number of nested components than interfaces');
    let lifted = 0;
    for (const { name: exporting, index } of exports) {
      const instance = instances[index];
      const shell = instance?.kind === 'instance' ? shells[instance.component] : undefined;
      if (instance?.kind !== 'instance' || shell === undefined)
        throw structure(`exports '${exporting}' by something else than a shell`);
      const wanted = this.#world.componentExports.get(exporting)!;
      if (shell.size !== wanted.size)
        throw structure(`exports '${exporting}' with other functions than it has`);
      lifted += wanted.size;
      for (const name of wanted.keys()) {
        const imported = shell.get(name.slice(exporting.length + 1));
        const given = instance.given.filter((item) => item.name === imported);
        const lift = given[0]?.sort === 'function' ? functions[given[0].index] : undefined;
        if (given.length !== 1 || lift?.kind !== 'lift' || this.#liftedName(lift) !== name)
          throw structure(`exports something else as '${name}'`);
        const post = postReturnOf(name);
        this.#checkOptions(lift.options, exported.has(post) ? post : undefined);
        if (lift.options.memory === undefined) throw structure(`lifts '${name}' without a memory`);
      }
    }
    if (functions.filter(({ kind }) => kind === 'lift').length !== lifted)
      throw structure('lifts more functions than its interfaces have');
  }

  #liftedName({ function: index }: Lift): string | undefined {
    return this.#nameInMain(this.#outline.coreFunctions[index]);
  }

  #nameInMain(definition: CoreFunction | CoreAlias | undefined): string | undefined {
    return definition?.kind === 'alias' && definition.instance === this.#main
      ? definition.name
      : undefined;
  }

  /**
   * Checks that memory, allocator and post-return are those that the host uses. `release`: name of the post-return
   * function; undefined if there must be none.
   */
  #checkOptions(
    { memory, realloc, postReturn }: CanonicalOptions,
    release: string | undefined,
  ): void {
    const { coreMemories, coreFunctions } = this.#outline;
    if (memory !== undefined && this.#nameInMain(coreMemories[memory]) !== MEMORY_EXPORT)
      throw structure('passes values through another memory than its own');
    if (realloc !== undefined && this.#nameInMain(coreFunctions[realloc]) !== REALLOC_EXPORT)
      throw structure(`allocates by something else than '${REALLOC_EXPORT}'`);
    const found =
      postReturn === undefined ? undefined : this.#nameInMain(coreFunctions[postReturn]);
    if (found !== release || (postReturn !== undefined && found === undefined))
      throw structure("releases a result by something else than its 'cabi_post_' function");
  }
}
