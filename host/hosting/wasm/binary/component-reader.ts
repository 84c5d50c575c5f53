// ComponentReader reads a component's binary into a ComponentOutline. Reading runs no code. The reader decodes the
// definitions that the host uses or compares. It skips type definitions, which the host neither uses nor compares, and
// refuses definitions that the component tools do not write for the world `service`.
import { SvcError } from '@svc/kit/svc-error';
import { ByteReader } from './byte-reader.ts';
import { readCanonicalFunction } from './canonical-function-reader.ts';
import {
  type ComponentExport,
  type ComponentExtern,
  type ComponentOutline,
  type ComponentSort,
  type CoreAlias,
  type Item,
  type NamedItem,
  structure,
} from './component-outline.ts';

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
const CORE_VERSION = [0x01, 0x00, 0x00, 0x00];
const COMPONENT_VERSION = [0x0d, 0x00, 0x01, 0x00];
export const COMPONENT_SECTION = {
  custom: 0,
  coreModule: 1,
  coreInstance: 2,
  component: 4,
  instance: 5,
  alias: 6,
  type: 7,
  canon: 8,
  import: 10,
  export: 11,
} as const;
/** Highest section number of the component format. */
const LAST_SECTION = 12;
const SORTS = [undefined, 'function', undefined, 'type', 'component', 'instance'] as const;
const CORE_SORTS: ReadonlyMap<number, ComponentSort> = new Map([
  [0x00, 'core function'],
  [0x01, 'core table'],
  [0x02, 'core memory'],
  [0x03, 'core global'],
  [0x11, 'core module'],
  [0x12, 'core instance'],
]);
/**
 * Maximum number of sections. The component tools write a few dozen; each takes memory of the host before the module is
 * admitted or refused.
 */
const SECTIONS_MAX = 10_000;
/** Maximum number of imports, of exports, and of the arguments or items of one instance. */
const EXTERNS_MAX = 1000;
/** Maximum number of definitions in all sections together. */
const DEFINITIONS_MAX = 10_000;

type Outline = {
  -readonly [Key in keyof ComponentOutline]: ComponentOutline[Key] extends readonly (infer T)[]
    ? T[]
    : never;
};

/**
 * Reads a component. Throws SVC_MODULE_NOT_WASM, SVC_MODULE_NOT_A_COMPONENT, SVC_MODULE_MALFORMED, and
 * SVC_MODULE_STRUCTURE for definitions that the host does not know, and for counts above the limits.
 */
export function readComponent(bytes: Uint8Array): ComponentOutline {
  checkPreamble(bytes);
  const outline: Outline = {
    imports: [],
    exports: [],
    coreModules: [],
    components: [],
    coreInstances: [],
    coreFunctions: [],
    coreMemories: [],
    coreTables: [],
    functions: [],
    instances: [],
    customSections: [],
  };
  let definitions = 0;
  for (const { id, content } of componentSections(bytes)) {
    switch (id) {
      case COMPONENT_SECTION.custom:
        outline.customSections.push({ name: content.name(), bytes: content.rest() });
        continue;
      case COMPONENT_SECTION.coreModule:
        outline.coreModules.push(content.rest());
        continue;
      case COMPONENT_SECTION.component:
        outline.components.push(content.rest());
        continue;
      // Component types are not read: the host binds functions by the types of the core module.
      case COMPONENT_SECTION.type:
        continue;
      default:
    }
    const read = READERS[id];
    if (read === undefined) throw unknownSection(id, content);
    const count = content.count();
    definitions += count;
    if (definitions > DEFINITIONS_MAX) throw tooMany('definitions', DEFINITIONS_MAX);
    for (let left = count; left > 0; left--) read(content, outline);
    content.expectDone('a section');
  }
  return outline;
}

export interface ComponentSection {
  readonly id: number;
  readonly content: ByteReader;
}

/** Yields the sections of a component or of a nested one, in order. */
export function* componentSections(bytes: Uint8Array): Generator<ComponentSection> {
  const reader = new ByteReader(bytes, 8);
  for (let count = 1; !reader.done; count++) {
    if (count > SECTIONS_MAX) throw tooMany('sections', SECTIONS_MAX);
    const id = reader.u8();
    yield { id, content: reader.part(reader.u32()) };
  }
}

/** Returns the error for a section that is not read. Throws SVC_MODULE_MALFORMED if the format has no such section. */
export function unknownSection(id: number, content: ByteReader): SvcError {
  if (id > LAST_SECTION) content.fail(`section ${id} is unknown`);
  return structure(`has a section ${id}, which no component of the world has`);
}

const startsWith = (bytes: Uint8Array, prefix: readonly number[], at: number) =>
  prefix.every((byte, index) => bytes[at + index] === byte);

/** Checks the first bytes. Throws SVC_MODULE_NOT_WASM, SVC_MODULE_NOT_A_COMPONENT. */
export function checkPreamble(bytes: Uint8Array): void {
  if (!startsWith(bytes, MAGIC, 0))
    throw new SvcError(
      'SVC_MODULE_NOT_WASM',
      'The file is not WebAssembly: it does not begin with the bytes of a wasm binary. ' +
        'Give the .wasm file that `svc build` wrote.',
    );
  if (bytes.length < 8) new ByteReader(bytes, bytes.length).fail('it ends too early');
  if (startsWith(bytes, CORE_VERSION, 4))
    throw new SvcError(
      'SVC_MODULE_NOT_A_COMPONENT',
      'The file is a core WebAssembly module, not a component. ' +
        'Build it with `svc build`, which wraps the module into a component.',
    );
  if (!startsWith(bytes, COMPONENT_VERSION, 4))
    throw new SvcError(
      'SVC_MODULE_NOT_A_COMPONENT',
      'The file is WebAssembly of a binary version that is not a component of this host. ' +
        'Build the module again with the current `svc build`.',
    );
}

