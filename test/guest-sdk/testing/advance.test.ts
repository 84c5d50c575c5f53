// How time passes in the test kit: which timers fire, in which order, and how their firings end.
import { afterAll, describe, expect, test } from 'vitest';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { failed, refused, testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';
import { UserProjects } from '../support/user-projects.ts';
import { failureOf, laterFailureOf } from './failure.ts';

const SOURCE = `import { Code, Context, Done, Due, Effect, EventSourcedEntity, Result, Timers, register } from "@svc/guest-sdk";
@data class Setting {
  name: string = "";
  @optional command: string = "ring";
  @optional id: string = "a";
  @optional ms: i64 = 0;
  @optional everyMs: i64 = 0;
  @optional cron: string = "";
  @optional zone: string = "UTC";
  @optional attempts: u32 = 0;
}
@data class Rings { @optional list: string[] = []; }
@data abstract class Event {}
@variant("rang") class Rang extends Event { constructor(public note: string) { super(); } }

function dueOf(setting: Setting): Due {
  if (setting.cron != "") return Due.cron(setting.cron, setting.zone);
  return setting.everyMs != 0 ? Due.every(setting.everyMs) : Due.after(setting.ms);
}

@entity("alarm") class Alarm extends EventSourcedEntity<Rings, Event> {
  empty(id: string): Rings { return new Rings(); }
  apply(state: Rings, event: Event): Rings {
    if (event instanceof Rang) state.list.push((event as Rang).note);
    return state;
  }
  @command("set") set(state: Rings, input: Setting): Effect<Done> {
    const call = input.command == "fail" ? AlarmCall.fail(input.id)
      : input.command == "busy" ? AlarmCall.busy(input.id)
      : input.command == "again" ? AlarmCall.again(input.id)
      : input.command == "end" ? AlarmCall.end(input.id)
      : AlarmCall.ring(input.id, input.name);
    return this.setTimer(input.name, dueOf(input), call, input.attempts).thenReply(new Done());
  }
  @command("ring") ring(state: Rings, name: string, context: Context): Effect<Done> {
    const due = context.metadata("timer-due-ms");
    const missed = context.metadata("timer-missed");
    const note = name + " " + (due === null ? "" : due) + " " + context.nowMs.toString() + " " + (missed === null ? "" : missed);
    return this.persist(new Rang(note)).thenReply(new Done());
  }
  @command("fail") fail(state: Rings): Effect<Done> { throw new Error("broken"); }
  @command("busy") busy(state: Rings): Effect<Done> { return this.refuse<Done>("busy", Code.TOO_MANY_REQUESTS); }
  @command("again") again(state: Rings, context: Context): Effect<Done> {
    return this.setTimer("again", Due.after(0), AlarmCall.again(context.entityId)).thenReply(new Done());
  }
  @command("end") end(state: Rings): Effect<Done> { return this.deleteEntity().thenReply(new Done()); }
  @query("get") get(state: Rings): Rings { return state; }
}

@endpoint("/alarms/{id}") @access("internet") class Alarms {
  @post set(id: string, input: Setting): Result<Done> { return new AlarmClient(id).set(input); }
  @put("/timers/{name}") ring(id: string, name: string, ms: i64): Result<Done> {
    return Timers.set(name, Due.after(ms), AlarmCall.ring(id, name));
  }
  @del("/timers/{name}") cancel(id: string, name: string): Result<Done> {
    return Timers.cancel(name, new AlarmClient(id));
  }
}
register<Alarm>();
register<Alarms>();`;

const projects = await UserProjects.open();
afterAll(() => projects.remove());
const entryFile = await projects.write({ 'index.ts': SOURCE });
const module = await testModule((await buildComponent({ entryFile, optimizeLevel: 0 })).component);

const START = Date.UTC(2026, 0, 1);
const alarm = () => testEntity(module, 'alarm', 'a');
const rang = (name: string, dueMs: number, nowMs = dueMs, missed = 0) => ({
  type: 'rang',
  note: `${name} ${START + dueMs} ${START + nowMs} ${missed}`,
});
const notes = (...events: readonly { readonly note: string }[]) => ({
  list: events.map(({ note }) => note),
});

describe('of an entity', () => {
  test('a timer fires at its time, and not before', () => {
    alarm()
      .when('set', { name: 'tea', ms: 5_000 })
      .advance(4_999)
      .thenFired([])
      .advance(1)
      .thenFired(['tea'])
      .thenEvents([rang('tea', 5_000)])
      .thenReply(null)
      .advance(1_000_000)
      .thenFired([]);
  });

  test('timers fire in the order of their due times, each at its own time', () => {
    const it = alarm()
      .when('set', { name: 'late', ms: 3_000 })
      .when('set', { name: 'early', ms: 1_000 })
      .when('set', { name: 'middle', ms: 2_000 })
      .advance(10_000)
      .thenFired(['early', 'middle', 'late']);
    expect(it.state()).toEqual(
      notes(rang('early', 1_000), rang('middle', 2_000), rang('late', 3_000)),
    );
    it.when('ring', 'now').thenEvents([{ type: 'rang', note: `now  ${START + 10_000} ` }]);
  });

  test('a timer that is set again is replaced, and one of a deleted entity is gone', () => {
    alarm()
      .when('set', { name: 'tea', ms: 1_000 })
      .when('set', { name: 'tea', ms: 9_000 })
      .advance(8_999)
      .thenFired([])
      .when('set', { name: 'end', command: 'end', ms: 0 })
      .advance(100_000)
      .thenFired(['end'])
      .thenDeleted();
  });

  test('a recurring timer fires at each occurrence', () => {
    const it = alarm().when('set', { name: 'tick', everyMs: 60_000 });
    it.advance(180_000).thenFired(['tick', 'tick', 'tick']);
    expect(it.state()).toEqual(
      notes(rang('tick', 60_000), rang('tick', 120_000), rang('tick', 180_000)),
    );
  });

  test('after a jump of the clock it fires once for all that it has missed', () => {
    alarm()
      .when('set', { name: 'tick', everyMs: 60_000 })
      .at(START + 330_000)
      .advance(0)
      .thenEvents([rang('tick', 60_000, 330_000, 4)])
      .advance(30_000)
      .thenEvents([rang('tick', 360_000)]);
  });

  test('a cron expression follows its zone', () => {
    // At 2:00 on 29 March 2026 the clocks of Berlin go forward.
    const it = alarm()
      .at('2026-03-27T12:00:00Z')
      .when('set', { name: 'nine', cron: '0 9 * * *', zone: 'Europe/Berlin' });
    it.advance(3 * 86_400_000).thenFired(['nine', 'nine', 'nine']);
    const times = it.state<{ list: string[] }>().list.map((note) => Number(note.split(' ')[1]));
    expect(times.map((ms) => new Date(ms).toISOString())).toEqual([
      '2026-03-28T08:00:00.000Z',
      '2026-03-29T07:00:00.000Z',
      '2026-03-30T07:00:00.000Z',
    ]);
  });

  test('a command that is refused with TOO_MANY_REQUESTS is sent again, until the timer is dead', () => {
    const it = alarm().when('set', { name: 'busy', command: 'busy', ms: 0, attempts: 3 });
    it.advance(0).thenFired(['busy']).thenRefused('TOO_MANY_REQUESTS');
    it.advance(1_000)
      .thenFired(['busy'])
      .advance(1_999)
      .thenFired([])
      .advance(1)
      .thenFired(['busy']);
    it.advance(1_000_000).thenFired([]);
  });

  test('a firing that traps fails the test', () => {
    const it = alarm().when('set', { name: 'boom', command: 'fail', ms: 1 });
    expect(failureOf(() => it.advance(1)).message).toMatch(
      /^alarm 'a', command 'fail', after no events, sent by the timer 'boom'\n.*broken/,
    );
  });

  test('a timer for another entity fails the test, which says what to use', () => {
    const it = alarm().when('set', { name: 'other', id: 'b', ms: 1 });
    expect(failureOf(() => it.advance(1)).message).toContain(
      "the timer 'other' sends 'ring' to alarm 'b', and this test has only one entity. Use testEndpoints",
    );
  });

  test('a timer that is set for now again and again ends', () => {
    const it = alarm().when('set', { name: 'again', command: 'again', ms: 0 });
    expect(failureOf(() => it.advance(0)).message).toContain(
      "10000 timers have fired in one advance, the last one is 'again'",
    );
  });

  test.each([-1, 0.5, NaN, Infinity])('%s is no time to pass', (ms) => {
    expect(failureOf(() => alarm().advance(ms)).message).toBe(
      `advance takes milliseconds, a whole number that is not negative, and got ${ms}.`,
    );
  });

  test('expectations say when nothing has fired, and when no time has passed', () => {
    expect(failureOf(() => alarm().advance(1).thenEvents([])).message).toContain(
      'no timer was due in the time that has passed',
    );
    expect(failureOf(() => alarm().when('end').thenFired([])).message).toContain(
      'let time pass with .advance(ms) first',
    );
    const it = alarm().when('set', { name: 'tea', ms: 1 }).advance(1);
    expect(failureOf(() => it.thenFired([]))).toMatchObject({ actual: ['tea'], expected: [] });
  });

  test.each([
    ['a period that is too short', { everyMs: 5 }, /timer 'x' is due every 5 ms, at least 1000/],
    ['a wrong expression', { cron: '* *' }, /cron expression '\* \*', which has 2 fields/],
    ['an unknown zone', { cron: '@daily', zone: 'Mars' }, /time zone 'Mars', which is not/],
    ['a time after the year 9999', { ms: 2 ** 50 }, /timer 'x' is due after the year 9999/],
    ['an empty name', { name: '' }, /the name '' of a timer/],
  ])('%s is a fault of the command', (_, setting, message) => {
    expect(failureOf(() => alarm().when('set', { name: 'x', ...setting })).message).toMatch(
      message,
    );
  });
});

describe('of endpoints', () => {
  test('timers of handlers and of commands fire in the order of their due times', async () => {
    const api = testEndpoints(module);
    await api.put('/alarms/b/timers/second?ms=2000');
    await api.put('/alarms/a/timers/gone?ms=1');
    await api.post('/alarms/a', { name: 'first', ms: 1_000 });
    expect((await api.delete('/alarms/a/timers/gone')).status).toBe(204);
    expect(await api.advance(2_000)).toEqual([
      {
        name: 'first',
        dueAt: new Date(START + 1_000).toISOString(),
        component: 'alarm',
        id: 'a',
        command: 'ring',
        outcome: 'replied',
      },
      expect.objectContaining({ name: 'second', id: 'b', outcome: 'replied' }),
    ]);
    expect(await api.events('alarm', 'a')).toEqual([rang('first', 1_000)]);
    expect(await api.events('alarm', 'b')).toEqual([rang('second', 2_000)]);
    expect(await api.advance(1_000_000)).toEqual([]);
  });

  test('a command that fails is sent again, until the timer is dead', async () => {
    const api = testEndpoints(module);
    await api.post('/alarms/a', { name: 'boom', command: 'fail', ms: 1, attempts: 2 });
    const fired = await api.advance(10_000);
    expect(fired.map(({ outcome }) => outcome)).toEqual(['retried', 'dead']);
    expect(fired[0]!.fault).toContain('broken');
    expect(api.faults).toHaveLength(2);
    expect(api.faults[0]).toMatch(/^timer 'boom', alarm 'a' fail: .*broken/);
    expect(await api.advance(1_000_000)).toEqual([]);
  });

  test('the target may be a fake', async () => {
    const calls: unknown[] = [];
    const answers = [undefined, refused('CONFLICT', 'no')];
    const api = testEndpoints(module, {
      components: {
        alarm: (call) => {
          calls.push(call);
          return answers[calls.length - 1];
        },
      },
    });
    await api.put('/alarms/a/timers/x?ms=5');
    await api.put('/alarms/a/timers/y?ms=6');
    expect(await api.advance(10)).toMatchObject([{ name: 'x' }, { name: 'y' }]);
    expect(calls).toMatchObject([
      {
        id: 'a',
        name: 'ring',
        input: 'x',
        metadata: { 'timer-due-ms': String(START + 5), 'timer-missed': '0' },
      },
      { input: 'y' },
    ]);
    expect(await api.advance(1_000)).toEqual([]);
  });

  test('a fake that fails fails the test', async () => {
    const api = testEndpoints(module, { components: { alarm: () => failed('broken') } });
    await api.put('/alarms/a/timers/x?ms=5');
    expect((await laterFailureOf(() => api.advance(10))).message).toContain('broken');
  });
});
