// ComponentOutline: what a component's binary says at its top level. Reading runs no code and
// keeps no copy: core modules and custom sections are views of the file. Sections whose content the
// host does not act on (types, aliases, instances, nested components) are only stepped over.
import { SvcError } from '../../model/svc-error.ts';
import { ByteReader } from './byte-reader.ts';

export type StringEncoding = 'utf8' | 'utf16' | 'latin1+utf16';

export interface ComponentExtern {
  readonly name: string;
  readonly kind: string;
}

export interface CustomSection {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ComponentOutline {
  readonly imports: readonly ComponentExtern[];
  readonly exports: readonly ComponentExtern[];
  readonly coreModules: readonly Uint8Array[];
  readonly nestedComponents: number;
  /** The encodings that the functions of the component name in their canonical options. */
  readonly stringEncodings: ReadonlySet<StringEncoding>;
  readonly customSections: readonly CustomSection[];
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
const CORE_VERSION = [0x01, 0x00, 0x00, 0x00];
const COMPONENT_VERSION = [0x0d, 0x00, 0x01, 0x00];
const SECTION = {
  custom: 0,
  coreModule: 1,
  component: 4,
  canon: 8,
  import: 10,
  export: 11,
} as const;
const LAST_SECTION = 12;
const KINDS = ['core module', 'function', 'value', 'type', 'component', 'instance'];
/** What a component of the tools has a few dozen of; each takes host memory before it is judged. */
const SECTIONS_MAX = 10_000;
const EXTERNS_MAX = 1000;
const ENCODINGS: readonly StringEncoding[] = ['utf8', 'utf16', 'latin1+utf16'];

/**
 * Reads a component. Throws SVC_MODULE_NOT_WASM, SVC_MODULE_NOT_A_COMPONENT, SVC_MODULE_MALFORMED,
 * and SVC_MODULE_STRUCTURE for a function whose canonical options the host does not know, and for
 * absurd counts.
 */
export function readComponent(bytes: Uint8Array): ComponentOutline {
  checkPreamble(bytes);
  const imports: ComponentExtern[] = [];
  const exports: ComponentExtern[] = [];
  const coreModules: Uint8Array[] = [];
  const customSections: CustomSection[] = [];
  const stringEncodings = new Set<StringEncoding>();
  let nestedComponents = 0;
  let sections = 0;
  const reader = new ByteReader(bytes, 8);
  while (!reader.done) {
    const id = reader.u8();
    const section = reader.part(reader.u32());
    if (++sections > SECTIONS_MAX) throw unsupportedCount('sections', SECTIONS_MAX);
    if (id === SECTION.custom) {
      customSections.push({ name: section.name(), bytes: section.rest() });
      continue;
    }
    if (id === SECTION.coreModule) {
      coreModules.push(section.rest());
      continue;
    }
    if (id === SECTION.component) nestedComponents++;
    else if (id === SECTION.import) readImports(section, imports);
    else if (id === SECTION.export) readExports(section, exports);
    else if (id === SECTION.canon) readCanonicalFunctions(section, stringEncodings);
    else if (id > LAST_SECTION) reader.fail(`section ${id} is unknown`);
  }
  return { imports, exports, coreModules, nestedComponents, stringEncodings, customSections };
}

const startsWith = (bytes: Uint8Array, prefix: readonly number[], at: number) =>
  prefix.every((byte, index) => bytes[at + index] === byte);

function checkPreamble(bytes: Uint8Array): void {
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

function readImports(section: ByteReader, into: ComponentExtern[]): void {
  for (let left = section.count(); left > 0; left--)
    addExtern(into, { name: readExternName(section), kind: readExternType(section) });
  section.expectDone('the import section');
}

function readExports(section: ByteReader, into: ComponentExtern[]): void {
  for (let left = section.count(); left > 0; left--) {
    const name = readExternName(section);
    const sort = section.u8();
    if (sort === 0) section.u8();
    section.u32();
    addExtern(into, { name, kind: KINDS[sort] ?? section.fail(`sort ${sort} is unknown`) });
    const typed = section.u8();
    if (typed === 1) readExternType(section);
    else if (typed !== 0) section.fail('an export has an unknown form');
  }
  section.expectDone('the export section');
}

function addExtern(into: ComponentExtern[], extern: ComponentExtern): void {
  if (into.length >= EXTERNS_MAX) throw unsupportedCount('imports or exports', EXTERNS_MAX);
  into.push(extern);
}

function readExternName(section: ByteReader): string {
  const form = section.u8();
  if (form > 1) section.fail(`a name has the unknown form ${form}`);
  return section.name();
}

function readExternType(section: ByteReader): string {
  const sort = section.u8();
  const kind = KINDS[sort] ?? section.fail(`sort ${sort} is unknown`);
  if (kind === 'core module') {
    if (section.u8() !== 0x11) section.fail('a core sort is unknown');
    section.u32();
  } else if (kind === 'value') {
    if (section.u8() === 0) section.u32();
    else section.skipSigned(5);
  } else if (kind === 'type') {
    const bound = section.u8();
    if (bound === 0) section.u32();
    else if (bound !== 1) section.fail('a type bound is unknown');
  } else {
    section.u32();
  }
  return kind;
}

/** Canonical functions: only lift, lower and those of resources; no asynchronous ones. */
function readCanonicalFunctions(section: ByteReader, encodings: Set<StringEncoding>): void {
  for (let left = section.count(); left > 0; left--) {
    const form = section.u8();
    if (form === 0x00 || form === 0x01) {
      if (section.u8() !== 0) section.fail('a canonical function has an unknown form');
      section.u32();
      readCanonicalOptions(section, encodings);
      if (form === 0x00) section.u32();
    } else if (form >= 0x02 && form <= 0x04) {
      section.u32();
    } else {
      throw unsupportedCanonical(`the canonical function 0x${form.toString(16)}`);
    }
  }
  section.expectDone('the canonical section');
}

function readCanonicalOptions(section: ByteReader, encodings: Set<StringEncoding>): void {
  let encoding: StringEncoding | undefined;
  let usesMemory = false;
  for (let left = section.count(); left > 0; left--) {
    const option = section.u8();
    if (option <= 0x02) {
      encoding = ENCODINGS[option];
    } else if (option <= 0x05) {
      // Memory, realloc, post-return: an index each.
      section.u32();
      usesMemory = true;
    } else {
      throw unsupportedCanonical(`the canonical option 0x${option.toString(16)}`);
    }
  }
  // A function that passes nothing through memory has no strings, so its default says nothing.
  if (encoding !== undefined) encodings.add(encoding);
  else if (usesMemory) encodings.add('utf8');
}

function unsupportedCount(what: string, max: number): SvcError {
  return new SvcError(
    'SVC_MODULE_STRUCTURE',
    `The module has more than ${max} ${what}. Build it with \`svc build\`.`,
  );
}

function unsupportedCanonical(what: string): SvcError {
  return new SvcError(
    'SVC_MODULE_STRUCTURE',
    `The module uses ${what}, which this host does not support. ` +
      'Build it with synchronous functions only, as `svc build` does.',
  );
}
