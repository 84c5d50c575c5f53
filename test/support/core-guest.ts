// CoreGuest: a compiled core module, called as the contract says. It trusts the module: it is for
// tests of the SDK, whose modules are ours. What it cannot read it gives back as a thrown error.
import { START_EXPORT } from '../../host/hosting/wasm/metering/module-rewriter.ts';
import { type CallAnswer, type CoreRefusal, putAnswer, putRecorded } from './core-answers.ts';
import { type CoreRequestSent, type CoreServiceAnswer, serveRequest } from './core-services.ts';
import { type CoreTimer, type CoreTimerChange, timer, timerChanges } from './core-timers.ts';

export interface CoreEffect {
  readonly events: readonly { readonly manifest: string; readonly json: string }[];
  readonly deleteEntity: boolean;
  readonly reply: string;
  readonly timers: readonly CoreTimerChange[];
}

export interface CoreResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: { readonly kind: 'none' | 'json' | 'text' | 'bytes'; readonly content: string };
}

export type CoreResult<T> = { readonly ok: T } | { readonly refused: CoreRefusal };

export interface CoreCall {
  readonly component: string;
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly metadata: readonly (readonly [string, string])[];
  readonly idempotencyKey: string | undefined;
}

export interface CoreImports {
  readonly nowMs?: () => bigint;
  readonly call?: (call: CoreCall) => CallAnswer;
  /** Its answer is an error of the call; undefined: the timer is set. */
  readonly setTimer?: (timer: CoreTimer) => CallAnswer | undefined;
  readonly cancelTimer?: (component: string, id: string, name: string) => CallAnswer | undefined;
  readonly request?: (sent: CoreRequestSent) => CoreServiceAnswer;
  readonly readEvents?: (id: string, afterSeq: bigint, limit: number) => string | readonly string[];
}

export interface CoreContext {
  readonly nowMs?: bigint;
  readonly seed?: bigint;
  readonly metadata?: readonly (readonly [string, string])[];
}

export interface CoreRequest {
  readonly route: number;
  readonly parameters?: readonly string[];
  readonly query?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly caller?: string;
  readonly body?:
    | { readonly json: string }
    | { readonly text: string }
    | { readonly bytes: Uint8Array };
}

const ENTITY = 'svc:runtime/entity@0.2.0';
const METHOD = `${ENTITY}#[method]instance.`;
const NO_CONTEXT: CoreContext = {};

/** The component, its length, the id, its length, the record after which to read, the limit, the place of the result. */
type ReadParameters = readonly [number, number, number, number, bigint, number, number];

/** The component, the id and the name with their lengths, the place of the result. */
type CancelParameters = readonly [number, number, number, number, number, number, number];

type Exported = (...values: (number | bigint)[]) => number;

export class CoreGuest {
  readonly #exports: Record<string, Exported>;
  readonly #memory: WebAssembly.Memory;
  readonly #live = new Map<number, number>();

