// Component turns a core module into a component. It adds the contract's types, the adapters of the canonical ABI, and
// the descriptor as a custom section, so that reading the descriptor runs no code.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { componentEmbed, componentNew } from '@bytecodealliance/jco';
import { DESCRIPTOR_SECTION, type ModuleDescriptor } from '@svc/contract';

/** Possible locations of the contract: a published package contains a copy; the file is at the repository's root. */
const WIT_FILES = ['../wit/runtime.wit', '../../wit/runtime.wit'].map(
  (path) => new URL(path, import.meta.url),
);

export async function componentOf(
  core: Uint8Array,
  descriptor: ModuleDescriptor,
): Promise<Uint8Array> {
  const embedded = await componentEmbed({
    binary: core,
    witSource: await readFile(
      WIT_FILES.find((file) => existsSync(file))!,
      'utf8',
    ),
    world: worldOf(descriptor),
    stringEncoding: 'utf16',
  });
  const component = await componentNew(embedded);
  return withSection(
    component,
    DESCRIPTOR_SECTION,
    new TextEncoder().encode(JSON.stringify(descriptor)),
  );
}

function worldOf({ views, consumers }: ModuleDescriptor): string {
  const parts = [...(views ? ['views'] : []), ...(consumers ? ['consumers'] : [])];
  return parts.length === 0 ? 'service' : `service-with-${parts.join('-and-')}`;
}

function withSection(module: Uint8Array, name: string, content: Uint8Array): Uint8Array {
  const nameBytes = new TextEncoder().encode(name);
  const nameLength = leb128(nameBytes.length);
  const size = leb128(nameLength.length + nameBytes.length + content.length);
  return Buffer.concat([module, Uint8Array.of(0), size, nameLength, nameBytes, content]);
}

function leb128(value: number): Uint8Array {
  const bytes: number[] = [];
  do {
    const low = value & 0x7f;
    value >>>= 7;
    bytes.push(value === 0 ? low : low | 0x80);
  } while (value !== 0);
  return Uint8Array.from(bytes);
}
