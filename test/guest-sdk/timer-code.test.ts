// What a module hands to the runtime for timers: the changes in the effect of a command, and the calls of a handler.
import { afterAll, describe, expect, test } from 'vitest';
import { compileCoreModule } from '../../guest-sdk/compiler/core-module.ts';
import type { CallAnswer } from '../support/core-answers.ts';
import { CoreGuest, type CoreRequest } from '../support/core-guest.ts';
import { UserProjects, entity } from './support/user-projects.ts';

const projects = await UserProjects.open();
afterAll(() => projects.remove());

const commands = (effects: readonly string[]): string =>
  effects
    .map(
      (effect, index) =>
        `@command("c${index}") c${index}(s: State, ms: i64, context: Context): Effect<Done> { return ${effect}.thenReply(new Done()); }`,
    )
    .join('\n');

async function compiled(source: string): Promise<WebAssembly.Module> {
  const entryFile = await projects.write({ 'index.ts': source });
  const sdk = { name: 'sdk', version: '1' };
  const { core } = await compileCoreModule(entryFile, sdk, { optimizeLevel: 0, sourceMap: false });
  return new WebAssembly.Module(core);
}

async function guestOf(source: string): Promise<CoreGuest> {
  return new CoreGuest(await compiled(source));
}

/** Returns the changes of timers of each effect, for the input 5,000,000,000. */
async function changesOf(...effects: string[]): Promise<unknown[]> {
  const source = `${entity(`${commands(effects)}
  @command("expire") expire(s: State): Effect<Done> { return this.reply(new Done()); }
  @command("remind") remind(s: State, text: string, context: Context): Effect<Done> { return this.reply(new Done()); }`)}
import { Due } from "@svc/guest-sdk";`;
  const guest = await guestOf(source);
  const thing = guest.open('thing', 'a');
  return effects.map((_, index) => {
    const effect = guest.command(thing, `c${index}`, '5000000000');
    if (!('ok' in effect)) throw new Error(effect.refused.message);
    return effect.ok.timers;
  });
}

const EXPIRE = {
  name: 'expire',
  component: 'thing',
  id: 'a',
  command: 'expire',
  input: 'null',
  attempts: undefined,
};

describe('an effect', () => {
  test('lists its changes in their order', async () => {
    const [none, one, three, alone] = await changesOf(
      'this.persist(new Added())',
      'this.persist(new Added()).thenSetTimer("expire", Due.after(900_000), ThingCall.expire(context.entityId))',
      'this.deleteEntity().thenCancelTimer("a").thenSetTimer("expire", Due.after(ms), ThingCall.expire("a"), 3).thenCancelTimer("b\\u0000")',
      'this.cancelTimer("a").thenPersist(new Added())',
    );
    expect(none).toEqual([]);
    expect(one).toEqual([{ set: { ...EXPIRE, due: { kind: 'after', ms: 900_000 } } }]);
    expect(three).toEqual([
      { cancel: 'a' },
      { set: { ...EXPIRE, due: { kind: 'after', ms: 5_000_000_000 }, attempts: 3 } },
      { cancel: 'b\0' },
    ]);
    expect(alone).toEqual([{ cancel: 'a' }]);
  });

  test('has each kind of due time', async () => {
    const dues = [
      ['Due.at(new Date(ms))', { kind: 'at', ms: 5_000_000_000 }],
      ['Due.at(new Date(-1))', { kind: 'at', ms: 0 }],
      ['Due.after(-ms)', { kind: 'after', ms: 0 }],
      ['Due.after(i64.MAX_VALUE)', { kind: 'after', ms: 2 ** 63 }],
      ['Due.every(ms)', { kind: 'every', ms: 5_000_000_000 }],
      ['Due.cron("@daily")', { kind: 'cron', expression: '@daily', zone: 'UTC' }],
      [
        'Due.cron("0 9 * * *", "Europe/Berlin")',
        { kind: 'cron', expression: '0 9 * * *', zone: 'Europe/Berlin' },
      ],
    ] as const;
    const changes = await changesOf(
      ...dues.map(([text]) => `this.setTimer("expire", ${text}, ThingCall.expire("a"))`),
    );
    expect(changes).toEqual(dues.map(([, due]) => [{ set: { ...EXPIRE, due } }]));
  });

  test('has the target, the command and its input, as well-formed text', async () => {
    const [changes] = await changesOf(
      'this.setTimer("a\\ud800", Due.after(1), ThingCall.remind("b\\udc00", "say \\"hi\\""))',
    );
    expect(changes).toEqual([
      {
        set: {
          ...EXPIRE,
          name: 'a\ufffd',
          id: 'b\ufffd',
          command: 'remind',
          input: String.raw`"say \"hi\""`,
          due: { kind: 'after', ms: 1 },
        },
      },
    ]);
  });

  test('does not get the timers that its change gets later', async () => {
    const source = `${entity(`@command("c") c(s: State): Effect<Done> {
    const change = this.setTimer("first", Due.after(1), ThingCall.c("a"));
    const effect = change.thenReply(new Done());
    change.thenCancelTimer("second");
    return effect;
  }`)}\nimport { Due } from "@svc/guest-sdk";`;
    const guest = await guestOf(source);
    const effect = guest.command(guest.open('thing', 'a'), 'c', 'null');
    expect(effect).toMatchObject({ ok: { timers: [{ set: { name: 'first' } }] } });
    expect('ok' in effect && effect.ok.timers).toHaveLength(1);
  });

  test('lists as many as a command makes, whatever is collected in between', async () => {
    const source = `${entity(`@command("c") c(s: State): Effect<Done> {
    const change = this.setTimer("0", Due.after(0), ThingCall.c("0"));
    for (let i = 1; i < 1000; ++i) change.thenSetTimer(i.toString(), Due.after(i), ThingCall.c(i.toString()));
    return change.thenReply(new Done());
  }`)}\nimport { Due } from "@svc/guest-sdk";`;
    const guest = await guestOf(source);
    const thing = guest.open('thing', 'a');
    for (let call = 0; call < 20; call++) {
      const effect = guest.command(thing, 'c', 'null');
      if (!('ok' in effect)) throw new Error(effect.refused.message);
      expect(effect.ok.timers.map((change) => 'set' in change && change.set.name)).toEqual(
        Array.from({ length: 1000 }, (_, index) => String(index)),
      );
    }
  });
});

