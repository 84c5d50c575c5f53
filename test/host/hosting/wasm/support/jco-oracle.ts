// Runs a scenario through the JavaScript that jco generates for a component, and prints the results as JSON. It is a
// program of its own, started as a child process, and only for our own fixtures: jco's code is never run for an
// untrusted module, and never in the host.
//
// Usage: node jco-oracle.ts COMPONENT.wasm SCENARIO.json
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transpile } from '@bytecodealliance/jco';
import type {
  RecordedEvent,
  RoutingAnswer,
  ScenarioCall,
  ScenarioContext,
  ScenarioResult,
  ServiceAnswer,
} from './scenario.ts';

interface Tagged {
  readonly tag: string;
  readonly val?: unknown;
}
interface Entity {
  apply(events: readonly unknown[]): void;
  command(
    context: unknown,
    name: string,
    input: string,
  ): { readonly deleteEntity: boolean; readonly timers?: readonly Tagged[] };
  query(context: unknown, name: string, input: string): string;
  snapshot(): string;
}
interface Generated {
  entity: { Instance: new (component: string, id: string, snapshot?: string) => Entity };
  http: {
    handle(context: unknown, request: unknown): { status: number; headers: unknown; body: Tagged };
  };
  diagnostics: { takeLog(): { level: string; message: string }[] };
}
type Instantiate = (
  core: (path: string) => WebAssembly.Module,
  imports: Readonly<Record<string, unknown>>,
) => Generated;

const [componentFile, scenarioFile] = process.argv.slice(2);
const { calls } = JSON.parse(readFileSync(scenarioFile!, 'utf8')) as { calls: ScenarioCall[] };
const folder = mkdtempSync(join(tmpdir(), 'svc-oracle-'));

/** Codes are kebab-case in WIT and upper case in the host. */
const ourCode = (code: Tagged) =>
  code.tag === 'other' ? `OTHER ${String(code.val)}` : code.tag.replaceAll('-', '_').toUpperCase();
const witCode = (code: string, otherCode: string | undefined): Tagged => {
  const tag = code.replaceAll('_', '-').toLowerCase();
  return otherCode === undefined ? { tag } : { tag, val: otherCode };
};

function refusalOf(error: unknown): unknown {
  const payload = (error as { payload?: unknown }).payload;
  if (payload === undefined) throw error;
  if (typeof payload === 'string') return payload;
  const { code, message, details } = payload as { code: Tagged; message: string; details?: string };
  return { kind: 'refusal', code: ourCode(code), message, details: details ?? null };
}

function attempt(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return refusalOf(error);
  }
}

const contextOf = ({ nowMs, seed, metadata }: ScenarioContext) => ({
  nowMs: BigInt(nowMs),
  seed: BigInt(seed),
  metadata,
});

let answers: RoutingAnswer[] = [];
let responses: ServiceAnswer[] = [];
let journal: readonly RecordedEvent[] = [];
let routed: unknown[] = [];
let now = 0;
const imports = {
  'svc:runtime/types': {},
  'svc:runtime/clock': {
    nowMs: () => BigInt(now),
    setTimer: (timer: unknown) => void routed.push({ timer: timerOf(timer) }),
    cancelTimer: (owner: unknown, name: string) => void routed.push({ owner, name }),
  },
  'svc:runtime/journal': {
    read: (entity: unknown, afterSeq: bigint, limit: number) => {
      routed.push({ entity, afterSeq: Number(afterSeq), limit });
      return journal.map(({ seq, timeMs, event }) => ({
        seq: BigInt(seq),
        timeMs: BigInt(timeMs),
        event,
      }));
    },
  },
  'svc:runtime/routing': {
    call: (target: unknown, name: string, input: string, metadata: unknown, key?: string) => {
      routed.push({ target, name, input, metadata, key: key ?? null });
      const answer = answers.shift();
      if (answer?.kind === 'reply') return answer.json;
      if (answer === undefined) throw { payload: { tag: 'timed-out' } };
      const { code, otherCode, message, details } = answer;
      const refused = { code: witCode(code, otherCode), message, details };
      throw { payload: { tag: 'refused', val: refused } };
    },
    request: (
      service: string,
      method: string,
      path: string,
      headers: unknown,
      body: Uint8Array,
    ) => {
      const sent = { service, method, path, headers, body: Buffer.from(body).toString('base64') };
      routed.push({ request: sent });
      const answer = responses.shift();
      if (answer === undefined) throw { payload: { tag: 'timed-out' } };
      if (answer.kind === 'denied') throw { payload: { tag: 'denied', val: answer.reason } };
      const { status, headers: received } = answer;
      return { status, headers: received, body: Buffer.from(answer.body, 'base64') };
    },
  },
};