/** Section number → function that reads one of its definitions into the outline. */
const READERS: Readonly<Record<number, (section: ByteReader, outline: Outline) => void>> = {
  [COMPONENT_SECTION.coreInstance]: readCoreInstance,
  [COMPONENT_SECTION.instance]: readInstance,
  [COMPONENT_SECTION.alias]: readAlias,
  [COMPONENT_SECTION.canon]: readCanonicalFunction,
  [COMPONENT_SECTION.import](section, { imports, instances }) {
    const extern = readImport(section);
    checkCount(imports);
    imports.push(extern);
    if (extern.kind === 'instance') instances.push({ kind: 'imported', name: extern.name });
  },
  [COMPONENT_SECTION.export](section, { exports, instances }) {
    const extern = readExport(section);
    checkCount(exports);
    exports.push(extern);
    if (extern.kind === 'instance') instances.push({ kind: 'exported' });
  },
};

function checkCount(externs: readonly unknown[]): void {
  if (externs.length >= EXTERNS_MAX) throw tooMany('imports or exports', EXTERNS_MAX);
}

export function readImport(section: ByteReader): ComponentExtern {
  return { name: readExternName(section), kind: readExternType(section) };
}

export function readExport(section: ByteReader): ComponentExport {
  const name = readExternName(section);
  const { sort, index } = readItem(section);
  const typed = section.u8();
  if (typed === 1) readExternType(section);
  else if (typed !== 0) section.fail('an export has an unknown form');
  return { name, kind: sort, index };
}

function readExternName(section: ByteReader): string {
  const form = section.u8();
  if (form > 1) section.fail(`a name has the unknown form ${form}`);
  return section.name();
}

function readExternType(section: ByteReader): ComponentSort {
  const form = section.u8();
  if (form === 0) {
    if (section.u8() !== 0x11) section.fail('a core sort is unknown');
    section.u32();
    return 'core module';
  }
  const sort = SORTS[form] ?? section.fail(`sort ${form} is unknown`);
  if (sort === 'type') {
    const bound = section.u8();
    if (bound === 0) section.u32();
    else if (bound !== 1) section.fail('a type bound is unknown');
  } else section.u32();
  return sort;
}

function readSort(section: ByteReader): ComponentSort {
  const form = section.u8();
  const sort = form === 0 ? CORE_SORTS.get(section.u8()) : SORTS[form];
  return sort ?? section.fail(`sort ${form} is unknown`);
}

function readItem(section: ByteReader): Item {
  return { sort: readSort(section), index: section.u32() };
}

function readNamed(section: ByteReader, readSomeItem: (section: ByteReader) => Item): NamedItem[] {
  const items: NamedItem[] = [];
  for (let left = section.count(); left > 0; left--) {
    if (items.length === EXTERNS_MAX) throw tooMany('arguments', EXTERNS_MAX);
    items.push({ name: section.name(), ...readSomeItem(section) });
  }
  return items;
}

function readCoreInstance(section: ByteReader, { coreInstances }: Outline): void {
  const form = section.u8();
  if (form === 0) {
    const module = section.u32();
    coreInstances.push({ kind: 'instance', module, given: readNamed(section, readCoreArgument) });
  } else if (form === 1) {
    coreInstances.push({ kind: 'bundle', items: readNamed(section, readCoreItem) });
  } else section.fail('a core instance has an unknown form');
}

function readCoreArgument(section: ByteReader): Item {
  if (section.u8() !== 0x12) section.fail('an argument of a core module is no instance');
  return { sort: 'core instance', index: section.u32() };
}

function readCoreItem(section: ByteReader): Item {
  const form = section.u8();
  const sort = CORE_SORTS.get(form) ?? section.fail(`the core sort ${form} is unknown`);
  return { sort, index: section.u32() };
}

function readInstance(section: ByteReader, { instances }: Outline): void {
  if (section.u8() !== 0) throw structure('bundles exports into an instance');
  const component = section.u32();
  const given = readNamed(section, (items) => {
    const form = items.u8();
    const sort = form === 0 ? CORE_SORTS.get(items.u8()) : SORTS[form];
    return {
      sort: sort ?? items.fail(`sort ${form} is unknown`),
      index: items.u32(),
    };
  });
  instances.push({ kind: 'instance', component, given });
}

function readAlias(section: ByteReader, outline: Outline): void {
  const sort = readSort(section);
  const target = section.u8();
  if (target > 1) throw structure('refers to what lies outside of it');
  const instance = section.u32();
  const name = section.name();
  if (target === 0) {
    if (sort === 'function') outline.functions.push({ kind: 'alias', instance, name });
    else if (sort !== 'type') throw structure(`takes a ${sort} out of an instance`);
    return;
  }
  const alias: CoreAlias = { kind: 'alias', instance, name };
  if (sort === 'core function') outline.coreFunctions.push(alias);
  else if (sort === 'core memory') outline.coreMemories.push(alias);
  else if (sort === 'core table') outline.coreTables.push(alias);
  else throw structure(`takes a ${sort} out of a core instance`);
}

function tooMany(what: string, max: number): SvcError {
  return new SvcError(
    'SVC_MODULE_STRUCTURE',
    `The module has more than ${max} ${what}. Build it with \`svc build\`.`,
  );
}
