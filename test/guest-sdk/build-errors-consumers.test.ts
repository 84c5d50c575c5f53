// The compiler's messages about consumers that would get no events, or get them in a form that they do not expect.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUERY, UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

interface Parts {
  readonly role?: string;
  readonly base?: string;
  readonly methods?: string;
  readonly registered?: string;
  readonly more?: string;
}

const ROLE = '@consumer("ledger", Start.beginning)';
const ON = '@on("thing") on(event: Event, context: EventContext): Verdict { return this.done(); }';

/** Returns a module with an entity and a consumer: its class is on line 3, and its methods on line 4. */
const consumer = ({
  role = ROLE,
  base = 'extends Consumer',
  methods = ON,
  registered = 'register<Ledger>();',
  more = '',
}: Parts): string => `import { Consumer, EventContext, Start, Verdict, View, RowChange } from "@svc/guest-sdk";
@data class Row { owner: string = ""; }
${role} class Ledger ${base} {
${methods}
}
${entity(QUERY)}
${registered}
${more}`;

async function onlyProblem(source: string): Promise<string> {
  const problems = await projects.problemsOf(source);
  expect(problems.map((one) => problemLine(one))).toHaveLength(1);
  const [problem] = problems;
  const { line, column, sourceLine = '', length = 0 } = problem!;
  return `${line} ${sourceLine.slice(column! - 1, column! - 1 + length)} | ${problemLine(problem)}`;
}

const START_HELP =
  'import { Start } from "@svc/guest-sdk", and write Start.beginning for all events of the journal, or Start.now for those from the first start on';

test.each<[string, Parts, string]>([
  [
    'without an id',
    { role: '@consumer("", Start.now)' },
    `3 @consumer("", Start.now) | @consumer needs the id of the consumer: @consumer("ledger", Start.beginning), with an id of letters, digits, '.', '_', '-', beginning with a letter`,
  ],
  [
    'without a start',
    { role: '@consumer("ledger")' },
    `3 @consumer("ledger") | @consumer does not say with which events it begins: ${START_HELP}`,
  ],
  [
    'with a start that there is not',
    { role: '@consumer("ledger", Start.end)' },
    `3 Start.end | 'Start.end' does not say with which events the consumer begins: ${START_HELP}`,
  ],
  [
    'with a start of its own',
    { role: '@consumer("ledger", Mine.now)', more: 'enum Mine { now }' },
    `3 Mine.now | 'Mine.now' does not say with which events the consumer begins: ${START_HELP}`,
  ],
  [
    'with a start as a text',
    { role: '@consumer("ledger", "beginning")' },
    `3 "beginning" | '"beginning"' does not say with which events the consumer begins: ${START_HELP}`,
  ],
  [
    'with more than a start',
    { role: '@consumer("ledger", Start.now, 1)' },
    `3 1 | '1' does not say with which events the consumer begins: ${START_HELP}`,
  ],
  [
    'with the id of an entity',
    { role: '@consumer("thing", Start.now)' },
    `3 Ledger | consumer 'thing' has the id of the entity 'Thing': give it another: entities, views and consumers share their ids`,
  ],
  [
    'with the id of a view',
    {
      more: '@view("ledger") class Rows extends View<Row> { @from("thing") on(row: Row | null, event: Event): RowChange<Row> { return this.keep(); } }\nregister<Rows>();',
    },
    `3 Ledger | consumer 'ledger' has the id of the view 'Rows': give it another: entities, views and consumers share their ids`,
  ],
  [
    'with the id of another',
    { more: `${ROLE} class Second extends Consumer { ${ON} }\nregister<Second>();` },
    `17 Second | consumer 'ledger' is registered twice, as 'Ledger' and as 'Second': give each its own id: @consumer("id", …)`,
  ],
  [
    'without a source',
    { methods: '' },
    `3 Ledger | consumer 'Ledger' has no @on: it would get no events: add @on("order") onOrder(event: OrderEvent, context: EventContext): Verdict { … }`,
  ],
  [
    'of no source',
    { methods: ON.replace('("thing")', '') },
    `4 @on | @on needs the id of the component whose events the method gets: @on("order"), the id that @entity names`,
  ],
  [
    'of an unknown source',
    { methods: ON.replace('thing', 'think') },
    `4 @on("think") | consumer 'Ledger': there is no entity 'think'. Did you mean 'thing'?: @on names the id of an @entity: thing`,
  ],
  [
    'with two methods for a source',
    { methods: `${ON} ${ON.replace(' on(', ' again(')}` },
    `4 @on("thing") | @on("thing") stands before two methods, 'on' and 'again': write one method for the events of a component`,
  ],
  [
    'with another handler',
    { methods: `${ON} @from("thing") c(): void {}` },
    `4 @from("thing") | a method of a consumer is a @on("component"), not @from`,
  ],
  [
    'whose method takes no event',
    { methods: '@on("thing") on(): Verdict { return this.done(); }' },
    `4 on | 'on' takes no event: write on(event: OrderEvent, context: EventContext): Verdict, with your own type`,
  ],
  [
    'with a method of the name of a verdict',
    { methods: `${ON} skip(reason: string): Verdict { return this.done(); }` },
    `4 skip | 'skip' is a member of every consumer: Consumer declares it: give this one another name`,
  ],
  [
    'whose base class is missing',
    { base: '', methods: ON.replace('this.done()', 'new Verdict(0, "", 0)') },
    `3 Ledger | consumer 'Ledger' must extend Consumer of @svc/guest-sdk: import { Consumer } from "@svc/guest-sdk"`,
  ],
])('a consumer %s', async (_what, parts, message) => {
  expect(await onlyProblem(consumer(parts))).toBe(message);
});

test.each([
  ['another event', 'on(event: Row, context: EventContext): Verdict { return this.done(); }'],
  [
    'the context of a command',
    'on(event: Event, context: Context): Verdict { return this.done(); }',
  ],
  ['more', 'on(event: Event, context: EventContext, n: i32): Verdict { return this.done(); }'],
  ['no verdict', 'on(event: Event): bool { return true; }'],
  ['an event that may be null', 'on(event: Event | null): Verdict { return this.done(); }'],
])('a consumer whose method takes or returns %s', async (_what, method) => {
  expect(await onlyProblem(consumer({ methods: `@on("thing") ${method}` }))).toBe(
    `4 on | 'on' of consumer 'Ledger' has other parameters or another type than the runtime calls it with: write on(event: Event, context: EventContext): Verdict`,
  );
});

test('a consumer of an entity that is not registered', async () => {
  const source = consumer({}).replace('register<Thing>();', '');
  expect(await onlyProblem(source)).toBe(
    `4 @on("thing") | consumer 'ledger' gets the events of 'thing', which is not registered: register the entity too, at the top level of the entry file`,
  );
});

test('a class with @on that does not say that it is a consumer', async () => {
  expect(await onlyProblem(consumer({ role: '', registered: '' }))).toBe(
    `3 Ledger | class 'Ledger' has handlers, and does not say what it is: write @consumer("ledger", Start.beginning) before it`,
  );
});