  constructor(module: WebAssembly.Module, imports: CoreImports = {}) {
    let handles = 0;
    const instance = new WebAssembly.Instance(module, {
      'svc:runtime/clock@0.2.0': {
        'now-ms': () => imports.nowMs?.() ?? 0n,
        'set-timer': (from: number, at: number) => {
          const set = timer(this.#view(), from, (text) => this.#textAt(this.#view(), text));
          this.#putAnswer(at, imports.setTimer?.(set) ?? { ok: '' });
        },
        'cancel-timer': (
          ...[component, componentUnits, id, idUnits, name, units, at]: CancelParameters
        ) => {
          const texts = [
            this.#text(component, componentUnits),
            this.#text(id, idUnits),
            this.#text(name, units),
          ] as const;
          this.#putAnswer(at, imports.cancelTimer?.(...texts) ?? { ok: '' });
        },
      },
      'svc:runtime/journal@0.2.0': {
        read: (...[, , id, idLength, after, limit, at]: ReadParameters) => {
          const events =
            imports.readEvents?.(
              this.#text(id, idLength),
              BigInt.asUintN(64, after),
              limit >>> 0,
            ) ?? 'no journal';
          putRecorded(events, at, this.#lowering);
        },
        // No test of this guest has views: each query is denied.
        find: (...values: number[]) => this.#putDeniedPage(values.at(-1)),
      },
      'svc:runtime/routing@0.2.0': {
        call: (...values: number[]) => {
          this.#serveCall(imports, values);
        },
        request: (...values: number[]) => serveRequest(imports.request, values, this.#lowering),
      },
      [`[export]${ENTITY}`]: {
        '[resource-new]instance': (representation: number) => {
          this.#live.set(++handles, representation);
          return handles;
        },
      },
    });
    this.#exports = instance.exports as unknown as Record<string, Exported>;
    this.#memory = instance.exports['memory'] as WebAssembly.Memory;
    (instance.exports[START_EXPORT] as (() => void) | undefined)?.();
  }

  /** Puts `result<page, call-error>`: the case `denied` with its text. */
  #putDeniedPage(at: number): void {
    const [from, units] = this.#put('there are no views');
    const view = this.#view();
    view.setUint8(at, 1);
    view.setUint8(at + 8, 1);
    view.setUint32(at + 12, from, true);
    view.setUint32(at + 16, units, true);
  }

  /** The module's own; and of one that is metered, what the host added. */
  get exports(): WebAssembly.Instance['exports'] {
    return this.#exports;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  open(component: string, id: string, snapshot?: string): number {
    const given = snapshot === undefined ? [0, 0, 0] : [1, ...this.#put(snapshot)];
    const handle = this.#export(`${ENTITY}#[constructor]instance`)(
      ...this.#put(component),
      ...this.#put(id),
      ...given,
    );
    return this.#live.get(handle)!;
  }

  drop(entity: number): void {
    this.#export(`${ENTITY}#[dtor]instance`)(entity);
  }

  /** What could not be decoded. */
  apply(
    entity: number,
    events: readonly { readonly manifest: string; readonly json: string }[],
  ): string | undefined {
    const list = this.#putPairs(events.map((event) => [event.manifest, event.json]));
    return this.#called(`${METHOD}apply`, [entity, ...list], (view, at) =>
      view.getUint8(at) === 0 ? undefined : this.#textAt(view, at + 4),
    );
  }

  command(
    entity: number,
    name: string,
    input: string,
    context = NO_CONTEXT,
  ): CoreResult<CoreEffect> {
    const values = [entity, ...this.#context(context), ...this.#put(name), ...this.#put(input)];
    return this.#called(`${METHOD}command`, values, (view, at) => {
      if (view.getUint8(at) !== 0) return { refused: this.#refusal(view, at + 4) };
      const events = this.#pairs(view, at + 4).map(([manifest, json]) => ({ manifest, json }));
      return {
        ok: {
          events,
          deleteEntity: view.getUint8(at + 12) === 1,
          reply: this.#textAt(view, at + 16),
          timers: timerChanges(view, at + 24, (text) => this.#textAt(view, text)),
        },
      };
    });
  }

  query(entity: number, name: string, input: string, context = NO_CONTEXT): CoreResult<string> {
    const values = [entity, ...this.#context(context), ...this.#put(name), ...this.#put(input)];
    return this.#called(`${METHOD}query`, values, (view, at) =>
      view.getUint8(at) === 0
        ? { ok: this.#textAt(view, at + 4) }
        : { refused: this.#refusal(view, at + 4) },
    );
  }

  snapshot(entity: number): string {
    return this.#called(`${METHOD}snapshot`, [entity], (view, at) => this.#textAt(view, at));
  }

  handle(request: CoreRequest, context = NO_CONTEXT): CoreResult<CoreResponse> {
    const parameters = request.parameters ?? [];
    const list = this.#allocate(4, parameters.length * 8);
    for (const [index, text] of parameters.entries()) {
      const [at, length] = this.#put(text);
      this.#view().setUint32(list + index * 8, at, true);
      this.#view().setUint32(list + index * 8 + 4, length, true);
    }
    const values = [
      ...this.#context(context),
      request.route,
      list,
      parameters.length,
      ...this.#put(request.query ?? ''),
      ...this.#putPairs(request.headers ?? []),
      ...this.#put(request.caller ?? 'local'),
      ...this.#putBody(request.body),
    ];
    return this.#called('svc:runtime/http@0.2.0#handle', values, (view, at) =>
      view.getUint8(at) === 0
        ? { ok: this.#response(view, at + 4) }
        : { refused: this.#refusal(view, at + 4) },
    );
  }

  takeLog(): { readonly level: number; readonly message: string }[] {
    return this.#called('svc:runtime/diagnostics@0.2.0#take-log', [], (view, at) => {
      const from = view.getUint32(at, true);
      return Array.from({ length: view.getUint32(at + 4, true) }, (_, index) => ({
        level: view.getUint8(from + index * 12),
        message: this.#textAt(view, from + index * 12 + 4),
      }));
    });
  }

  #export(name: string): Exported {
    const found = this.#exports[name];
    if (found === undefined) throw new Error(`the module does not export ${name}`);
    return found;
  }

  #called<T>(
    name: string,
    values: (number | bigint)[],
    read: (view: DataView, at: number) => T,
  ): T {
    const at = this.#export(name)(...values);
    const result = read(this.#view(), at);
    this.#export(`cabi_post_${name}`)(at);
    return result;
  }

  #view(): DataView {
    return new DataView(this.#memory.buffer);
  }

  #allocate(align: number, bytes: number): number {
    const at = this.#export('cabi_realloc')(0, 0, align, bytes);
    if (at % align !== 0) throw new Error('cabi_realloc gave a pointer that is not aligned');
    return at;
  }

  #put(text: string): [number, number] {
    const at = this.#allocate(2, text.length * 2);
    const units = new Uint16Array(this.#memory.buffer, at, text.length);
    for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index);
    return [at, text.length];
  }

