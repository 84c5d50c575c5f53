// Calls by the canonical ABI: flat parameters, post-returns, what a module may not do while its values are lowered or
// freed, and handles of its resource.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { deciding, put, put8 } from '../support/canonical-guest.ts';
import {
  type GuestParts,
  guestModule,
  guestWat,
  mainCore,
  withMainCore,
} from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const ENTITY = 'svc:runtime/entity@0.1.0#';
const POST = {
  constructor: `cabi_post_${ENTITY}[constructor]instance`,
  apply: `cabi_post_${ENTITY}[method]instance.apply`,
  command: `cabi_post_${ENTITY}[method]instance.command`,
  query: `cabi_post_${ENTITY}[method]instance.query`,
  snapshot: `cabi_post_${ENTITY}[method]instance.snapshot`,
  handle: 'cabi_post_svc:runtime/http@0.1.0#handle',
  'take-log': 'cabi_post_svc:runtime/diagnostics@0.1.0#take-log',
} as const;
type PostName = keyof typeof POST;
const NAMES = Object.keys(POST) as PostName[];
const post = (name: PostName, body: string) =>
  `(func (export "${POST[name]}") (param $result i32) ${body})`;

/** The log is taken at the start already, so its post-return is tested after a snapshot. */
const withPost = (name: PostName, body: string): GuestParts => ({
  fields: post(name, name === 'take-log' ? `(if (i32.load (i32.const 8)) (then ${body}))` : body),
  snapshot: '(i32.store (i32.const 8) (i32.const 1)) (call $clear)',
});

/** Every function of a module but `handle`, once each. */
async function callEntity(parts: GuestParts): Promise<void> {
  const { entities } = await liveGuest(parts);
  const entity = await entities.open(entityRef('a'), undefined);
  await entity.apply([], undefined);
  await entity.command(CONTEXT, 'c', '');
  await entity.query(CONTEXT, 'q', '');
  await entity.snapshot();
}

async function callHandler(parts: GuestParts): Promise<void> {
  const { endpoints } = await liveGuest(parts);
  await endpoints.handle(CONTEXT, request(0), hostCalls());
}

