// CheckedObservation: an observation as it may be used. A driver may be wrong, and what it says is shown to members.
//
// Invariant: a checked observation is of the service that was asked for, its numbers are counts, and its texts are short, on
// one line and without harmful characters.
import type { ServiceKey } from '@svc/client';
import { printable } from '@svc/kit/printable';
import type { Observation, Rollout, Workload } from './orchestrator.ts';

/** The orchestrator has answered with something that is no observation of this service. */
export class FalseAnswer extends Error {
  override readonly name = 'FalseAnswer';
}

/** Characters of a detail that are shown. */
const DETAIL_LENGTH_MAX = 2000;
const WORD_LENGTH_MAX = 200;
/** Instances that one observation may count: far beyond what a descriptor can ask for. */
const COUNT_MAX = 10_000;
const INCARNATION = /^[a-z0-9]{1,64}$/;

type Given = Readonly<Record<string, unknown>>;

/** Throws FalseAnswer. `nowMs`: a rollout cannot have made progress later. */
export function checkedObservation(answer: unknown, key: ServiceKey, nowMs: number): Observation {
  const given = checkedRecord(answer, 'an observation');
  const found = checkedRecord(given.key, 'the key of an observation');
  if (found.project !== key.project || found.service !== key.service)
    throw new FalseAnswer('the observation is of another service');
  if (given.kind === 'none') {
    const { detail } = given;
    return { kind: 'none', key, ...(detail !== undefined && { detail: shownText(detail) }) };
  }
  if (given.kind !== 'workload') throw new FalseAnswer('an observation is of no known kind');
  return checkedWorkload(given, key, nowMs);
}

/** Returns text of a driver as it may be shown to members. */
export function shownText(given: unknown, lengthMax = DETAIL_LENGTH_MAX): string {
  if (typeof given !== 'string') throw new FalseAnswer('a text is missing');
  return printable(given.slice(0, lengthMax).replaceAll(/\s+/g, ' ').trim().toWellFormed());
}

/** Throws FalseAnswer for what has no fields. */
export function checkedRecord(given: unknown, what: string): Given {
  if (typeof given !== 'object' || given === null) throw new FalseAnswer(`${what} is missing`);
  return given as Given;
}

function checkedWorkload(given: Given, key: ServiceKey, nowMs: number): Workload {
  const { incarnation, generation, detail, database } = given;
  if (typeof incarnation !== 'string' || !INCARNATION.test(incarnation))
    throw new FalseAnswer('the incarnation of an observation is none');
  const readyInstances = count(given.readyInstances, 'readyInstances', COUNT_MAX);
  return {
    kind: 'workload',
    key,
    incarnation,
    generation: count(generation, 'generation', Number.MAX_SAFE_INTEGER),
    wantedInstances: count(given.wantedInstances, 'wantedInstances', COUNT_MAX),
    readyInstances,
    updatedInstances: count(given.updatedInstances, 'updatedInstances', readyInstances),
    rollout: checkedRollout(given.rollout, nowMs),
    ...(detail !== undefined && { detail: shownText(detail) }),
    ...(database !== undefined && { database: shownText(database, WORD_LENGTH_MAX) }),
  };
}

function checkedRollout(answer: unknown, nowMs: number): Rollout {
  const { kind, sinceMs, reason } = checkedRecord(answer, 'the rollout of an observation');
  switch (kind) {
    case 'complete':
      return { kind };
    case 'failed':
      return { kind, reason: shownText(reason) };
    case 'progressing':
      if (typeof sinceMs !== 'number' || !Number.isFinite(sinceMs))
        throw new FalseAnswer('the time of a rollout is none');
      return { kind, sinceMs: Math.min(sinceMs, nowMs) };
    default:
      throw new FalseAnswer('a rollout is of no known kind');
  }
}

function count(given: unknown, name: string, max: number): number {
  if (!Number.isSafeInteger(given) || (given as number) < 0 || (given as number) > max)
    throw new FalseAnswer(`${name} of an observation is no count, or too high`);
  return given as number;
}
