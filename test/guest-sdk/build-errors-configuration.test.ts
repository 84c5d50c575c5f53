// Builds that fail for the configuration of a module: its class, its secrets, and where it is read.
import { afterAll, expect, test } from 'vitest';
import { problemLine, UserProjects } from './support/user-projects.ts';

const projects = await UserProjects.open();
afterAll(() => projects.remove());

const HEAD = `import { Context, Done, Effect, EventContext, EventSourcedEntity, Patch, RowChange, View, register, settings } from "@svc/guest-sdk";
@data class State { n: i32 = 0; }
@data abstract class Event {}
@variant("added") class Added extends Event {}
`;
const lines = async (source: string): Promise<readonly string[]> =>
  (await projects.problemsOf(HEAD + source)).map(
    (problem) => `${problem.line}:${problem.column} ${problemLine(problem)}`,
  );

test('settings are read where a request or an event is handled, and nowhere else', async () => {
  const found = await lines(`@configuration class Settings { fee: i32 = 1; }
const early = settings<Settings>();
function later(): i32 { return settings<Settings>().fee; }
@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { if (event instanceof Added) state.n += settings<Settings>().fee; return state; }
  @query("get") get(s: State): State { return s; }
}
@view("things") class Things extends View<State> {
  @from("thing") fold(row: State | null, event: Event, context: EventContext): RowChange<State> { return this.keep(); }
  own(): i32 { return settings<Settings>().fee; }
}
@endpoint("/x") @access("internet") class X {
  own: i32 = settings<Settings>().fee;
  constructor() { settings<Settings>(); }
  @get("/ok") ok(): i32 { return settings<Settings>().fee + later(); }
  @get("/none") none(): i32 { return settings().fee; }
  @get("/other") other(): i32 { return settings<State>().n; }
}
register<Thing>(); register<Things>(); register<X>();`);
  const place =
    'the configuration cannot be read while the module starts: its values come with a request or an event: call settings in the handler; it reads the values once for each request';
  expect(found).toEqual(
    expect.arrayContaining([
      `6:15 ${place}`,
      "10:85 entity 'Thing' cannot read the configuration: only endpoints and consumers can: read it in the endpoint, and give the entity the value as a part of its input: the journal has it then",
      "15:23 view 'Things' cannot read the configuration: only endpoints and consumers can: read it in the endpoint that makes the command, and let the event say the value",
      `18:14 ${place}`,
      `19:19 ${place}`,
      '21:38 settings does not say what it reads: write settings<Settings>()',
      "22:49 'State' is not the configuration of the module: write settings<Settings>()",
    ]),
  );
  expect(found).toHaveLength(7);
});

test('a configuration is one class without parameters, and its secrets are texts without defaults', async () => {
  const found = await lines(`@configuration("settings") class Settings {
  name: Patch<string> = new Patch<string>();
  @secret key: string = "in the source";
  @secret days: i32;
  @secret none: string | null = null;
  @optional @alias("x") other: string = "";
}
@configuration class More<T> { other: string = ""; }
@data class Plain { @secret key: string; }
@endpoint("/x") @access("internet") class X {
  @get("/ok") ok(): string { return ""; }
}
register<X>();`);
  expect(found).toEqual(
    expect.arrayContaining([
      '5:1 @configuration takes no arguments',
      expect.stringContaining("field 'name' of a configuration cannot be a patch"),
      "7:3 @secret field 'key' cannot have a default: everyone who has the module could read it: remove the default, and give the value where the module runs",
      "8:3 @secret field 'days' is a string, not 'i32': the log replaces its text",
      '10:3 @optional means nothing here: it stands before a field of a @data or @variant class',
      '10:13 @alias means nothing here: it stands before a field of a @data or @variant class',
      "12:1 a module has one configuration, and 'Settings' is it: move the fields of 'More' into it",
      '13:21 @secret means nothing here: it stands before a field of a @configuration class',
    ]),
  );
});

test('a module that reads a configuration declares one', async () => {
  expect(
    await lines(`@endpoint("/x") @access("internet") class X {
  @get("/ok") ok(): i32 { return settings<State>().n; }
}
register<X>();`),
  ).toEqual([
    '6:34 the module has no configuration: declare its values: @configuration class Settings { currency: string = "EUR"; }',
  ]);
});
