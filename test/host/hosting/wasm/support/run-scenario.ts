// Runs a scenario through our binding and through jco's glue, in a child process.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { GuestEntity, HostCalls } from '../../../../../model/guest.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { CallContext, Refusal } from '../../../../../model/call.ts';
import type { Body, EndpointResponse } from '../../../../../model/endpoint.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import type { ScenarioCall, ScenarioContext, ScenarioResult } from './scenario.ts';

const ORACLE = join(import.meta.dirname, 'jco-oracle.ts');

type Handle = Extract<ScenarioCall, { kind: 'handle' }>;

/** Expects the same results of both, and returns them. */
export async function expectSame(
  module: Uint8Array,
  calls: readonly ScenarioCall[],
): Promise<readonly ScenarioResult[]> {
  const [theirs, ours] = await Promise.all([throughJco(module, calls), throughOurs(module, calls)]);
  expect(ours).toHaveLength(calls.length);
  // The call is part of the result, so that a difference shows where it is.
  for (const [index, result] of ours.entries())
    expect({ call: calls[index], ...result }).toEqual({ call: calls[index], ...theirs[index] });
  return ours;
}

async function throughJco(
  module: Uint8Array,
  calls: readonly ScenarioCall[],
): Promise<readonly ScenarioResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-scenario-'));
  try {
    const files = [join(folder, 'module.wasm'), join(folder, 'scenario.json')] as const;
    writeFileSync(files[0], module);
    writeFileSync(files[1], JSON.stringify({ calls }));
    const options = { maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(process.execPath, [ORACLE, ...files], options);
    return JSON.parse(stdout) as readonly ScenarioResult[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function throughOurs(
  module: Uint8Array,
  calls: readonly ScenarioCall[],
): Promise<readonly ScenarioResult[]> {
  let log: { level: string; message: string }[] = [];
  const guest = await createWasmGuest(module, WASM_LIMITS_DEFAULT, ({ level, message }) =>
    log.push({ level, message }),
  );
  const results: ScenarioResult[] = [];
  let entity: GuestEntity | undefined;
  for (const made of calls) {
    log = [];
    const routed: unknown[] = [];
    let outcome: unknown;
    switch (made.kind) {
      case 'open':
        entity = await guest.entities.open(made, made.snapshot);
        outcome = null;
        break;
      case 'apply':
        outcome = (await entity!.apply(made.events, undefined)) ?? null;
        break;
      case 'command':
      case 'query':
        outcome = plain(await entity![made.kind](contextOf(made.context), made.name, made.input));
        break;
      case 'snapshot':
        outcome = await entity!.snapshot();
        break;
      case 'handle':
        outcome = plain(
          await guest.endpoints.handle(
            contextOf(made.context),
            { ...made.request, body: bodyOf(made.request.body) },
            callsOf(made, routed),
          ),
        );
        break;
    }
    results.push({ outcome, routed, log });
  }
  await guest.close();
  return results;
}

const contextOf = ({ nowMs, seed, metadata }: ScenarioContext): CallContext => ({
  nowMs,
  seed: BigInt(seed),
  metadata,
});

function callsOf(
  { context: { nowMs }, answers, responses = [], journal }: Handle,
  routed: unknown[],
): HostCalls {
  const left = [...answers];
  const leftResponses = [...responses];
  return {
    nowMs: () => nowMs,
    call: async (target, name, input, metadata, key) => {
      routed.push({ target, name, input, metadata, key: key ?? null });
      const answer = left.shift();
      if (answer === undefined) throw new SvcError('SVC_ANSWER_TIMED_OUT', 'too late');
      return answer as Awaited<ReturnType<HostCalls['call']>>;
    },
    setTimer: (timer) => void routed.push({ timer }),
    cancelTimer: (owner, name) => void routed.push({ owner, name }),
    request: (request) => {
      routed.push({ request: { ...request, body: Buffer.from(request.body).toString('base64') } });
      const answer = leftResponses.shift();
      if (answer === undefined) throw new SvcError('SVC_ANSWER_TIMED_OUT', 'too late');
      if (answer.kind === 'denied') throw new SvcError('SVC_SERVICE_CALL_DENIED', answer.reason);
      const { status, headers, body } = answer;
      return { status, headers, body: Buffer.from(body, 'base64') };
    },
    readEvents: async (entity, afterSeq, limit) => {
      routed.push({ entity, afterSeq, limit });
      return (journal ?? []).map((event) => ({ kind: 'event', ...event }));
    },
  };
}

function bodyOf(body: Handle['request']['body']): Body {
  return body.kind === 'bytes' ? { ...body, bytes: Buffer.from(body.bytes, 'base64') } : body;
}

/** Converts a result to the oracle's form. */
function plain(outcome: object): unknown {
  const { kind } = outcome as { kind: string };
  if (kind === 'refusal') {
    const { code, otherCode, message, details } = outcome as Refusal;
    const word = otherCode === undefined ? code : `${code} ${otherCode}`;
    return { kind, code: word, message, details: details ?? null };
  }
  if (kind !== 'response') return outcome;
  const { status, headers: pairs, body } = outcome as EndpointResponse;
  const val = body.kind === 'bytes' ? Buffer.from(body.bytes).toString('base64') : undefined;
  const text = 'text' in body ? { val: body.text } : {};
  return {
    kind,
    status,
    headers: pairs,
    body: { kind: body.kind, ...(val === undefined ? text : { val }) },
  };
}