describe('a handler', () => {
  const SOURCE = `${entity('@command("expire") expire(s: State): Effect<Done> { return this.reply(new Done()); }')}
import { Due, Timers } from "@svc/guest-sdk";
@endpoint("/things") @access("internet") class Things {
  @put("/{id}") set(id: string): Result<Done> { return Timers.set("expire", Due.cron("@daily"), ThingCall.expire(id), 5); }
  @del("/{id}") cancel(id: string): Result<Done> { return Timers.cancel("expire", new ThingClient(id)); }
}
register<Things>();`;
  const SET: CoreRequest = { route: 0, parameters: ['a'] };
  const CANCEL: CoreRequest = { route: 1, parameters: ['a'] };

  const module = compiled(SOURCE);

  test('sets and cancels timers', async () => {
    const calls: unknown[] = [];
    const guest = new CoreGuest(await module, {
      setTimer: (set) => void calls.push(set),
      cancelTimer: (...names) => void calls.push(names),
    });
    expect(guest.handle(SET)).toMatchObject({ ok: { status: 204 } });
    expect(guest.handle(CANCEL)).toMatchObject({ ok: { status: 204 } });
    const due = { kind: 'cron', expression: '@daily', zone: 'UTC' };
    expect(calls).toEqual([{ ...EXPIRE, due, attempts: 5 }, ['thing', 'a', 'expire']]);
  });

  test.each([
    [{ denied: 'no' }, { code: 2, message: 'no' }],
    [{ unavailable: 'later' }, { code: 7, otherCode: 'UNAVAILABLE', message: 'later' }],
    [{ timedOut: true }, { code: 7, otherCode: 'TIMED_OUT' }],
    [{ other: 'broken' }, { code: 7, otherCode: 'INTERNAL', message: 'broken' }],
  ] satisfies [CallAnswer, object][])(
    'is answered with %j as a call is',
    async (error, refused) => {
      const answer = () => error;
      const guest = new CoreGuest(await module, { setTimer: answer, cancelTimer: answer });
      expect(guest.handle(SET)).toMatchObject({ refused });
      expect(guest.handle(CANCEL)).toMatchObject({ refused });
    },
  );
});

test('a module without timers imports nothing for them', async () => {
  const module = await compiled(entity('@query("get") get(s: State): State { return s; }'));
  const names = WebAssembly.Module.imports(module).map(({ name }) => name);
  expect(names.toSorted()).toEqual(['[resource-new]instance', 'now-ms']);
});
