// LayerEntries: archives for tests with entries of every kind, also such as no program writes.
import { headerBlock } from '../../../oci/tar-header.ts';
import { paddingOf } from '../../../oci/tar-writer.ts';
import { gzipLayer, plainLayer, type TestLayer } from './test-image.ts';

/** The entry of an archive: its bytes. */
export type Entry = Uint8Array;

interface Fields {
  readonly kind: string;
  readonly mode?: number;
  readonly target?: string;
  readonly content?: Uint8Array;
}

/** `kind`: the type flag, such as `0` for a file. */
export function entry(path: string, { kind, mode = 0o644, target = '', content }: Fields): Entry {
  const bytes = Buffer.from(content ?? []);
  const size = bytes.length;
  const header = Buffer.from(headerBlock({ path, kind: 'file', mode, owner: 1000, size }));
  header.write(kind, 156);
  header.write(target, 157);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc(paddingOf(size))]);
}

export function fileEntry(path: string, text = '', mode = 0o644): Entry {
  return entry(path, { kind: '0', mode, content: Buffer.from(text) });
}

export function folderEntry(path: string, mode = 0o755): Entry {
  return entry(`${path}/`, { kind: '5', mode });
}

export function linkEntry(path: string, target: string): Entry {
  return entry(path, { kind: '2', target, mode: 0o777 });
}

export function hardLinkEntry(path: string, target: string): Entry {
  return entry(path, { kind: '1', target });
}

/** The header of POSIX.1-2001 for the next entry, or for all that follow. */
export function extendedEntry(records: Readonly<Record<string, string>>, kind = 'x'): Entry {
  const text = Object.entries(records).map(([keyword, value]) => {
    const rest = ` ${keyword}=${value}\n`;
    const bytes = Buffer.byteLength(rest);
    const length = bytes + String(bytes + String(bytes).length).length;
    return `${length}${rest}`;
  });
  return entry('PaxHeaders/0', { kind, content: Buffer.from(text.join('')) });
}

/** The long name of the next entry, as GNU writes it: `L` for its path, `K` for the target of a link. */
export function longNameEntry(kind: 'L' | 'K', name: string): Entry {
  return entry('././@LongLink', { kind, content: Buffer.from(`${name}\0`) });
}

export function archive(...entries: readonly Entry[]): Uint8Array {
  return Buffer.concat([...entries, Buffer.alloc(1024)]);
}

export function layer(...entries: readonly Entry[]): TestLayer {
  return plainLayer(archive(...entries));
}

export function packedLayer(...entries: readonly Entry[]): TestLayer {
  return gzipLayer(archive(...entries));
}
