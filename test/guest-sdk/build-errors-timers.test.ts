// The compiler's messages about timers that could not be set, and about calls that could not be made later.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { ENTITY, QUERY, UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const SDK = 'import { DeferredCall, Due, Duration, Timers } from "@svc/guest-sdk";';
const COMMANDS = `@command("expire") expire(s: State): Effect<Done> { return this.reply(new Done()); }
@command("remind") remind(s: State, text: string): Effect<Done> { return this.reply(new Done()); }
${QUERY}`;
/** Returns a module whose command's effect is on line 8. */
const effect = (built: string): string =>
  `${entity(`  @command("c") c(s: State, context: Context): Effect<Done> { return ${built}.thenReply(new Done()); }\n${COMMANDS}`)}\n${SDK}`;
const due = (text: string): string =>
  effect(`this.setTimer("expire", ${text}, ThingCall.expire(context.entityId))`);
const call = (text: string): string => effect(`this.setTimer("expire", Due.after(1), ${text})`);
/** Returns a module whose handler of an endpoint is on line 2. */
const handler = (returned: string): string =>
  `@endpoint("/things") @access("internet") class Things {
@post("/{id}") timer(id: string): Result<Done> { return ${returned}; }
}
${entity(COMMANDS)}
${SDK}
register<Things>();`;

async function theOnlyProblem(source: Parameters<UserProjects['problemsOf']>[0]): Promise<string> {
  const problems = await projects.problemsOf(source);
  expect(problems.map((one) => problemLine(one))).toHaveLength(1);
  const [problem] = problems;
  expect(problem).toMatchObject({ file: 'index.ts' });
  const { line, column, sourceLine = '', length = 0 } = problem!;
  return `${line} ${sourceLine.slice(column! - 1, column! - 1 + length)} | ${problemLine(problem)}`;
}

describe('names', () => {
  test.each([
    [
      'a timer without a name',
      effect('this.persist(new Added()).thenSetTimer("", Due.after(1), ThingCall.expire("a"))'),
      '8 "" | a timer needs a name: name it by what it is for, "expire": setting a timer replaces the one of the same name',
    ],
    [
      'one that persists nothing',
      effect('this.setTimer("", Due.after(1), ThingCall.expire("a"))'),
      /^8 "" \| a timer needs a name/,
    ],
    [
      'one that is cancelled',
      effect('this.persist(new Added()).thenCancelTimer("")'),
      /^8 "" \| a timer needs a name/,
    ],
    ['one alone', effect('this.cancelTimer("")'), /^8 "" \| a timer needs a name/],
    [
      'one of a handler',
      handler('Timers.set("", Due.after(1), ThingCall.expire(id))'),
      /^2 "" \| a timer needs a name/,
    ],
    [
      'a class with the name of the deferred calls',
      `${entity(QUERY)}\nclass ThingCall {}`,
      "11 ThingCall | 'ThingCall' is the class of deferred calls that the compiler writes for 'Thing': give this another name",
    ],
    [
      'a handler with the name of a member of the base class',
      entity('@command("c") setTimer(s: State): Effect<Done> { return this.reply(new Done()); }'),
      /^8 setTimer \| 'setTimer' is a member of every entity/,
    ],
  ])('%s', async (_, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });
});

