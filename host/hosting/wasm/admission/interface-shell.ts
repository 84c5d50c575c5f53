// InterfaceShell: a component that the component tools nest in a module's component, to give the functions and
// types of an exported interface their names. It holds nothing else, and no code.
import { ByteReader } from '../binary/byte-reader.ts';
import {
  type ComponentExport,
  type ComponentExtern,
  structure,
} from '../binary/component-outline.ts';
import {
  COMPONENT_SECTION,
  checkPreamble,
  componentSections,
  readExport,
  readImport,
} from '../binary/component-reader.ts';

const EXTERNS_MAX = 1000;

/**
 * Returns exported function → name of the import that it exports. Throws SVC_MODULE_STRUCTURE for a nested component of
 * any other form, and SVC_MODULE_MALFORMED.
 */
export function readInterfaceShell(bytes: Uint8Array): ReadonlyMap<string, string> {
  checkPreamble(bytes);
  /** Index space of functions: the name of the import behind each. */
  const functions: string[] = [];
  const exports = new Map<string, string>();
  for (const { id, content } of componentSections(bytes)) {
    if (id === COMPONENT_SECTION.custom || id === COMPONENT_SECTION.type) continue;
    if (id === COMPONENT_SECTION.import)
      for (const { name, kind } of externs(content, readImport)) {
        if (kind === 'function') functions.push(name);
        else if (kind !== 'type') throw notAShell();
      }
    else if (id === COMPONENT_SECTION.export)
      for (const { name, kind, index } of externs(content, readExport)) {
        if (kind === 'type') continue;
        const imported = functions[index];
        if (kind !== 'function' || imported === undefined || exports.has(name)) throw notAShell();
        exports.set(name, imported);
        functions.push(imported);
      }
    else throw notAShell();
  }
  return exports;
}

function externs<T extends ComponentExtern | ComponentExport>(
  section: ByteReader,
  read: (section: ByteReader) => T,
): T[] {
  const found: T[] = [];
  const count = section.count();
  if (count > EXTERNS_MAX) throw notAShell();
  for (let left = count; left > 0; left--) found.push(read(section));
  section.expectDone('a section');
  return found;
}

function notAShell() {
  return structure('has a nested component that is more than the shell of an interface');
}
