// Reads one definition of a component's canonical section: the function that is lifted, lowered, or made for
// a resource, and its options. Only synchronous forms are known.
import type { ByteReader } from './byte-reader.ts';
import {
  type CanonicalOptions,
  type ComponentFunction,
  type CoreFunction,
  type StringEncoding,
  structure,
} from './component-outline.ts';

const ENCODINGS: readonly StringEncoding[] = ['utf8', 'utf16', 'latin1+utf16'];
const INTRINSICS: Readonly<Record<number, 'new' | 'drop' | 'rep'>> = {
  0x02: 'new',
  0x03: 'drop',
  0x04: 'rep',
};

/** Reads a definition, and adds it to a list of `into`. Throws SVC_MODULE_STRUCTURE, SVC_MODULE_MALFORMED. */
export function readCanonicalFunction(
  section: ByteReader,
  into: { readonly functions: ComponentFunction[]; readonly coreFunctions: CoreFunction[] },
): void {
  const form = section.u8();
  if (form <= 0x01) {
    if (section.u8() !== 0) section.fail('a canonical function has an unknown form');
    const index = section.u32();
    const options = readOptions(section);
    if (form === 0x01) {
      into.coreFunctions.push({ kind: 'lower', function: index, options });
    } else {
      section.u32();
      into.functions.push({ kind: 'lift', function: index, options });
    }
    return;
  }
  const intrinsic = INTRINSICS[form];
  if (intrinsic === undefined) throw unsupported(`the canonical function 0x${form.toString(16)}`);
  section.u32();
  into.coreFunctions.push({ kind: 'resource', intrinsic });
}

function readOptions(section: ByteReader): CanonicalOptions {
  let encoding: StringEncoding | undefined;
  /** Indexes of memory, realloc, post-return. */
  const indexes: (number | undefined)[] = [undefined, undefined, undefined];
  for (let left = section.count(); left > 0; left--) {
    const option = section.u8();
    if (option > 0x05) throw unsupported(`the canonical option 0x${option.toString(16)}`);
    const isTwice = option <= 0x02 ? encoding !== undefined : indexes[option - 3] !== undefined;
    if (isTwice) throw unsupported('a canonical option twice');
    if (option <= 0x02) encoding = ENCODINGS[option];
    else indexes[option - 3] = section.u32();
  }
  const [memory, realloc, postReturn] = indexes;
  return { encoding, memory, realloc, postReturn };
}

function unsupported(what: string) {
  return structure(`uses ${what}, and only synchronous functions are supported`);
}