describe('a post-return', () => {
  /**
   * Each function records its first letter and its parameter at $noted. If the memory at 8 says so, a last log line
   * has the records.
   */
  const noting: GuestParts = {
    fields: `(global $noted (mut i32) (i32.const 4096))
      (func $note (param $letter i32) (param $result i32)
        (i32.store8 (global.get $noted) (local.get $letter))
        (i32.store8 offset=1 (global.get $noted) (i32.add (i32.const 48) (local.get $result)))
        (global.set $noted (i32.add (global.get $noted) (i32.const 2))))
      ${NAMES.filter((name) => name !== 'take-log')
        .map((name) =>
          post(name, `(call $note (i32.const ${name.charCodeAt(0)}) (local.get $result))`),
        )
        .join('\n')}`,
    construct: '(call $resource-new (i32.const 7))',
    apply: '(call $clear)',
    snapshot: `(drop (call $clear)) ${put(16, 4096)}
      (i32.store (i32.const 20) (i32.sub (global.get $noted) (i32.const 4096))) (i32.const 16)`,
  };
  /** The recorded letter and parameter, of which 16 is '@' and 1 is '1'. */
  const noted = async (work: string) => {
    const { entities } = await liveGuest(noting);
    const entity = await entities.open(entityRef('a'), undefined);
    for (const letter of work)
      if (letter === 'a') await entity.apply([], undefined);
      else if (letter === 'c') await entity.command(CONTEXT, 'c', '');
      else if (letter === 'q') await entity.query(CONTEXT, 'q', '');
      else await entity.snapshot();
    return entity.snapshot();
  };

  test('is called once after each call, with what its function returned', async () => {
    expect(await noted('')).toBe('c1');
    expect(await noted('acqscc')).toBe('c1a@c@q@s@c@c@');
  });

  test('is called when the result was read, and not before', async () => {
    // It overwrites the text of the result itself.
    const clearing = post('query', '(memory.fill (i32.const 4096) (i32.const 120) (i32.const 5))');
    const { entities } = await liveGuest({
      fields: `(data (i32.const 4096) "reply") ${clearing}`,
      query: `(drop (call $clear)) ${put(20, 4096)} ${put(24, 5)} (i32.const 16)`,
    });
    const entity = await entities.open(entityRef('a'), undefined);
    expect(await entity.query(CONTEXT, 'q', '')).toEqual({ kind: 'reply', json: 'reply' });
    expect(await entity.query(CONTEXT, 'q', '')).toEqual({ kind: 'reply', json: 'xxxxx' });
  });

  test('is called for a refusal as well', async () => {
    const trapping = { fields: post('command', 'unreachable'), ...deciding(put8(16, 1)) };
    expect((await faultOf(() => callEntity(trapping))).faultCause).toBe('trap');
  });

  test.each([
    ['that trapped', 'unreachable'],
    ['whose result cannot be read', `(drop (call $clear)) ${put8(16, 9)} (i32.const 16)`],
  ])('is not called for a call %s', async (_what, command) => {
    const guest = await liveGuest({
      fields: `(global $freed (mut i32) (i32.const 0))
        ${post('command', '(global.set $freed (i32.const 1))')}`,
      command,
      // The log has one line, `0` or `1`, once a command has begun: the default guest writes none before.
      takeLog: `(drop (call $clear)) ${put8(4096, 1)} ${put(4100, 4200)} ${put(4104, 1)}
        (i32.store8 (i32.const 4200) (i32.add (i32.const 48) (global.get $freed)))
        ${put(16, 4096)} ${put(20, 1)} (i32.const 16)`,
    });
    const entity = await guest.entities.open(entityRef('a'), undefined);
    await faultOf(() => entity.command(CONTEXT, 'c', ''));
    expect(guest.lines.at(-1)!.message).toBe('0');
  });

  test.each(NAMES)('that traps is a fault: of %s', async (name) => {
    const parts = withPost(name, 'unreachable');
    const call = name === 'handle' ? callHandler : callEntity;
    expect((await faultOf(() => call(parts))).faultCause).toBe('trap');
  });

  test.each(NAMES)(
    'reaches no import, not the one that its function may reach: of %s',
    async (name) => {
      const call = name === 'handle' ? callHandler : callEntity;
      const { message } = await faultOf(() => call(withPost(name, '(drop (call $now-ms))')));
      expect(message).toContain('clock.now-ms');
    },
  );

  test.each([
    ['calls', `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`],
    [
      'reads',
      `(call $read ${'(i32.const 0)'.repeat(4)} (i64.const 0) (i32.const 1) (i32.const 256))`,
    ],
  ])('of a handler %s nobody', async (_what, body) => {
    const fault = await faultOf(() => callHandler({ fields: post('handle', body) }));
    expect([fault.faultCause, fault.message]).toEqual([
      'trap',
      expect.stringContaining('where it may not be called'),
    ]);
  });
});

/** A `cabi_realloc` whose second call runs this body, too. */
const once = (body: string) =>
  `(if (i32.load (i32.const 8)) (then ${body})) (i32.store (i32.const 8) (i32.const 1)) (i32.const 4096)`;

describe('while a value is lowered', () => {
  test.each([
    ['tells the time', '(drop (call $now-ms))'],
    ['calls', `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`],
    [
      'reads',
      `(call $read ${'(i32.const 0)'.repeat(4)} (i64.const 0) (i32.const 1) (i32.const 256))`,
    ],
  ])('no import %s', async (_what, body) => {
    const { endpoints } = await liveGuest({ realloc: once(body) });
    const asked = request(0, { query: 'two', body: { kind: 'text', text: 'allocations' } });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, asked, hostCalls()));
    expect([fault.faultCause, fault.message]).toEqual([
      'trap',
      expect.stringContaining('where it may not be called'),
    ]);
  });

  test('a trap is the call’s fault', async () => {
    const { entities } = await liveGuest({ realloc: once('unreachable') });
    const fault = await faultOf(() => entities.open(entityRef('a'), undefined));
    expect(fault.faultCause).toBe('trap');
  });
});

