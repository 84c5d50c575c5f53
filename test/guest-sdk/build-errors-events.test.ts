// The events that `apply` has to handle: which code handles a case, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { QUERY, UserProjects, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

/** Returns an entity with the events Opened and Closed; its `apply` begins on line 7. */
const door = (apply: string, tail = '', cases = CASES): string =>
  `import { EventSourcedEntity, register } from "@svc/guest-sdk";
@data class Door { open: bool = false; moved: i32 = 0; }
@data abstract class DoorEvent { times: i32 = 1; foldInto(door: Door): void { door.moved += 1; } }
${cases}
@entity("door") class DoorEntity extends EventSourcedEntity<Door, DoorEvent> {
  empty(id: string): Door { return new Door(); }
${apply}
${QUERY.replaceAll('State', 'Door')}
}
${tail}
register<DoorEntity>();`;
const CASES =
  '@variant("opened") class Opened extends DoorEvent {} @variant("closed") class Closed extends DoorEvent {}';

describe('refused:', () => {
  test.each([
    [
      'a case that is not named',
      'apply(door: Door, event: DoorEvent): Door { if (event instanceof Opened) door.open = true; return door; }',
      ['Closed'],
    ],
    [
      'an else, which the next new case would fall into',
      'apply(door: Door, event: DoorEvent): Door { if (event instanceof Opened) door.open = true; else door.open = false; return door; }',
      ['Closed'],
    ],
    [
      'an event that is not looked at',
      'apply(door: Door, event: DoorEvent): Door { door.moved += 1; return door; }',
      ['Opened', 'Closed'],
    ],
    [
      'a case that is made, and not looked for',
      'apply(door: Door, event: DoorEvent): Door { const other = new Closed(); if (event instanceof Opened) door.open = true; return door; }',
      ['Closed'],
    ],
    [
      'a case that no function names which gets the event',
      'apply(door: Door, event: DoorEvent): Door { return fold(this.fold(door, event), event); }\nfold(d: Door, e: DoorEvent): Door { if (e instanceof Opened) {} return d; }',
      ['Closed'],
      'function fold(d: Door, happened: DoorEvent): Door { if (isOpened(happened)) d.open = true; return d; } function isOpened(e: DoorEvent): bool { return (e instanceof Opened); }',
    ],
  ])('%s', async (_name, apply, missing, tail = '') => {
    const problems = await projects.problemsOf(door(apply, tail));
    expect(problems).toHaveLength(1);
    const names = missing.map((name) => `'${name}'`).join(', ');
    expect(problems[0]).toMatchObject({
      line: 7,
      column: 1,
      message: `'apply' of entity 'DoorEntity' does not handle ${names}`,
    });
    for (const name of missing)
      expect(problemLine(problems[0])).toContain(`\nif (event instanceof ${name}) {}`);
  });

  test('the only case, when apply only returns the state', async () => {
    const only = '@variant("opened") class Opened extends DoorEvent {}';
    const source = door('apply(d: Door, e: DoorEvent): Door { return d; }', '', only);
    expect(await projects.firstLine(source)).toMatch(/does not handle 'Opened'/);
  });
});

describe('accepted:', () => {
  test.each([
    [
      'a case that changes nothing and is named',
      'apply(d: Door, e: DoorEvent): Door { if (e instanceof Opened) d.open = true; else if (e instanceof Closed) {} return d; }',
    ],
    [
      'casts of both kinds',
      'apply(d: Door, e: DoorEvent): Door { if (d.open) d.moved += (e as Closed).times; else d.moved += changetype<Opened>((e)).times; return d; }',
    ],
    ['a method of the event', 'apply(d: Door, e: DoorEvent): Door { e.foldInto(d); return d; }'],
    [
      'a field of the event',
      'apply(d: Door, e: DoorEvent): Door { d.moved += e.times; return d; }',
    ],
    [
      'a variable that holds the event',
      'apply(d: Door, e: DoorEvent): Door { const it = e; if (it instanceof Opened) d.open = true; return d; }',
    ],
    [
      'methods and functions that name one case each',
      'apply(d: Door, e: DoorEvent): Door { if (e instanceof Opened) d.open = true; return DoorEntity.shut(d, e); }\nstatic shut(d: Door, e: DoorEvent): Door { return shut(e, d); }',
      'function shut(e: DoorEvent, d: Door): Door { if (e instanceof Closed) d.open = false; return d; }',
    ],
    [
      'a generic function',
      'apply(d: Door, e: DoorEvent): Door { if (is<Opened>(e)) d.open = true; return d; }',
      'function is<T>(e: DoorEvent): bool { return e instanceof T; }',
    ],
    [
      'a case under another name',
      'apply(d: Door, e: DoorEvent): Door { if (e instanceof Opened) d.open = true; if (e instanceof Shut) d.open = false; return d; }',
      'type Shut = Closed;',
    ],
  ])('%s', async (_name, apply, tail = '') => {
    const entryFile = await projects.write({ 'index.ts': door(apply, tail) });
    expect(
      (await buildComponent({ entryFile, optimizeLevel: 0 })).descriptor.entities,
    ).toHaveLength(1);
  });

  test('the only case, without a test of which case it is', async () => {
    const only = '@variant("opened") class Opened extends DoorEvent {}';
    const source = door(
      'apply(d: Door, e: DoorEvent): Door { d.open = true; return d; }',
      '',
      only,
    );
    const entryFile = await projects.write({ 'index.ts': source });
    expect(
      (await buildComponent({ entryFile, optimizeLevel: 0 })).descriptor.entities,
    ).toHaveLength(1);
  });

  test('a function of another file, with the cases imported under other names', async () => {
    const events = `@data export class Door { open: bool = false; moved: i32 = 0; }
@data export abstract class DoorEvent {}
@variant("opened") export class Opened extends DoorEvent {}
@variant("closed") export class Closed extends DoorEvent {}`;
    const build = (fold: string): Promise<unknown> =>
      projects
        .write({
          'events.ts': events,
          'fold.ts': `import { Closed as Shut, Door, DoorEvent } from "./events";
export function fold(d: Door, e: DoorEvent): void { ${fold} }`,
          'index.ts': `import { EventSourcedEntity, register } from "@svc/guest-sdk";
import * as events from "./events";
import { fold } from "./fold";
@entity("door") class DoorEntity extends EventSourcedEntity<events.Door, events.DoorEvent> {
  empty(id: string): events.Door { return new events.Door(); }
  apply(d: events.Door, e: events.DoorEvent): events.Door { if (e instanceof events.Opened) d.open = true; fold(d, e); return d; }
  ${QUERY.replaceAll('State', 'events.Door')}
}
register<DoorEntity>();`,
        })
        .then((entryFile) => buildComponent({ entryFile, optimizeLevel: 0 }));
    await build('if (e instanceof Shut) d.open = false;');
    await expect(build('d.open = false;')).rejects.toThrow(/does not handle 'Closed'/);
  });
});