  #putPairs(pairs: readonly (readonly [string, string])[]): [number, number] {
    const list = this.#allocate(4, pairs.length * 16);
    for (const [index, [name, value]] of pairs.entries()) {
      const words = [...this.#put(name), ...this.#put(value)];
      for (const [word, number] of words.entries())
        this.#view().setUint32(list + index * 16 + word * 4, number, true);
    }
    return [list, pairs.length];
  }

  #context(context: CoreContext): (number | bigint)[] {
    return [context.nowMs ?? 0n, context.seed ?? 1n, ...this.#putPairs(context.metadata ?? [])];
  }

  #putBody(body: CoreRequest['body']): number[] {
    if (body === undefined) return [0, 0, 0];
    if ('json' in body) return [1, ...this.#put(body.json)];
    if ('text' in body) return [2, ...this.#put(body.text)];
    const at = this.#allocate(1, body.bytes.length);
    new Uint8Array(this.#memory.buffer, at, body.bytes.length).set(body.bytes);
    return [3, at, body.bytes.length];
  }

  #text(at: number, length: number): string {
    const units = new Uint16Array(this.#memory.buffer, at, length);
    let text = '';
    for (const unit of units) text += String.fromCharCode(unit);
    return text;
  }

  #textAt(view: DataView, at: number): string {
    return this.#text(view.getUint32(at, true), view.getUint32(at + 4, true));
  }

  #pairs(view: DataView, at: number): [string, string][] {
    const from = view.getUint32(at, true);
    return Array.from({ length: view.getUint32(at + 4, true) }, (_, index) => [
      this.#textAt(view, from + index * 16),
      this.#textAt(view, from + index * 16 + 8),
    ]);
  }

  #refusal(view: DataView, at: number): CoreRefusal {
    const code = view.getUint8(at);
    return {
      code,
      otherCode: code === 7 ? this.#textAt(view, at + 4) : '',
      message: this.#textAt(view, at + 12),
      details: view.getUint8(at + 20) === 0 ? undefined : this.#textAt(view, at + 24),
    };
  }

  #response(view: DataView, at: number): CoreResponse {
    const kind = (['none', 'json', 'text', 'bytes'] as const)[view.getUint8(at + 12)]!;
    const from = view.getUint32(at + 16, true);
    const length = view.getUint32(at + 20, true);
    const content =
      kind === 'none'
        ? ''
        : kind === 'bytes'
          ? Buffer.from(new Uint8Array(this.#memory.buffer, from, length)).toString('hex')
          : this.#text(from, length);
    return {
      status: view.getUint16(at, true),
      headers: this.#pairs(view, at + 4),
      body: { kind, content },
    };
  }

  #serveCall(imports: CoreImports, values: readonly number[]): void {
    const [component, componentLength, id, idLength, name, nameLength, input, inputLength] =
      values as [number, number, number, number, number, number, number, number];
    const [metadata, metadataCount, hasKey, key, keyLength, at] = values.slice(8) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const view = this.#view();
    const answer = imports.call?.({
      component: this.#text(component, componentLength),
      id: this.#text(id, idLength),
      name: this.#text(name, nameLength),
      input: this.#text(input, inputLength),
      metadata: Array.from({ length: metadataCount }, (_, index) => [
        this.#textAt(view, metadata + index * 16),
        this.#textAt(view, metadata + index * 16 + 8),
      ]),
      idempotencyKey: hasKey === 0 ? undefined : this.#text(key, keyLength),
    }) ?? { denied: 'no calls' };
    this.#putAnswer(at, answer);
  }

  get #lowering() {
    return {
      view: () => this.#view(),
      put: (text: string) => this.#put(text),
      allocate: (align: number, bytes: number) => this.#allocate(align, bytes),
    };
  }

  #putAnswer(at: number, answer: CallAnswer): void {
    const { view, put } = this.#lowering;
    putAnswer(answer, at, view, put);
  }
}
