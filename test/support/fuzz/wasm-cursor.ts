// WasmCursor: steps over a binary that is known to be valid. Shares nothing with the host's reader.

export class WasmCursor {
  readonly #bytes: Uint8Array;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.at = at;
    this.end = end;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  number(): number {
    return Number(BigInt.asUintN(32, this.#leb(false)));
  }

  signed(): number {
    return Number(this.#leb(true));
  }

  skip(length: number): void {
    this.at += length;
  }

  part(): WasmCursor {
    const length = this.number();
    this.skip(length);
    return new WasmCursor(this.#bytes, this.at - length, this.at);
  }

  text(): string {
    const { at, end } = this.part();
    return Buffer.from(this.#bytes.subarray(at, end)).toString();
  }

  #leb(isSigned: boolean): bigint {
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) return isSigned ? BigInt.asIntN(Number(shift), value) : value;
    }
  }
}

export interface ValidModule {
  readonly imports: readonly ModuleImport[];
  /** How many functions are its own. */
  readonly ownFunctions: number;
  /** Exported functions: what each takes, by type codes. */
  readonly exports: ReadonlyMap<string, readonly number[]>;
}
interface ModuleImport {
  readonly module: string;
  readonly name: string;
  readonly gives: readonly number[];
}

/** The outline of a valid core module whose imports are functions. */
export function readValidModule(bytes: Uint8Array): ValidModule {
  const types: { takes: number[]; gives: number[] }[] = [];
  const imports: ModuleImport[] = [];
  const exports = new Map<string, readonly number[]>();
  const takes: (readonly number[])[] = [];
  const cursor = new WasmCursor(bytes, 8);
  while (cursor.at < cursor.end) {
    const id = cursor.byte();
    const section = cursor.part();
    const items = id === 7 || (id >= 1 && id <= 3) ? section.number() : 0;
    for (let left = items; left > 0; left--) {
      if (id === 1) {
        section.skip(1);
        types.push({ takes: codes(section), gives: codes(section) });
      } else if (id === 2) {
        const from = { module: section.text(), name: section.text() };
        section.skip(1);
        const type = types[section.number()]!;
        imports.push({ ...from, gives: type.gives });
        takes.push(type.takes);
      } else if (id === 3) takes.push(types[section.number()]!.takes);
      else {
        const name = section.text();
        const isFunction = section.byte() === 0;
        const index = section.number();
        if (isFunction) exports.set(name, takes[index]!);
      }
    }
  }
  return { imports, ownFunctions: takes.length - imports.length, exports };
}

function codes(section: WasmCursor): number[] {
  return Array.from({ length: section.number() }, () => section.byte());
}
