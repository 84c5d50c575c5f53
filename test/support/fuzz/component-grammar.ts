// ComponentGrammar: changes the binary of a module by its structure: sections moved, doubled, dropped or
// taken from another module, names and numbers exchanged, its core module and its descriptor changed alike.
import type { Random } from '../random.ts';
import { INPUT_BYTES_MAX, havoc } from './fuzz-target.ts';
import { name, sized, u32 } from './wasm-bytes.ts';
import { generateModule } from './wasm-grammar.ts';

const CORE_MODULE = 1;
const CUSTOM = 0;
const DESCRIPTOR = 'svc:descriptor';
/** What people have broken hosts with; as long as a name that is there where it must fit. */
const NAMES = [
  'constructor',
  '__proto__',
  'toString',
  'svc:runtime/clock@0.1.1',
  'svc:runtime/clock@0.1.0\0',
  'wasi:cli/environment@0.2.0',
  'svc-host:fuel',
  'cabi_realloc',
  'memory',
  'a'.repeat(300),
  '\u001B[31m\u202Eabc',
  '${process.exit()}',
  "');process.exit();('",
];
const VALUES: readonly unknown[] = [
  null,
  -1,
  1e308,
  '',
  'x'.repeat(2000),
  [],
  {},
  true,
  '__proto__',
  '\uD800',
  { $ref: 'Loop' },
  { type: 'record', fields: [] },
  [[[[[[[[]]]]]]]],
];

interface Section {
  readonly id: number;
  readonly content: Uint8Array;
}

/** One to four changes. */
export function mutateModule(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  let mutated = bytes;
  for (let changes = 1 + random.below(4); changes > 0; changes--)
    mutated = mutateOnce(random, mutated, other);
  return mutated.subarray(0, INPUT_BYTES_MAX);
}

function mutateOnce(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  const sections = readSections(bytes);
  if (sections === undefined || sections.length === 0 || random.chance(8))
    return havoc(random, bytes);
  const at = random.below(sections.length);
  const { id, content } = sections[at]!;
  const replaced = (next: Uint8Array) => written(bytes, sections.with(at, { id, content: next }));
  switch (random.below(13)) {
    case 0:
      return written(bytes, sections.toSpliced(at, 1));
    case 1:
      return written(bytes, sections.toSpliced(at, 0, sections[at]!));
    case 2: {
      const place = random.below(sections.length);
      return written(bytes, sections.with(at, sections[place]!).with(place, sections[at]!));
    }
    case 3:
      return written(bytes, sections.with(at, { id: random.below(16), content }));
    case 4: {
      const taken = readSections(other) ?? [];
      return taken.length === 0
        ? bytes
        : written(bytes, sections.toSpliced(at, 0, random.pick(taken)));
    }
    case 5:
      return replaced(content.subarray(0, random.below(content.length + 1)));
    case 6: {
      // A length that says something else than what there is.
      const lying = [id, ...sized([...content.subarray(0, random.below(content.length + 1))])];
      return Uint8Array.from([...written(bytes, sections.slice(0, at)), ...lying]);
    }
    case 7:
      return replaced(renamed(random, content));
    case 8:
      return written(
        bytes,
        sections.map((section) => (isDescriptor(section) ? withOddJson(random, section) : section)),
      );
    case 9:
    case 10:
      return written(
        bytes,
        sections.map((section) =>
          section.id === CORE_MODULE && section.content.length > 1000
            ? { id: section.id, content: mutateOnce(random, section.content, other) }
            : section,
        ),
      );
    case 11:
      return id === CORE_MODULE && random.chance(20)
        ? replaced(generateModule(random, false).bytes)
        : replaced(havoc(random, content));
    default:
      return replaced(havoc(random, content));
  }
}

/** Undefined: it is no more than bytes. */
function readSections(bytes: Uint8Array): Section[] | undefined {
  const sections: Section[] = [];
  let at = 8;
  while (at < bytes.length) {
    const id = bytes[at++]!;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 28) return undefined;
      length += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    if (at + length > bytes.length) return undefined;
    sections.push({ id, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return sections;
}

function written(bytes: Uint8Array, sections: readonly Section[]): Uint8Array {
  return Buffer.concat([
    bytes.subarray(0, 8),
    ...sections.flatMap(({ id, content }) => [Buffer.from([id, ...u32(content.length)]), content]),
  ]);
}

/** Another name in the place of one that is there, with its length. */
function renamed(random: Random, content: Uint8Array): Uint8Array {
  const places = [...content.keys()].filter((at) => isName(content, at));
  if (places.length === 0) return content;
  const at = random.pick(places);
  return Buffer.concat([
    content.subarray(0, at),
    Buffer.from(name(random.pick(NAMES))),
    content.subarray(at + 1 + content[at]!),
  ]);
}

function isName(content: Uint8Array, at: number): boolean {
  const length = content[at]!;
  if (length < 4 || length > 100 || at + length >= content.length) return false;
  return content.subarray(at + 1, at + 1 + length).every((byte) => byte >= 0x20 && byte < 0x7f);
}

function isDescriptor({ id, content }: Section): boolean {
  return (
    id === CUSTOM &&
    Buffer.from(content.subarray(1, 1 + DESCRIPTOR.length)).toString() === DESCRIPTOR
  );
}

/** Its JSON with one value exchanged, dropped or doubled; or no JSON any more. */
function withOddJson(random: Random, section: Section): Section {
  const text = Buffer.from(section.content.subarray(1 + DESCRIPTOR.length)).toString();
  const odd = random.chance(15)
    ? text.slice(0, random.below(text.length + 1))
    : oddJson(random, text);
  return { id: section.id, content: Buffer.from([...name(DESCRIPTOR), ...Buffer.from(odd)]) };
}

function oddJson(random: Random, text: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return text;
  }
  const holders: Record<string, unknown>[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    holders.push(value as Record<string, unknown>);
    for (const part of Object.values(value)) visit(part);
  };
  visit(parsed);
  const holder = random.pick(holders.length > 0 ? holders : [{}]);
  const keys = Object.keys(holder);
  if (keys.length > 0) {
    const key = random.pick(keys);
    const change = random.below(5);
    if (change === 0) delete holder[key];
    else if (change === 1) holder[random.pick(NAMES)] = holder[key];
    else holder[key] = random.pick(VALUES);
  }
  return JSON.stringify(parsed);
}
