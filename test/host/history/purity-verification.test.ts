// PurityVerification: each kind of impurity is named, with the first event after which the states differ. The guests
// are a module that breaks the rule in every way that user code can, and stand-ins that break it in other ways.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Guest, GuestEntity } from '../../../model/guest.ts';
import { type Incarnation, incarnationOf } from '../../../host/engine/entity/incarnation.ts';
import type { PurityFinding } from '../../../host/history/purity-finding.ts';
import { PurityVerification, verifiedStarter } from '../../../host/history/purity-verification.ts';
import { atOnce } from '../../../host/history/steps.ts';
import { type WasmSource, wasmSource } from '../../../host/hosting/guest-source.ts';
import type { GuestStarter } from '../../../host/hosting/start-guest.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import type { StoredEvent } from '../../../model/entity.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { compileFixture } from '../../support/compile-fixture.ts';

let source: WasmSource;
let startModule: GuestStarter;
beforeAll(async () => {
  source = wasmSource(admitModule(await compileFixture('impure')));
  startModule = await verifiedStarter(source, { wasm: WASM_LIMITS_DEFAULT });
});

const SHELVED = { type: 'shelved', title: 'Emma', copies: 1 };
const DISPLAYED = { type: 'displayed', title: 'Emma' };

/** An incarnation whose first event has the sequence number 11. */
function incarnationWith(events: readonly (string | object)[]) {
  const stored = events.map((event) => ({
    manifest: 'shelf-event',
    json: JSON.stringify(typeof event === 'string' ? { type: event } : event),
  }));
  return incarnationOf({ component: 'shelf', id: 's1' }, stored, 11);
}

const plain = (count: number) => Array.from({ length: count }, () => SHELVED);

function findingsOf(verification: PurityVerification, life: Incarnation): readonly PurityFinding[] {
  const list: PurityFinding[] = [];
  atOnce(verification.findings(life, [], (finding) => list.push(finding)));
  return list;
}

function findings(...events: readonly (string | object)[]): readonly PurityFinding[] {
  return findingsOf(new PurityVerification(startModule), incarnationWith(events));
}

function told(found: readonly PurityFinding[]): readonly string[] {
  return found.map(({ way, seq, path }) => `${way} ${seq} ${path}`);
}

describe('of a module', () => {
  test('a pure fold is found nothing wrong with, however long it is', () => {
    expect(findings()).toEqual([]);
    expect(findings(SHELVED, SHELVED, SHELVED, 'copied')).toEqual([]);
    expect(findings(...Array.from({ length: 300 }, () => SHELVED))).toEqual([]);
  });

  test('a variable of the module that apply counts in', () => {
    expect(told(findings(SHELVED, 'numbered', SHELVED, 'numbered'))).toEqual([
      'other-entities 12 number',
      'used-instance 12 number',
      'after-snapshot 14 number',
    ]);
  });

  test('the address at which something lies', () => {
    expect(told(findings(SHELVED, 'located', 'located', 'located'))).toContainEqual(
      expect.stringMatching(/^batches 1[234] number$/),
    );
  });

  test('a variable that only a query writes', () => {
    const [finding, ...others] = findings(SHELVED, SHELVED, 'sighted', SHELVED);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ way: 'used-instance', seq: 13, path: 'number' });
    expect(finding!.entity).toEqual({ component: 'shelf', id: 's1' });
    expect(JSON.parse(finding!.expected)).toMatchObject({ number: 0 });
    expect(finding!.found).toMatchObject({
      kind: 'state',
      state: expect.stringContaining('"number":1'),
    });
  });

  test('an object that stands in the state twice', () => {
    expect(told(findings(SHELVED, DISPLAYED, SHELVED))).toEqual([]);
    expect(told(findings(DISPLAYED, 'copied', 'copied'))).toEqual([
      'after-snapshot 12 books[0].copies',
    ]);
  });

  test('of 200 events, the one with which it begins is found by halving', () => {
    expect(told(findings(...plain(137), 'sighted', ...plain(62)))).toEqual([
      'used-instance 148 number',
    ]);
  });

  test('an event that cannot be folded at all is a failure that names it', () => {
    expect(() => findings(SHELVED, 'poison')).toThrow(
      expect.objectContaining({
        code: 'SVC_FOLD_FAULTED',
        message: expect.stringMatching(
          /event 12 of entity 's1' of component 'shelf' .*abort: poisoned at index\.ts/,
        ),
      }),
    );
    expect(() => findings(SHELVED, 'glimpsed')).toThrow(/event 12 .*nothing was sighted/);
    expect(() => findings({ type: 'shelvd' })).toThrow(
      expect.objectContaining({ code: 'SVC_EVENT_UNREADABLE' }),
    );
  });
});

/** A guest that adds up the numbers in its events, by rules that a test sets. */
function guest(rules: {
  readonly state?: (total: number, events: number, starts: number) => unknown;
  readonly opened?: (snapshot: number) => number;
  readonly apply?: (events: readonly StoredEvent[], beside: number) => void;
}) {
  let starts = 0;
  const start = (): Guest => {
    starts++;
    let openCount = 0;
    const open = (_ref: unknown, snapshot: string | undefined): GuestEntity => {
      openCount++;
      const read = snapshot === undefined ? 0 : (JSON.parse(snapshot) as number);
      let total = snapshot === undefined ? 0 : (rules.opened?.(read) ?? read);
      let events = 0;
      return {
        lost: false,
        apply(batch) {
          rules.apply?.(batch, openCount);
          total += batch.length;
          events += batch.length;
          return undefined;
        },
        snapshot: () => JSON.stringify(rules.state?.(total, events, starts) ?? total),
        command: () => ({ kind: 'refusal', code: 'CONFLICT', message: 'no' }),
        query: () => ({ kind: 'reply', json: 'null' }),
        reply: () => ({ kind: 'reply', json: 'null' }),
        close() {},
      };
    };
    return {
      descriptor: source.descriptor,
      entities: { open },
      endpoints: { handle: () => ({ kind: 'refusal', code: 'NOT_FOUND', message: 'none' }) },
      close() {},
    };
  };
  const life = incarnationWith(Array.from({ length: 40 }, () => SHELVED));
  return findingsOf(new PurityVerification(start), life);
}

const failing = (cause: 'trap' | 'memory') =>
  guest({
    apply: (_batch, beside) => {
      if (beside > 1) throw new GuestFault(cause, 'it is not alone');
    },
  });

describe('of any guest', () => {
  test('one that keeps the rule is found nothing wrong with', () => {
    expect(guest({})).toEqual([]);
  });

  test('a fold that is another the second time', () => {
    const [finding] = guest({ state: (total, _events, starts) => total + (starts > 1 ? 1 : 0) });
    expect(finding).toMatchObject({ way: 'fresh-instance' });
  });

  test('a state that is not all in its JSON form', () => {
    const found = guest({ opened: (total) => Math.min(total, 20) });
    expect(told(found)).toEqual(['snapshot 31 ']);
  });

  test('a state that is continued beside its JSON form', () => {
    const found = guest({ state: (total, events) => (events > 30 ? total + 1000 : total) });
    expect(told(found)).toEqual(['after-snapshot 41 ', 'snapshot 41 '].slice(0, found.length));
    expect(found.length).toBeGreaterThan(0);
  });

  test('a failure in company is a finding, but not one of fuel or memory', () => {
    expect(failing('trap')[0]).toMatchObject({
      way: 'used-instance',
      seq: 11,
      path: undefined,
      found: { kind: 'problem' },
    });
    expect(failing('memory')).toEqual([]);
  });
});