function changeOf({ tag, val }: Tagged): unknown {
  return tag === 'cancel' ? { kind: 'cancel', name: val } : { kind: 'set', timer: timerOf(val) };
}

function timerOf(timer: unknown): unknown {
  const { tag, val } = (timer as { readonly due: Tagged }).due;
  const kind = tag.replace('-ms', '');
  const due = Array.isArray(val)
    ? { kind, expression: val[0] as unknown, zone: val[1] as unknown }
    : { kind, [`${kind}Ms`]: Number(val) };
  return { ...(timer as object), due };
}

function bodyOf(body: Extract<ScenarioCall, { kind: 'handle' }>['request']['body']): Tagged {
  if (body.kind === 'none') return { tag: 'none' };
  return {
    tag: body.kind,
    val: body.kind === 'bytes' ? Buffer.from(body.bytes, 'base64') : body.text,
  };
}

function run(
  generated: Generated,
  call: ScenarioCall,
  open: { entity: Entity | undefined },
): unknown {
  switch (call.kind) {
    case 'open':
      open.entity = new generated.entity.Instance(call.component, call.id, call.snapshot);
      return null;
    case 'apply':
      return attempt(() => open.entity!.apply(call.events) ?? null);
    case 'command':
      now = call.context.nowMs;
      return attempt(() => {
        const {
          deleteEntity,
          timers = [],
          ...effect
        } = open.entity!.command(contextOf(call.context), call.name, call.input);
        return {
          kind: 'effect',
          ...effect,
          actions: deleteEntity ? [{ kind: 'delete-entity' }] : [],
          ...(timers.length === 0 ? {} : { timers: timers.map((change) => changeOf(change)) }),
        };
      });
    case 'query':
      now = call.context.nowMs;
      return attempt(() => ({
        kind: 'reply',
        json: open.entity!.query(contextOf(call.context), call.name, call.input),
      }));
    case 'snapshot':
      return open.entity!.snapshot();
    case 'handle': {
      answers = [...call.answers];
      responses = [...(call.responses ?? [])];
      journal = call.journal ?? [];
      now = call.context.nowMs;
      const request = { ...call.request, body: bodyOf(call.request.body) };
      return attempt(() => {
        const { status, headers, body } = generated.http.handle(contextOf(call.context), request);
        const val =
          body.val instanceof Uint8Array ? Buffer.from(body.val).toString('base64') : body.val;
        return {
          kind: 'response',
          status,
          headers,
          body: val === undefined ? { kind: body.tag } : { kind: body.tag, val },
        };
      });
    }
  }
}

try {
  const { files } = await transpile(readFileSync(componentFile!), {
    name: 'oracle',
    instantiation: 'sync',
    wasiShim: false,
    base64Cutoff: 0,
    tlaCompat: false,
  });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, basename(name)), content);
  const { instantiate } = (await import(pathToFileURL(join(folder, 'oracle.js')).href)) as {
    instantiate: Instantiate;
  };
  const core = (path: string) => new WebAssembly.Module(readFileSync(join(folder, basename(path))));
  const generated = instantiate(core, imports);
  const open: { entity: Entity | undefined } = { entity: undefined };
  const results: ScenarioResult[] = calls.map((call) => {
    routed = [];
    const outcome = run(generated, call, open);
    return { outcome, routed, log: generated.diagnostics.takeLog() };
  });
  process.stdout.write(JSON.stringify(results));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