describe('due times', () => {
  test.each([
    [
      'a cron expression with seconds',
      due('Due.cron("0 0 9 * * *")'),
      `8 "0 0 9 * * *" | the cron expression '0 0 9 * * *' has 6 fields, but seconds are not supported: write five: minute, hour, day of month, month, day of week`,
    ],
    [
      'one that never fires',
      due('Due.cron("0 0 30 2 *", "UTC")'),
      `8 "0 0 30 2 *" | the cron expression '0 0 30 2 *' never fires: the months that it names have at most 29 days`,
    ],
    [
      'a very long one',
      due(`Due.cron("${'1,'.repeat(25_000)}")`),
      /the cron expression '(?:1,){30}…' has 50000 characters: write at most 100, or several timers$/,
    ],
    [
      'an unknown time zone',
      due('Due.cron("@daily", "Europe/Berlim")'),
      /^8 "Europe\/Berlim" \| the time zone 'Europe\/Berlim' is not the name of a known time zone: write an IANA name, such as Europe\/Berlin or UTC$/,
    ],
    [
      'an offset as the zone, with the SDK as a namespace',
      due('svc.Due.cron("@daily", "+02:00")').replace(
        SDK,
        'import * as svc from "@svc/guest-sdk";',
      ),
      /^8 "\+02:00" \| the time zone '\+02:00' is an offset: write an IANA name/,
    ],
    [
      'a period below a second',
      due('Due.every(60)'),
      '8 60 | a timer cannot recur every 60 ms: the shortest period is 1000 ms: Due.every takes milliseconds: Due.every(60_000) is once a minute',
    ],
    [
      'a product below a second',
      due('Due.every(9 * (1_00))'),
      /^8 9 \* \(1_00\) \| a timer cannot recur every 900 ms/,
    ],
    [
      'a negative delay',
      due('Due.after(-5 * 60)'),
      /^8 -5 \* 60 \| a timer cannot be due 300 ms before it is set/,
    ],
    [
      'the current time as a delay',
      due('Due.after(context.nowMs + 900_000)'),
      '8 context.nowMs + 900_000 | Due.after takes a number of milliseconds, and this is a time: write Due.after(900_000), which counts from now on, or Due.at(date)',
    ],
    [
      'the clock as a period',
      due('Due.every(1000 + Date.now())'),
      /^8 1000 \+ Date\.now\(\) \| Due\.every takes a number of milliseconds/,
    ],
    [
      'a number as a date',
      due('Due.at(Date.now())'),
      /^8 Date\.now\(\) \| Type 'i64' is not assignable to type 'Date'\. \(AS2322\): Due\.at takes a Date: Due\.at\(new Date\(ms\)\)/,
    ],
    [
      'a duration as a delay',
      due('Due.after(Duration.ofMinutes(15))'),
      /Type 'Duration' is not assignable to type 'i64'\. \(AS2322\): write its milliseconds: Due\.after\(Duration\.ofMinutes\(15\)\.ms\)$/,
    ],
    [
      'a number alone',
      due('900_000'),
      /^8 900_000 \| Type 'i32' is not assignable to type 'Due'.*: say when: Due\.after\(900_000\)/,
    ],
  ])('%s', async (_, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });

  test('times that are computed build', async () => {
    const dues = [
      'Due.after(new Date(1).getTime() - Date.now())',
      'Due.at(new Date(<i64>context.nowMs + 1))',
      'Due.every(ms)',
      'Due.every(60 * 1_000)',
      'Due.cron("@DAILY", "")',
    ];
    const commands = dues.map(
      (text, index) =>
        `@command("c${index}") c${index}(s: State, ms: i64, context: Context): Effect<Done> { return this.setTimer("a", ${text}, ThingCall.expire("b"), 3).thenReply(new Done()); }`,
    );
    const source = `${entity(`${commands.join('\n')}\n${COMMANDS}`)}\n${SDK}`;
    const entryFile = await projects.write({ 'index.ts': source });
    expect((await buildComponent({ entryFile, optimizeLevel: 0 })).warnings).toEqual([]);
  });
});