describe('parameters', () => {
  test('that are passed through memory, where they are few enough to be flat, are refused', async () => {
    const module = await guestModule();
    const spilled = guestWat().replace(
      /\(func \(export "svc:runtime\/http@0\.1\.0#handle"\)[\s\S]*?\(result i32\)/,
      '(func (export "svc:runtime/http@0.1.0#handle") (param $all i32) (result i32)',
    );
    const { refusal } = inspectModule(withMainCore(module, await parse(spilled)));
    expect(refusal).toMatchObject({
      code: 'SVC_MODULE_STRUCTURE',
      message: expect.stringContaining("'svc:runtime/http@0.1.0#handle' with another type"),
    });
    expect(inspectModule(withMainCore(module, mainCore(module))).refusal).toBeUndefined();
  });
});

describe('a handle', () => {
  /** The snapshot is the number at 4096, which the constructor has written, in decimal. */
  const telling = `(drop (call $clear))
    (i32.store8 (i32.const 4200) (i32.add (i32.const 48) (i32.load (i32.const 4096))))
    ${put(16, 4200)} ${put(20, 1)} (i32.const 16)`;

  test.each([
    [
      'dropped twice',
      '(local $h i32) (local.set $h (call $resource-new (i32.const 1))) (call $resource-drop (local.get $h)) (call $resource-drop (local.get $h)) (local.get $h)',
    ],
    [
      'dropped, and its representation asked for',
      '(local $h i32) (local.set $h (call $resource-new (i32.const 1))) (call $resource-drop (local.get $h)) (drop (call $resource-rep (local.get $h))) (local.get $h)',
    ],
    ['0 that is dropped', '(call $resource-drop (i32.const 0)) (i32.const 1)'],
    ['-1', '(drop (call $resource-new (i32.const 1))) (i32.const -1)'],
    ['that is a representation', '(drop (call $resource-new (i32.const 4096))) (i32.const 4096)'],
  ])('that lies is a fault: %s', async (_what, construct) => {
    const { entities } = await liveGuest({ construct });
    const fault = await faultOf(() => entities.open(entityRef('a'), undefined));
    expect(fault.faultCause).toBe('value');
  });

  test('of another instance is none of this one’s', async () => {
    // An instance has one entity. The test keeps the first handle, which the next instance returns.
    const construct = `(if (i32.eqz (local.get $some)) (then (drop (call $resource-new (i32.const 1)))
      (return (call $resource-new (i32.const 2))))) (i32.const 1)`;
    const { entities } = await liveGuest({ construct }, { entitiesPerInstance: 1 });
    const first = await entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entities.open(entityRef('b'), ''));
    expect([fault.faultCause, first.lost]).toEqual(['value', false]);
  });

  test('that was given away is free for the next resource', async () => {
    const construct = `(local $h i32) (local.set $h (call $resource-new (i32.const 1)))
      (i32.store (i32.const 4096) (local.get $h)) (local.get $h)`;
    const { entities } = await liveGuest({ construct, snapshot: telling });
    for (let turn = 0; turn < 3; turn++) {
      const entity = await entities.open(entityRef(`${turn}`), undefined);
      expect(await entity.snapshot()).toBe('1');
    }
  });

  test('that was dropped is free for the next resource, one that is held is not', async () => {
    const construct = `(drop (call $resource-new (i32.const 1)))
      (call $resource-drop (call $resource-new (i32.const 2)))
      (i32.store (i32.const 4096) (call $resource-new (i32.const 3))) (i32.load (i32.const 4096))`;
    const { entities } = await liveGuest({ construct, snapshot: telling });
    const entity = await entities.open(entityRef('a'), undefined);
    expect(await entity.snapshot()).toBe('2');
  });

  test.each([0, 1, 0x7fff_ffff, -1, -2147483648])(
    'stands for any number of 32 bits, which methods and destructor are given: %i',
    async (rep) => {
      const right = `(if (i32.ne (local.get $rep) (i32.const ${rep})) (then unreachable))`;
      const { entities } = await liveGuest({
        construct: `(local $h i32) (local.set $h (call $resource-new (i32.const ${rep})))
          (if (i32.ne (call $resource-rep (local.get $h)) (i32.const ${rep})) (then unreachable)) (local.get $h)`,
        apply: `${right} (call $clear)`,
        command: `${right} (call $clear)`,
        query: `${right} (call $clear)`,
        snapshot: `${right} (call $clear)`,
        destroy: right,
      });
      const [one, two] = [
        await entities.open(entityRef('a'), undefined),
        await entities.open(entityRef('b'), undefined),
      ];
      await one.apply([], undefined);
      await one.command(CONTEXT, 'c', '');
      await one.query(CONTEXT, 'q', '');
      await one.snapshot();
      one.close();
      expect(two.lost).toBe(false);
    },
  );
});
