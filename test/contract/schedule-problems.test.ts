// Schedules of a descriptor, and the problems that a schema cannot find about them.
import { describe, expect, test } from 'vitest';
import { type Descriptor, problemsOf, times } from './support/following-descriptor.ts';

const due = (value: object) => (d: Descriptor) => (d.schedules[0]!.due = value);
const cron = (expression: string, zone = '') => due({ kind: 'cron', expression, zone });
const sent = (command: string, input: string | undefined) => (d: Descriptor) => {
  Object.assign(d.schedules[1]!, { command, input });
};

describe('a descriptor is refused', () => {
  const lies: [string, (descriptor: Descriptor) => void, string][] = [
    [
      'with 101 schedules',
      (d) => (d.schedules = times(101, (index) => ({ ...d.schedules[0]!, id: `s${index}` }))),
      '/schedules: must have 1 to 100 items',
    ],
    [
      'with two schedules of one id',
      (d) => (d.schedules[1]!.id = 'nightly'),
      "schedule 'nightly' is declared twice",
    ],
    [
      'with a schedule of no entity',
      (d) => (d.schedules[0]!.target.component = 'nothing'),
      "schedule 'nightly': there is no entity 'nothing'",
    ],
    [
      'with a schedule of an unknown command',
      sent('nothing', undefined),
      "schedule 'often': there is no command 'nothing' of entity 'order'",
    ],
    [
      'with a schedule of a query',
      sent('get', undefined),
      "schedule 'often': 'get' of entity 'order' is a query, and a schedule sends a command",
    ],
    [
      'with a target without an id',
      (d) => (d.schedules[0]!.target.id = ''),
      '/schedules/0/target/id: must match',
    ],
    [
      'with a control character in the id of a target',
      (d) => (d.schedules[0]!.target.id = 'a\u0000'),
      '/schedules/0/target/id: must match',
    ],
    ['with a schedule without a time', due({}), '/schedules/0/due'],
    [
      'with seconds in an expression',
      cron('* * * * * *'),
      "schedule 'nightly': the expression '* * * * * *' has 6 fields",
    ],
    ['with an expression that never fires', cron('0 0 30 2 *'), "the expression '0 0 30 2 *' "],
    ['with an expression of 50 kB', cron('*'.repeat(50_000)), '/schedules/0/due/expression'],
    [
      'with an unknown zone',
      cron('@daily', 'Mars/Base'),
      "the time zone 'Mars/Base' is not the name",
    ],
    [
      'with a period of 999 ms',
      due({ kind: 'every', everyMs: 999 }),
      'everyMs: must be at least 1000',
    ],
    [
      'with a period of centuries',
      due({ kind: 'every', everyMs: 2 ** 53 - 1 }),
      'everyMs: must be at most',
    ],
    [
      'with a broken period',
      due({ kind: 'every', everyMs: 1000.5 }),
      'everyMs: must be an integer',
    ],
    ['with an input that is not JSON', sent('add', '{'), "schedule 'often': its input is not JSON"],
    [
      'with an input of more than 64 KiB of UTF-8',
      sent('add', `{"sku":"${'é'.repeat(33_000)}","count":1}`),
      'its input has 66020 bytes',
    ],
    [
      'with no input for a command that takes one',
      sent('add', undefined),
      "its input does not fit the command 'add' of entity 'order': it is not a record",
    ],
    ['with an input for a command that takes none', sent('expire', '{}'), 'it is not null'],
    ['with an input without a field', sent('add', '{"count":1}'), "it has no 'sku'"],
    [
      'with an input out of range',
      sent('add', '{"sku":"a","count":10}'),
      '/count is not an integer from 1 to 9',
    ],
    ['with a case that is not there', sent('note', '{"type":"toString"}'), '/type names no case'],
    ['with a case without its tag', sent('note', '{}'), '/type names no case'],
    ['with a case without a field', sent('note', '{"type":"plain"}'), "it has no 'text'"],
    [
      'with an error deep in an input',
      sent('note', '{"type":"tree","labels":{},"children":[{"type":"plain","text":1}]}'),
      '/children/0/text is not a text',
    ],
    [
      'with an error in a map',
      sent('note', '{"type":"tree","labels":{"a":null,"b":1},"children":[]}'),
      '/labels/b is not a text',
    ],
    [
      'with an input that nests without end',
      sent('note', `${'{"type":"tree","labels":{},"children":['.repeat(60)}${']}'.repeat(60)}`),
      'it nests deeper than 64 levels',
    ],
  ];
  test.each(lies)('%s', (_name, change, problem) => {
    expect(problemsOf(change).join('\n')).toContain(problem);
  });
});

test('the JSON of an input may be any that its command reads', () => {
  const inputs = [
    '{"sku":"a","count":1}',
    '{"article":"a","count":9,"more":{}}',
    ' { "count" : 1 , "sku" : "" } ',
  ];
  for (const input of inputs) expect(problemsOf(sent('add', input))).toEqual([]);
  for (const input of ['null', undefined]) expect(problemsOf(sent('expire', input))).toEqual([]);
});