describe('calls', () => {
  test.each([
    [
      'a query',
      call('ThingCall.get("a")'),
      /^8 get \| Property 'get' does not exist on type 'ThingCall'\. \(AS2339\): 'get' is a query: what is sent later is a command/,
    ],
    [
      'a command that is mistyped',
      call('ThingCall.expires("a")'),
      /^8 expires \| Property 'expires' does not exist on type 'ThingCall'\. \(AS2339\): did you mean 'expire'\?$/,
    ],
    [
      'an input of another type',
      call('ThingCall.remind("a", 5)'),
      /^8 5 \| Type 'i32' is not assignable to type 'string'/,
    ],
    [
      'a missing input',
      call('ThingCall.remind("a")'),
      /^8 .*ThingCall\.remind\("a"\) \| Expected 2 arguments, but got 1/,
    ],
    [
      'the name of a command',
      call('"expire"'),
      /^8 "expire" \| Type 'string' is not assignable to type 'DeferredCall'\. \(AS2322\): a timer takes a command to send later: OrderCall\.expire\(id\)/,
    ],
    [
      'a call of the client, in a handler',
      handler('Timers.set("a", Due.after(1), new ThingClient(id).expire())'),
      /^2 new ThingClient\(id\)\.expire\(\) \| Type 'Result<Done>' is not assignable to type 'DeferredCall'/,
    ],
    [
      'an id in the place of a client',
      handler('Timers.cancel("a", id)'),
      /^2 id \| Type 'string' is not assignable to type 'EntityClient'\. \(AS2322\): name the entity by its client: Timers\.cancel\("remind", new OrderClient\(id\)\)$/,
    ],
    [
      'deferred calls that are not imported',
      {
        'index.ts': `import "./thing";\n${handler('Timers.set("a", Due.after(1), ThingCall.expire(id))').replace(entity(COMMANDS), ENTITY)}`,
        'thing.ts': entity(COMMANDS),
      },
      /^3 ThingCall \| Cannot find name 'ThingCall'\. \(AS2304\): the compiler writes it into the file of its entity: import \{ ThingCall \} from that file, thing\.ts$/,
    ],
  ])('%s', async (_, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });
});

describe('where timers are changed', () => {
  const command = (returned: string): string =>
    `${entity(`  @command("c") c(s: State): Effect<Done> { return ${returned}; }\n${COMMANDS}`)}\n${SDK}`;
  test.each([
    [
      'Timers in a command',
      command(
        'Timers.cancel("a", changetype<ThingClient>(0)).isOk ? this.reply(new Done()) : this.reply(new Done())',
      ),
      `8 Timers.cancel | entity 'Thing' cannot use Timers: only endpoints and consumers can: a command changes the timers of its entity with its effect: this.persist(event).thenSetTimer("expire", due, call).thenReply(value)`,
    ],
    [
      'Timers in apply',
      `${entity(QUERY).replace('state.n += 1;', 'Timers.set("a", Due.after(1), changetype<DeferredCall>(0));')}\n${SDK}`,
      /^7 Timers\.set \| entity 'Thing' cannot use Timers/,
    ],
    [
      'a query that sets one',
      `${entity('  @query("c") c(s: State): Done { this.setTimer("a", Due.after(1), ThingCall.expire("a")); return new Done(); }')}\n${SDK}`,
      /^8 this\.setTimer\(.*\) \| query 'c' builds an effect with 'this\.setTimer'/,
    ],
    [
      'a query that cancels one',
      `${entity('  @query("c") c(s: State): Done { this.cancelTimer("a"); return new Done(); }')}\n${SDK}`,
      /^8 this\.cancelTimer\(.*\) \| query 'c' builds an effect with 'this\.cancelTimer'/,
    ],
    [
      'a timer after the reply',
      command('this.reply(new Done()).thenCancelTimer("a")'),
      /^8 thenCancelTimer \| Property 'thenCancelTimer' does not exist on type 'Effect<Done>'\. \(AS2339\): the reply comes last/,
    ],
    [
      'no reply',
      command('this.cancelTimer("a")'),
      /^8 .* \| Type 'Change<State,Event>' is not assignable to type 'Effect<Done>'.*: say what the caller gets/,
    ],
    [
      'a habit of JavaScript',
      command('setTimeout(1)'),
      /^8 setTimeout \| Cannot find name 'setTimeout'\. \(AS2304\): a module runs while it is called; to do something later, set a timer/,
    ],
  ])('%s', async (_, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });
});
