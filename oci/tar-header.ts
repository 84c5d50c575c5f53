// TarHeader: the header block of an entry of a tar archive, in the format ustar (POSIX.1-1988), written and read. What is written
// depends on the entry alone. What is read has a valid checksum; numbers in another notation than octal are refused.

export const BLOCK_BYTES = 512;

/**
 * Kind of an entry. `extended` is a header of POSIX.1-2001 for the next entry, `global` one for all that follow; `long-path` and
 * `long-target` have the path and the target of the next entry in the notation of GNU; `other` is every kind without content here.
 */
export type TarKind =
  | 'file'
  | 'directory'
  | 'hard-link'
  | 'symbolic-link'
  | 'device'
  | 'extended'
  | 'global'
  | 'long-path'
  | 'long-target'
  | 'other';

export interface TarHeader {
  readonly path: string;
  readonly kind: TarKind;
  /** Number of bytes of the content. */
  readonly size: number;
  /** Permissions with the bits above them; undefined if the field is no octal number. */
  readonly mode: number | undefined;
  /** Time of the last change in seconds since 1970; undefined if the field is no octal number. */
  readonly time: number | undefined;
  /** Target of a link, empty for other kinds; undefined if it is not UTF-8. */
  readonly target: string | undefined;
}

/** An entry as it is written. Times are left at zero, so that equal contents are equal archives. */
export interface WrittenEntry {
  /** At most 100 bytes; a folder's ends with a slash. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
  /** Permissions, such as 0o644. */
  readonly mode: number;
  /** User and group that own the entry, by number. */
  readonly owner: number;
  readonly size: number;
}

const KINDS: Readonly<Record<string, TarKind>> = {
  '0': 'file',
  '\0': 'file',
  '1': 'hard-link',
  '2': 'symbolic-link',
  '3': 'device',
  '4': 'device',
  '5': 'directory',
  '6': 'device',
  g: 'global',
  x: 'extended',
  K: 'long-target',
  L: 'long-path',
};
/** Position and length of the fields that are used. */
const FIELDS = {
  path: [0, 100],
  mode: [100, 8],
  user: [108, 8],
  group: [116, 8],
  size: [124, 12],
  time: [136, 12],
  checksum: [148, 8],
  kind: [156, 1],
  target: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;
type Field = keyof typeof FIELDS;
const POSIX_MAGIC = 'ustar\x0000';
const GNU_MAGIC = 'ustar  \0';

export function headerBlock({ path, kind, mode, owner, size }: WrittenEntry): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES);
  const set = (field: Field, text: string) => {
    const [at, length] = FIELDS[field];
    if (Buffer.byteLength(text) > length) throw new RangeError(`${field} is too long: ${text}`);
    block.write(text, at);
  };
  const number = (field: Field, value: number) =>
    set(field, `${value.toString(8).padStart(FIELDS[field][1] - 1, '0')}\0`);
  set('path', path);
  number('mode', mode);
  number('user', owner);
  number('group', owner);
  number('size', size);
  number('time', 0);
  set('kind', kind === 'file' ? '0' : '5');
  set('magic', POSIX_MAGIC);
  set('checksum', `${checksumOf(block).toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** Reads a header. Returns a clause that says what is wrong with a block that is none. */
export function parseHeader(block: Uint8Array): TarHeader | string {
  const bytes = (field: Field) => {
    const [at, length] = FIELDS[field];
    return Buffer.from(block.buffer, block.byteOffset + at, length);
  };
  const magic = bytes('magic').toString('latin1');
  if (magic !== POSIX_MAGIC && magic !== GNU_MAGIC) return 'has a header that is not one of ustar';
  const checksum = octal(bytes('checksum'));
  if (checksum !== checksumOf(block)) return 'has a header with a wrong checksum';
  const size = octal(bytes('size'));
  if (size === undefined) return 'has a size that is no octal number';
  const name = utf8Text(bytes('path'));
  // The format of GNU has other fields instead of the prefix.
  const prefix = magic === POSIX_MAGIC ? utf8Text(bytes('prefix')) : '';
  if (name === undefined || prefix === undefined) return 'has a path that is not UTF-8';
  const kind = KINDS[bytes('kind').toString('latin1')] ?? 'other';
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    kind,
    size,
    mode: octal(bytes('mode')),
    time: octal(bytes('time')),
    target: utf8Text(bytes('target')),
  };
}

/** Returns the sum of the bytes of a header, with blanks instead of the checksum. */
function checksumOf(block: Uint8Array): number {
  const [at, length] = FIELDS.checksum;
  let sum = 0;
  for (let index = 0; index < BLOCK_BYTES; index++)
    sum += index >= at && index < at + length ? 0x20 : block[index]!;
  return sum;
}

function octal(field: Uint8Array): number | undefined {
  const digits = Buffer.from(field).toString('latin1');
  if (/^\0*$/.test(digits)) return 0;
  const match = /^ *([0-7]+)[ \0]*$/.exec(digits);
  return match === null ? undefined : Number.parseInt(match[1]!, 8);
}

/** Decodes the bytes before the first zero byte; undefined if they are not UTF-8. */
export function utf8Text(field: Uint8Array): string | undefined {
  const end = field.indexOf(0);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      end === -1 ? field : field.subarray(0, end),
    );
  } catch {
    return undefined;
  }
}
